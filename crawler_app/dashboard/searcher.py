"""Searches the index of a crawl that runs, in a thread of its own.

Rule: a search takes nothing from the crawl but a core, and that for a few seconds.  It
has its own connection, and what takes too long is broken off.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from crawler_app.errors import SearchError, SearchIndexError
from crawler_app.index import PageIndex, SearchResult
from gencoro import gen

__all__ = ["HITS_AT_ONCE", "Searcher"]

HITS_AT_ONCE = 10

# Half a million pages take less, whatever the words are.
LIMIT_S = 5.0

# How often SQLite asks whether to go on, in steps of its machine.  Each question waits
# for the interpreter, which the crawl has: for some milliseconds while that is busy.
STEPS_BETWEEN_QUESTIONS = 20_000


class _BoundedIndex(PageIndex):
    """An index whose searches can be broken off.

    Attributes:
        goes_on: Asked during a search, in its thread, whether to go on with it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, read_only=True)
        self.goes_on: Callable[[], bool] = lambda: True
        self._db.set_progress_handler(
            lambda: not self.goes_on(), STEPS_BETWEEN_QUESTIONS
        )


class Searcher:
    """Finds pages while the crawl adds others; one search at a time, in their order.

    Args:
        path: The file of the index; opened by the first search.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, "dashboard-search")
        self._index: _BoundedIndex | None = None
        self._is_closed = False

    @gen.coroutine
    def find(
        self, query: str, offset: int, is_wanted: Callable[[], bool]
    ) -> Generator[Any, Any, SearchResult]:
        """Return the best pages.

        Args:
            offset: How many of the best to pass over.
            is_wanted: Asked before the search and during it, in another thread: whether
                anybody still waits for what it finds.

        Raises:
            ConfigError: there is no index.
            SearchError: the query means nothing, or takes too long, or is not wanted.
            SearchIndexError: the index cannot be read.
        """
        search = self._thread.submit(self._search, query, offset, is_wanted)
        found: SearchResult = yield asyncio.wrap_future(search)
        return found

    def _search(
        self, query: str, offset: int, is_wanted: Callable[[], bool]
    ) -> SearchResult:
        if self._is_closed or not is_wanted():
            raise SearchError("nobody waits for this search any more")
        if self._index is None:
            self._index = _BoundedIndex(self._path)
        ends_at = time.monotonic() + LIMIT_S

        def goes_on() -> bool:
            return is_wanted() and not self._is_closed and time.monotonic() < ends_at

        self._index.goes_on = goes_on
        try:
            return self._index.search(query, HITS_AT_ONCE, offset)
        except SearchIndexError:
            if goes_on():
                raise
            raise SearchError(
                f"the search took longer than {LIMIT_S:.0f} seconds; look for rarer words"
            ) from None

    def close(self) -> None:
        """Break off the search that runs, and close the index; twice is as good as once."""
        if self._is_closed:
            return
        self._is_closed = True
        # Only the thread that has opened it may close it.
        self._thread.submit(self._close_index)
        self._thread.shutdown()

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
