"""Searches the index of a running crawl, in a separate thread.

Rule: a search costs the crawl nothing but one core for a few seconds.  It has its own
connection, and is interrupted if it takes too long.
"""

import asyncio
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from crawler_app.base.errors import SearchError, SearchIndexError
from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.index import PageIndex, SearchResult
from gencoro import gen

__all__ = ["HITS_AT_ONCE", "Searcher"]

# The hits on one screen; the page asks for more.
HITS_AT_ONCE = 10

# In half a million pages, every query takes less.
LIMIT_S = 5.0

# Virtual machine instructions of SQLite between two calls of the progress handler.  Each
# call needs the GIL, and may wait some milliseconds for it while the crawl is busy.
STEPS_BETWEEN_CALLS = 20_000


class _InterruptibleIndex(PageIndex):
    """An index whose searches can be interrupted.

    Attributes:
        goes_on: Called during a search, in its thread; False interrupts it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, read_only=True, any_thread=True)
        self.goes_on: Callable[[], bool] = lambda: True
        self._db.set_progress_handler(lambda: not self.goes_on(), STEPS_BETWEEN_CALLS)


class Searcher:
    """Searches while the crawl adds pages; one search at a time, in order of arrival.

    Args:
        paths: The files of the index; opened by the first search.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._thread = ThreadPoolExecutor(1, "dashboard-search")
        self._indexes: list[_InterruptibleIndex] = []
        self._is_closed = False

    @gen.coroutine
    def find(
        self, query: str, offset: int, is_wanted: Callable[[], bool]
    ) -> Generator[Any, Any, SearchResult]:
        """Return the best pages.

        Args:
            offset: How many of the best pages to skip.
            is_wanted: Called before and during the search, in another thread; returns
                whether the result is still wanted.

        Raises:
            ConfigError: there is no index.
            SearchError: the query is invalid, takes too long, or is no longer wanted.
            SearchIndexError: the index cannot be read.
        """
        search = self._thread.submit(self._search, query, offset, is_wanted)
        found: SearchResult = yield asyncio.wrap_future(search)
        return found

    def _search(
        self, query: str, offset: int, is_wanted: Callable[[], bool]
    ) -> SearchResult:
        if self._is_closed or not is_wanted():
            raise SearchError("the search was canceled")
        for path in self._paths[len(self._indexes) :]:
            self._indexes.append(_InterruptibleIndex(path))
        ends_at = time.monotonic() + LIMIT_S

        def goes_on() -> bool:
            return is_wanted() and not self._is_closed and time.monotonic() < ends_at

        for index in self._indexes:
            index.goes_on = goes_on
        try:
            return UnionIndex(self._indexes).search(query, HITS_AT_ONCE, offset)
        except SearchIndexError:
            if goes_on():
                raise
            raise SearchError(
                f"the search took longer than {LIMIT_S:.0f} seconds; use rarer words"
            ) from None

    def close(self) -> None:
        """Interrupt the running search and close the index; may be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        # Only the thread that opened the connection may close it.
        self._thread.submit(UnionIndex(self._indexes).close)
        self._thread.shutdown()
