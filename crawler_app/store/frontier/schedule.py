"""Per-host scheduling in memory; long queues stay in the SQLite file.

Hosts take turns: the one that has been free longest, then the one found first.  The URLs of
a host are in the order of their turns, then in the order in which they were found.

A host has its turn if a URL of it may be given out and there is room for one more claim.
Hosts that are on hold are in one heap, by the time at which it ends, and the others in a heap
for each turn that their first URL has, so that no claim looks at hosts whose URLs are too deep.
An entry that has become wrong stays in its heap, and is replaced when it is met.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from crawler_app.store.frontier import LONGEST_HOLD_S, MAX_SETBACK_S

__all__ = ["Host", "Queued", "Schedule"]

# Limits for the URLs held in memory: about, for all hosts together, and exactly, for one host.
MAX_HELD = 50_000
MAX_HELD_PER_HOST = 200

# The turn (see `crawler_app.store.frontier.turn_of`), id and URL, the redirects left, the tries, the
# role and the depth.
Queued = tuple[int, int, str, int, int, int, int]

# In front of every queued URL.
START = (-1, -1)

# Of hosts on hold, which have no turn yet; no URL has this one.
ON_HOLD = math.inf

# Of hosts whose URLs are still in the file: they may have any turn from here on.
UNKNOWN = -1


@dataclass(slots=True)
class Host:
    """A host, and the first of its URLs that may be claimed.

    Attributes:
        free_at: When it may be asked again, in seconds since the epoch.
        entry: Its ``free_at`` and its turn when it got into the heap of that turn; None if it
            is in none.
        claimed: The number of its URLs that are claimed.
        queued: A heap of its URLs.
        held_to: Up to this turn and id, every URL is in the heap; None if all are.
    """

    id: int
    name: str
    free_at: float
    held_to: tuple[int, int] | None = None
    entry: tuple[float, float] | None = None
    claimed: int = 0
    queued: list[Queued] = field(default_factory=list)


class Schedule:
    """The order in which URLs are claimed.

    Args:
        load: Returns queued URLs of a host in their order: those behind a turn and an id,
            up to a number.
        is_claimed: Returns whether a URL is claimed, by its id; the file does not know.
        seen_at: A time that has come, in seconds since the epoch.
        held_to: When the last of the holds and retries of an earlier run ends.

    >>> schedule = Schedule(lambda host, start, limit: [])
    >>> host = schedule.meet(7, "a.test", free_at=50.0)
    >>> schedule.put(host, (0, 1, "http://a.test/", 0, 0, 0, 0))
    >>> schedule.take(now=49.0), schedule.next_at(now=49.0)
    (None, 50.0)
    >>> schedule.take(now=50.0)[1][2]
    'http://a.test/'
    """

    def __init__(
        self,
        load: Callable[[int, tuple[int, int], int], list[Queued]],
        is_claimed: Callable[[int], bool] = lambda url_id: False,
        seen_at: float = -math.inf,
        held_to: float = -math.inf,
    ) -> None:
        self._load = load
        self._is_claimed = is_claimed
        self._host_by_id: dict[int, Host] = {}
        self._host_by_name: dict[str, Host] = {}
        # When hosts are free, and their ids, by turn.
        self._heap_by_turn: dict[float, list[tuple[float, int]]] = {ON_HOLD: []}
        # Whether URLs are claimed by depth; otherwise only those at any depth have a turn before
        # the others, and there are two heaps.
        self._has_levels = False
        self._now = seen_at
        self._held_to = held_to
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
        self._offer(host)
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

        Returns whether it was.
        """
        if host.free_at != held_to or free_at >= held_to:
            return False
        host.free_at = free_at
        self._offer(host)
        return True

    def note_time(self, now: float) -> float:
        """Note the time; if the clock was set back, shorten all holds by as much.

        Returns by how much; 0.0 if it was not.
        """
        latest = self._now
        if self._held_to > now + LONGEST_HOLD_S:
            latest = max(latest, self._held_to)
        step_s = latest - now
        if step_s <= MAX_SETBACK_S:
            return 0.0
        self._now, self._held_to = now, -math.inf
        for host in self._host_by_id.values():
            host.free_at -= step_s
        self._offer_all()
        return step_s

    def put(self, host: Host, queued: Queued) -> None:
        """Note a URL that may be given out as soon as its host may be asked."""
        if host.held_to is not None and queued[:2] > host.held_to:
            return
        heapq.heappush(host.queued, queued)
        if len(host.queued) > self._most_held:
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
        if max_depth is not None and max_depth > UNKNOWN and not self._has_levels:
            self._has_levels = True
            self._offer_all()
        self._end_holds(now)
        host = self._first_host(math.inf if max_depth is None else max_depth)
        if host is None or host.free_at > now:
            return None
        host.claimed += 1
        return host, heapq.heappop(host.queued)

    def end_claim(self, host: Host) -> None:
        """Note that a claim has ended."""
        host.claimed -= 1
        self._offer(host)

    def next_at(self, now: float) -> float | None:
        """Return the first time after now at which a host has its turn."""
        self._end_holds(now)
        on_hold = self._heap_by_turn[ON_HOLD]
        while on_hold and not self._is_right(on_hold[0], ON_HOLD):
            self._replace_first(ON_HOLD)
        # The latter if the clock was set back.
        firsts = (heap[0][0] for heap in self._heap_by_turn.values() if heap)
        return min((at for at in firsts if at > now), default=None)

    def _end_holds(self, now: float) -> None:
        """Give those hosts their turn that are free now."""
        self._now = max(self._now, now)
        on_hold = self._heap_by_turn[ON_HOLD]
        while on_hold and on_hold[0][0] <= now:
            self._replace_first(ON_HOLD)

    def _first_host(self, last_turn: float) -> Host | None:
        """Return the host that has been free longest, of those with a URL up to a turn."""
        while True:
            firsts = [
                (heap[0], turn)
                for turn, heap in self._heap_by_turn.items()
                if heap and turn <= last_turn and turn != ON_HOLD
            ]
            if not firsts:
                return None
            first, turn = min(firsts)
            if self._is_right(first, turn):
                return self._host_by_id[first[1]]
            self._replace_first(turn)

    def _offer_all(self) -> None:
        self._heap_by_turn = {ON_HOLD: []}
        for host in self._host_by_id.values():
            host.entry = None
            self._offer(host)

    def _offer(self, host: Host) -> None:
        """Enter a host into the heap of its turn, if it may have a URL to give out."""
        if not self._has_room(host) or (not host.queued and host.held_to is None):
            return
        turn = ON_HOLD if host.free_at > self._now else self._turn_of(host)
        if host.entry != (host.free_at, turn):
            host.entry = host.free_at, turn
            heap = self._heap_by_turn.setdefault(turn, [])
            heapq.heappush(heap, (host.free_at, host.id))

    def _turn_of(self, host: Host) -> float:
        turn = host.queued[0][0] if host.queued else UNKNOWN
        return turn if self._has_levels else min(turn, 0)

    def _replace_first(self, turn: float) -> None:
        """Drop the first entry of a heap; if it was the one of its host, enter that again."""
        heap = self._heap_by_turn[turn]
        at, host_id = heapq.heappop(heap)
        if not heap and turn != ON_HOLD:
            del self._heap_by_turn[turn]
        host = self._host_by_id[host_id]
        if host.entry == (at, turn):
            host.entry = None
            self._offer(host)

    def _is_right(self, entry: tuple[float, int], turn: float) -> bool:
        """Return whether a host has its turn as an entry says; load its URLs if need be."""
        host = self._host_by_id[entry[1]]
        return (
            host.entry == (entry[0], turn)
            and host.free_at == entry[0]
            and self._is_giving(host)
            and turn in (ON_HOLD, self._turn_of(host))
        )

    def _has_room(self, host: Host) -> bool:
        return self._per_host is None or host.claimed < self._per_host

    def _is_giving(self, host: Host) -> bool:
        """Return whether a host has a URL to give out, and room for a claim."""
        if not self._has_room(host):
            return False
        while not host.queued and host.held_to is not None:
            self._load_more(host, host.held_to)
        return bool(host.queued)

    def _load_more(self, host: Host, start: tuple[int, int]) -> None:
        found = self._load(host.id, start, self._most_held)
        is_all = len(found) < self._most_held
        host.queued = [each for each in found if not self._is_claimed(each[1])]
        host.held_to = None if is_all else found[-1][:2]
