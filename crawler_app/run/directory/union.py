"""Reads the parts of a crawl by several processes as one crawl."""

import contextlib
import heapq
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from crawler_app.base.models import State, UrlRecord
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.frontier.count_types import (
    RANKED,
    Amount,
    HostCounts,
    OutcomeKey,
)
from crawler_app.store.frontier.part import PartFrontier
from crawler_app.store.frontier.previous_crawl import Differences
from crawler_app.store.index import PageIndex, SearchResult
from crawler_app.store.index.searching import Rank, Searching

__all__ = ["UnionFrontier", "UnionIndex"]

# For searching, which is the work of SQLite, without the GIL.
MAX_THREADS = os.cpu_count() or 1


class UnionFrontier(FrontierReader):
    """The frontiers of all parts.

    Links that are still on their way from one part to another count as queued URLs; some
    may turn out to be known.
    """

    def __init__(self, parts: Sequence[PartFrontier]) -> None:
        self._parts = parts

    def count(self, state: State) -> int:
        found = sum(part.count(state) for part in self._parts)
        if state is State.QUEUED:
            found += sum(part.outgoing_urls() for part in self._parts)
        return found

    def count_non_pages(self, state: State) -> int:
        found = sum(part.count_non_pages(state) for part in self._parts)
        if state is State.QUEUED:
            found += sum(part.outgoing_non_pages() for part in self._parts)
        return found

    def is_drained(self) -> bool:
        return all(part.is_drained() for part in self._parts)

    def outcome_counts(self) -> dict[OutcomeKey, Amount]:
        total: dict[OutcomeKey, Amount] = {}
        for part in self._parts:
            for kind, amount in part.outcome_counts().items():
                total.setdefault(kind, Amount()).add(amount)
        return total

    def hosts(self) -> list[HostCounts]:
        return [host for part in self._parts for host in part.hosts()]

    def slowest(self) -> list[UrlRecord]:
        found = [record for part in self._parts for record in part.slowest()]
        return sorted(found, key=_took_s, reverse=True)[:RANKED]

    def redirects(self) -> dict[str, str]:
        target_by_url: dict[str, str] = {}
        for part in self._parts:
            target_by_url |= part.redirects()
        return target_by_url

    def soft_404s(self) -> list[str]:
        return [url for part in self._parts for url in part.soft_404s()]

    def find(self, key: str) -> UrlRecord | None:
        found = (part.find(key) for part in self._parts)
        return next((record for record in found if record is not None), None)

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        """Return the records of one part after the other."""
        return itertools.chain.from_iterable(
            part.records(state) for part in self._parts
        )

    @property
    def is_recrawl(self) -> bool:
        return any(part.is_recrawl for part in self._parts)

    def differences(self) -> Differences | None:
        found = [part.differences() for part in self._parts]
        known = [differences for differences in found if differences is not None]
        if not known:
            return None
        return Differences(
            new=[url for each in known for url in each.new],
            changed=[url for each in known for url in each.changed],
            unchanged=sum(each.unchanged for each in known),
            vanished=[page for each in known for page in each.vanished],
            unreachable=[url for each in known for url in each.unreachable],
            was_whole=all(each.was_whole for each in known),
        )

    def unmet(self) -> list[str]:
        return [url for part in self._parts for url in part.unmet()]

    def broken_before(self) -> list[str]:
        return [url for part in self._parts for url in part.broken_before()]

    def gone(self, *, is_whole: bool) -> list[str]:
        return [url for part in self._parts for url in part.gone(is_whole=is_whole)]

    def close(self) -> None:
        with contextlib.ExitStack() as cleanup:
            for part in self._parts:
                cleanup.callback(part.close)


def _took_s(record: UrlRecord) -> float:
    return (record.outcome and record.outcome.took_s) or 0.0


class UnionIndex:
    """The indexes of all parts, or of a crawl without parts; only for searching.

    A score depends on how frequent the words are in a part, so with parts the order of the
    hits may differ a little from that of a single index.

    Args:
        parts: The indexes, for any thread; they are closed with this one.  None if no worker
            has taken part yet.
    """

    def __init__(self, parts: Sequence[PageIndex]) -> None:
        self._parts = parts

    def search(self, query: str, limit: int = 10, offset: int = 0) -> SearchResult:
        """Return the best pages of all parts; see `PageIndex.search`.

        The parts are searched at the same time, and only the texts of the best pages of all
        are read, which is most of the work of a part.
        """
        if not self._parts:
            return SearchResult(query, 0, offset, [])
        if len(self._parts) == 1:
            return self._parts[0].search(query, limit, offset)
        with (
            contextlib.ExitStack() as begun,
            ThreadPoolExecutor(min(len(self._parts), MAX_THREADS)) as threads,
        ):
            parts = [begun.enter_context(part.searched(query)) for part in self._parts]
            totals = list(threads.map(Searching.total, parts))
            if not any(totals):
                hints = (hint for part in parts if (hint := part.hint()))
                return SearchResult(query, 0, offset, [], next(hints, ""))
            found = threads.map(lambda part: part.best(limit + offset), parts)
            ranked, doubles = _merged(parts, found)
            best = ranked[offset : offset + limit]
            hits = [part.hit(rank) for rank, part in best]
        return SearchResult(query, sum(totals) - doubles, offset, hits)

    def close(self) -> None:
        """Close all indexes."""
        with contextlib.ExitStack() as cleanup:
            for part in self._parts:
                cleanup.callback(part.close)


def _merged(
    parts: Sequence[Searching], found: Iterable[list[Rank]]
) -> tuple[list[tuple[Rank, Searching]], int]:
    """Return the pages in order, and how many were left out because they are there twice."""
    ranks = heapq.merge(*([(r, n) for r in ranks] for n, ranks in enumerate(found)))
    # A page may be in two parts: a worker was killed, and another has fetched it again.
    place_by_url: dict[str, tuple[Rank, Searching]] = {}
    doubles = 0
    for rank, number in ranks:
        part = parts[number]
        url = part.url(rank)
        doubles += url in place_by_url
        place_by_url.setdefault(url, (rank, part))
    return list(place_by_url.values()), doubles
