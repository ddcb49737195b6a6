"""What a worker sends with its steps: the ends of claims, URLs that were found, news of hosts.

`ChangeBatch` has the format of ``frontier_step`` in ``functions.sql``.  A batch depends on the
archive and the index, and is sent after a flush; `HostChanges` depend on neither, and go with
the next step.  Pure.

Rule: `ChangeQueue.flushed`, which is what is sent, holds nothing that was not flushed.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from typing import Any

from crawler_app.base.models import Candidate, Claim, Outcome, Role
from crawler_app.base.urls import bare_path, dedup_key, has_query
from crawler_app.store.frontier import key_of, stored_url
from crawler_app.store.frontier.commit_group import MAX_AGE_S, MAX_ENDS
from crawler_app.store.frontier.count_types import OutcomeKey

__all__ = [
    "MAX_LINKS",
    "TELL_WITHIN_S",
    "ChangeBatch",
    "ChangeQueue",
    "HostChanges",
    "digest_of",
]

# How soon the server learns that a fetch has begun; until then, it leases nothing of the host.
# A shorter time would mean more steps, a longer one longer gaps.
TELL_WITHIN_S = 0.1

# Links in one batch, which take the server a third of a second; much longer if the index of
# URLs is not in memory.  A step that takes a minute is given up, and would be sent for ever.
MAX_LINKS = 10_000


@dataclass(slots=True)
class _HostChange:
    """The changes of a host, in the order of ``update_hosts``; None for no change."""

    free_at: float | None = None
    gap_s: float | None = None
    is_down: bool | None = None
    known_until: float | None = None
    held_to: float | None = None
    shortened_to: float | None = None


@dataclass(slots=True)
class HostChanges:
    """The changes since the last step.

    Attributes:
        due_at: When they are to be sent, even if nothing else is.

    >>> changes = HostChanges()
    >>> changes.hold("a.test", 102.0, now=100.0)
    >>> changes.due_at, changes.host_rows({"a.test": 7}.get)
    (100.1, [[7, 102.0, None, None, None, None, None]])
    """

    due_at: float = math.inf
    by_host: dict[str, _HostChange] = field(default_factory=dict)
    by_origin: dict[str, dict[str, Any]] = field(default_factory=dict)

    def hold(self, host: str, free_at: float, now: float) -> None:
        """Note until when a host is held."""
        note = self._of_host(host)
        note.free_at = max(free_at, -math.inf if note.free_at is None else note.free_at)
        # No later than it is free: that would make the gap longer.
        self.due_at = min(self.due_at, now + min(TELL_WITHIN_S, (free_at - now) / 2))

    def shorten(self, host: str, held_to: float, free_at: float) -> None:
        """Note that a hold ends earlier."""
        note = self._of_host(host)
        note.held_to, note.shortened_to = held_to, free_at
        if note.free_at is not None and note.free_at <= held_to:
            note.free_at = free_at

    def set_gap(self, host: str, gap_s: float) -> None:
        """Note the gap of a host."""
        self._of_host(host).gap_s = gap_s

    def set_down(self, host: str, is_down: bool) -> None:
        """Note whether a host is down."""
        self._of_host(host).is_down = is_down

    def know_until(self, host: str, until: float) -> None:
        """Note when the robots.txt of a host expires."""
        self._of_host(host).known_until = until

    def note_origin(self, origin: str, **facts: Any) -> None:
        """Note changes of an origin, by the names of its columns."""
        self.by_origin.setdefault(origin, {}).update(facts)

    def host_rows(self, index_of: Callable[[str], int | None]) -> list[list[Any]]:
        """Return the rows of hosts, each with its index in a list of names."""
        return [[index_of(host), *astuple(note)] for host, note in self.by_host.items()]

    def origin_rows(self, more: Mapping[str, dict[str, Any]]) -> list[list[Any]]:
        """Return the rows of origins, together with those of a batch."""
        return [
            [origin, more.get(origin, {}) | self.by_origin.get(origin, {})]
            for origin in more.keys() | self.by_origin.keys()
        ]

    def _of_host(self, host: str) -> _HostChange:
        return self.by_host.setdefault(host, _HostChange())


class ChangeBatch:
    """The changes since the last flush.

    Attributes:
        claims: The claims that have ended, by token.
        began_at: When the first change was noted; None if there is none.
        links: How many candidates it has.

    >>> batch = ChangeBatch()
    >>> batch.add([Candidate("http://a.test/", "a.test")])
    >>> batch.body(HostChanges())["links"][0][2][0][1:]
    ['http://a.test/', 0, 0, 0, None, <Role.LINK: 0>, False]
    """

    def __init__(self) -> None:
        self.claims: dict[int, Claim] = {}
        self.began_at: float | None = None
        self.links = 0
        self._ends: list[list[Any]] = []
        self._backs: list[list[Any]] = []
        self._again: list[list[int]] = []
        self._index_by_host: dict[str, int] = {}
        self._sources: list[list[Any]] = []
        self._queries: list[list[Any]] = []
        self._facts_by_origin: dict[str, dict[str, Any]] = {}
        self._known_until_by_host: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self.claims or self._sources or self._facts_by_origin)

    def finish(
        self,
        token: int,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate],
        again: int | None,
    ) -> None:
        """Note the outcome of a claim, and what was found."""
        self.claims[token] = claim
        self._ends.append(
            [
                token,
                outcome.state,
                outcome.reason,
                outcome.status,
                outcome.size_bytes,
                outcome.took_s,
                now,
                OutcomeKey.of(claim.depth, outcome).is_html,
                outcome.content_type,
                outcome.title,
                outcome.error,
                outcome.redirect_to,
                outcome.canonical,
                outcome.digest,
                outcome.note,
            ]
        )
        if again is not None:
            self._again.append([token, again, claim.redirects_left - 1])
        self._add(outlinks, claim.id, token, outcome.redirect_to)

    def put_back(
        self,
        token: int,
        claim: Claim,
        due_at: float | None = None,
        url: str | None = None,
    ) -> None:
        """Note that a claim goes back to the queue: at once or later, as it was or not."""
        self.claims[token] = claim
        self._backs.append([token, due_at, url])

    def add(
        self,
        candidates: Iterable[Candidate],
        via: Claim | None = None,
        redirect_to: str = "",
    ) -> None:
        """Note candidates, and which of them is the target of a redirect."""
        self._add(candidates, None if via is None else via.id, None, redirect_to)

    def note_response(self, origin: str, url: str) -> None:
        """Note a URL that got a response."""
        self._facts_of(origin)["known_url"] = url

    def note_robots(
        self, origin: str, host: str, robots: dict[str, Any], until: float
    ) -> None:
        """Note what was found in robots.txt, once its sitemaps were added."""
        self._facts_of(origin)["robots"] = robots
        self._known_until_by_host[host] = until

    def body(self, changes: HostChanges) -> dict[str, Any]:
        """Return the body of a step, with changes of hosts."""
        for host, until in self._known_until_by_host.items():
            changes.know_until(host, until)
        host_rows = changes.host_rows(self._index_of)
        return {
            "ends": self._ends,
            "backs": self._backs,
            "again": self._again,
            "links": self._sources,
            "queries": self._queries,
            "notes": host_rows,
            "origins": changes.origin_rows(self._facts_by_origin),
            "hosts": list(self._index_by_host),
        }

    def _facts_of(self, origin: str) -> dict[str, Any]:
        return self._facts_by_origin.setdefault(origin, {})

    def _add(
        self,
        candidates: Iterable[Candidate],
        via: int | None,
        token: int | None,
        redirect_to: str,
    ) -> None:
        target = dedup_key(redirect_to) if redirect_to else None
        links = []
        for candidate in candidates:
            key = key_of(candidate)
            digest, host = digest_of(key), self._index_of(candidate.host)
            is_seed = via is None and candidate.role is Role.LINK
            if has_query(candidate.url) and not is_seed and _counts(candidate):
                path = digest_of(bare_path(candidate.url))
                self._queries.append([token, path, digest, host])
            links.append(
                [
                    digest,
                    stored_url(candidate),
                    host,
                    candidate.depth,
                    candidate.redirects_left,
                    candidate.refusal or None,
                    candidate.role,
                    key == target,
                ]
            )
        if links:
            self._sources.append([via, token, links])
            self.links += len(links)

    def _index_of(self, host: str) -> int:
        return self._index_by_host.setdefault(host, len(self._index_by_host))


class ChangeQueue:
    """The batches of one worker: the current one, and those that are complete.

    Attributes:
        flushed: The batches to be sent, the oldest first.

    >>> queue = ChangeQueue()
    >>> queue.changing(now=0.0).note_response("http://a.test", "http://a.test/")
    >>> queue.is_due(0.1), queue.is_due(0.5)
    (False, True)
    >>> queue.flush()
    >>> len(queue.flushed), queue.has_changes()
    (1, False)
    """

    def __init__(self) -> None:
        self.flushed: deque[ChangeBatch] = deque()
        self._full: list[ChangeBatch] = []
        self._batch = ChangeBatch()

    def changing(self, now: float) -> ChangeBatch:
        """Return the batch that changes, which has room for more."""
        if self._batch.links >= MAX_LINKS:
            self._full.append(self._batch)
            self._batch = ChangeBatch()
        if self._batch.began_at is None:
            self._batch.began_at = now
        return self._batch

    def is_due(self, now: float) -> bool:
        """Return whether it is time for a flush."""
        began_at = self._batch.began_at
        if self._full or began_at is None:
            return bool(self._full)
        return len(self._batch.claims) >= MAX_ENDS or now >= began_at + MAX_AGE_S

    def has_changes(self) -> bool:
        """Return whether there is anything to flush."""
        return bool(self._full or self._batch)

    def flush(self) -> None:
        """Release everything for sending."""
        self.flushed += self._full
        self._full.clear()
        if self._batch:
            self.flushed.append(self._batch)
            self._batch = ChangeBatch()

    def pending(self) -> list[ChangeBatch]:
        """Return the batches that the server does not know."""
        return [*self.flushed, *self._full, self._batch]


def digest_of(key: str) -> str:
    """Return the digest by which a URL is known, in hexadecimal."""
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _counts(candidate: Candidate) -> bool:
    """Return whether a URL counts towards the limit of queries of its path."""
    return not candidate.refusal and candidate.role is not Role.EXTERNAL
