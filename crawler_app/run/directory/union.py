"""Searches the indexes of several processes as one."""

import contextlib
import heapq
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from crawler_app.store.index import PageIndex, SearchResult
from crawler_app.store.index.searching import Rank, Searching

__all__ = ["UnionIndex"]

# For searching, which is the work of SQLite, without the GIL.
MAX_THREADS = os.cpu_count() or 1


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
