"""Per-host scheduling in memory; long queues stay in the SQLite file.

Hosts take turns: the one that has been free longest, then the one found first.  The URLs of
a host are in the order of their turns, then in the order in which they were found.

A host has its turn if a URL of it may be given out and there is room for one more claim.
Turns that have become wrong stay in their heap, and are dropped when they are met.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Host", "Queued", "Schedule"]

# Limits for the URLs held in memory: about, for all hosts together, and exactly, for one host.
MAX_HELD = 50_000
MAX_HELD_PER_HOST = 200

# The turn (see `crawler_app.store.frontier.turn_of`), id and URL, the redirects left, the tries, the
# role and the depth.
Queued = tuple[int, int, str, int, int, int, int]

# In front of every queued URL.
START = (-1, -1)


@dataclass(slots=True)
class Host:
    """A host, and the first of its URLs that may be claimed.

    Attributes:
        free_at: When it may be asked again, in seconds since the epoch.
        turn_at: Its ``free_at`` when it got its turn; None if it has none.
        claimed: The number of its URLs that are claimed.
        queued: A heap of its URLs.
        held_to: Up to this turn and id, every URL is in the heap; None if all are.
    """

    id: int
    name: str
    free_at: float
    held_to: tuple[int, int] | None = None
    turn_at: float | None = None
    claimed: int = 0
    queued: list[Queued] = field(default_factory=list)


class Schedule:
    """The order in which URLs are claimed.

    Args:
        load: Returns queued URLs of a host in their order: those behind a turn and an id,
            up to a number; None if there is no file, so that all are held in memory.
        is_claimed: Returns whether a URL is claimed, by its id; the file does not know.

    >>> schedule = Schedule()
    >>> host = schedule.meet(7, "a.test", free_at=50.0)
    >>> schedule.put(host, (0, 1, "http://a.test/", 0, 0, 0, 0))
    >>> schedule.take(now=49.0), schedule.next_at(now=49.0)
    (None, 50.0)
    >>> schedule.take(now=50.0)[1][2]
    'http://a.test/'
    """

    def __init__(
        self,
        load: Callable[[int, tuple[int, int], int], list[Queued]] | None = None,
        is_claimed: Callable[[int], bool] = lambda url_id: False,
    ) -> None:
        self._load = load
        self._is_claimed = is_claimed
        self._host_by_id: dict[int, Host] = {}
        self._host_by_name: dict[str, Host] = {}
        self._turns: list[tuple[float, int]] = []
        self._per_host: int | None = None
        self._most_held = MAX_HELD_PER_HOST

    def find(self, name: str) -> Host | None:
        """Return a host that was met."""
        return self._host_by_name.get(name)

    def meet(
        self, host_id: int, name: str, free_at: float = 0.0, *, is_queued: bool = False
    ) -> Host:
        """Note a host.

        Args:
            is_queued: Whether URLs of it may be queued in the file.
        """
        host = Host(host_id, name, free_at, START if is_queued else None)
        self._host_by_id[host_id] = self._host_by_name[name] = host
        self._most_held = min(
            MAX_HELD_PER_HOST, max(2, MAX_HELD // len(self._host_by_id))
        )
        if is_queued:
            self._add_turn(host)
        return host

    def limit_hosts(self, per_host: int | None) -> None:
        """Limit the number of claims per host."""
        self._per_host = per_host
        for host in self._host_by_id.values():
            self._offer(host)

    def hold(self, host: Host, free_at: float) -> None:
        """Give out no URL of a host before a time."""
        if free_at > host.free_at:
            host.free_at = free_at
            self._offer(host)

    def shorten_hold(self, host: Host, held_to: float, free_at: float) -> bool:
        """Give out URLs of a host earlier, if it is held just until a time.

        Returns whether it was.  Its turn at that time is wrong from now on; it comes after
        the right one, and is dropped when it is met.
        """
        if host.free_at != held_to or free_at >= held_to:
            return False
        host.free_at = free_at
        self._offer(host)
        return True

    def put(self, host: Host, queued: Queued) -> None:
        """Note a URL that may be given out as soon as its host may be asked."""
        if host.held_to is not None and queued[:2] > host.held_to:
            return
        heapq.heappush(host.queued, queued)
        if self._load is not None and len(host.queued) > self._most_held:
            host.queued = sorted(host.queued)[: self._most_held // 2]
            host.held_to = host.queued[-1][:2]
        self._offer(host)

    def take(
        self, now: float, max_depth: int | None = None
    ) -> tuple[Host, Queued] | None:
        """Return the next URL, which is claimed from now on; None if there is none.

        Args:
            max_depth: Deeper URLs are not taken.
        """
        self._drop_wrong_turns()
        turns = self._turns
        if not turns or turns[0][0] > now:
            return None
        host = self._host_by_id[turns[0][1]]
        if max_depth is not None and host.queued[0][0] > max_depth:
            found = self._host_up_to(max_depth, now)
            if found is None:
                return None
            host = found
        host.claimed += 1
        return host, heapq.heappop(host.queued)

    def end_claim(self, host: Host) -> None:
        """Note that a claim has ended."""
        host.claimed -= 1
        self._offer(host)

    def next_at(self, now: float) -> float | None:
        """Return the first time after now at which a host has its turn."""
        self._drop_wrong_turns()
        turns = self._turns
        if turns and turns[0][0] <= now:  # too deep, or not taken
            later = (
                turn[0] for turn in turns if turn[0] > now and self._is_right(turn)
            )
            return min(later, default=None)
        return turns[0][0] if turns else None

    def _host_up_to(self, max_depth: int, now: float) -> Host | None:
        """Return the next host with a URL that is not too deep."""
        for turn in sorted(turn for turn in self._turns if turn[0] <= now):
            host = self._host_by_id[turn[1]]
            if self._is_right(turn) and host.queued[0][0] <= max_depth:
                return host
        return None

    def _offer(self, host: Host) -> None:
        if host.turn_at != host.free_at and self._is_giving(host):
            self._add_turn(host)

    def _add_turn(self, host: Host) -> None:
        host.turn_at = host.free_at
        heapq.heappush(self._turns, (host.free_at, host.id))

    def _drop_wrong_turns(self) -> None:
        """Drop turns up to the first right one."""
        turns = self._turns
        while turns and not self._is_right(turns[0]):
            at, host_id = heapq.heappop(turns)
            host = self._host_by_id[host_id]
            if host.turn_at == at:
                host.turn_at = None

    def _is_right(self, turn: tuple[float, int]) -> bool:
        host = self._host_by_id[turn[1]]
        return host.free_at == turn[0] == host.turn_at and self._is_giving(host)

    def _is_giving(self, host: Host) -> bool:
        """Return whether a host has a URL to give out, and room for a claim."""
        if self._per_host is not None and host.claimed >= self._per_host:
            return False
        while not host.queued and host.held_to is not None:
            self._load_more(host, host.held_to)
        return bool(host.queued)

    def _load_more(self, host: Host, start: tuple[int, int]) -> None:
        assert self._load is not None
        found = self._load(host.id, start, self._most_held)
        is_all = len(found) < self._most_held
        host.queued = [each for each in found if not self._is_claimed(each[1])]
        host.held_to = None if is_all else found[-1][:2]
