"""The thread that writes the index of a crawl.

Neither adding words, nor merging them, nor a commit or a checkpoint of SQLite holds the event
loop.
"""

import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TypeVar

from crawler_app.base.errors import SearchIndexError
from crawler_app.store.index import PageIndex
from crawler_app.store.index.columns import Columns
from crawler_app.store.store_thread import StoreThread
from gencoro import gen

__all__ = ["IndexWriter"]

T = TypeVar("T")

# A batch of this many pages is handed to the thread; so is any batch on a flush, which is
# usually sooner.
BATCH_PAGES = 100

# Flushed text whose words are added together.  With 1 million characters they take half as
# long again; with 8 million no less time or space, but the ends of claims wait for longer.
WORDS_CHARS = 4_000_000

# Seconds after which the words of a page are added, so that they can be found.
WORDS_AGE_S = 5.0


class IndexWriter:
    """Adds pages to an index, and removes them, in a thread that ends with `close`.

    Raises:
        ConfigError: as `PageIndex`.
    """

    def __init__(self, path: Path | str) -> None:
        self._index = PageIndex(path, any_thread=True)
        self._thread = StoreThread("index", _error_of, when_idle=self._index.flush)
        self._batch: list[Callable[[], object]] = []
        # When words were added last; used by the thread.
        self._words_at = time.monotonic()
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of pages."""
        self.flush()
        return len(self._index)

    def known_pages(self) -> int:
        """Return the number of pages, with those that are left out."""
        return self._read(self._index.known_pages)

    def lacking(self, urls: Collection[str]) -> frozenset[str]:
        """Return which pages are neither in the index nor left out."""
        return self._read(
            lambda: frozenset(url for url in urls if not self._index.knows(url))
        )

    def _read(self, read: Callable[[], T]) -> T:
        found: list[T] = []
        self._hand_over()
        self._thread.run(self._index.flush)
        self._thread.run(lambda: found.append(read()))
        self._thread.wait()
        return found[0]

    def put(self, url: str, columns: Columns, now: float) -> None:
        """Queue a page to be added, or to replace the one at its URL.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._take(partial(self._index.put, url, columns, now))

    def remove(self, url: str) -> None:
        """Queue a page to be removed; it may be missing.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._take(partial(self._index.remove, url))

    def leave_out(self, url: str) -> None:
        """Queue a page to be noted as one that must not be found.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._take(partial(self._index.leave_out, url))

    def _take(self, change: Callable[[], object]) -> None:
        self._thread.raise_error()
        self._batch.append(change)
        if len(self._batch) >= BATCH_PAGES:
            self._hand_over()

    def _hand_over(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            self._thread.run(partial(_make, batch))

    def flush(self) -> None:
        """Wait until every queued change is committed, and can be found.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._hand_over()
        self._thread.run(self._index.flush)
        self._thread.wait()

    def flushed(self) -> "gen.Future[None]":
        """Return a Future that is done when every queued change is committed.

        The pages can be found within some seconds, also after a kill: see `PageIndex`.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._hand_over()
        self._thread.run(partial(self._index.flush, with_words=False))
        flushed = self._thread.waited()
        self._thread.run(self._add_words_if_due)
        return flushed

    def _add_words_if_due(self) -> None:
        is_old = time.monotonic() > self._words_at + WORDS_AGE_S
        if is_old or self._index.wordless_chars >= WORDS_CHARS:
            self._index.flush()
            self._words_at = time.monotonic()

    def close(self) -> None:
        """Write what is queued, and close the file; may be called twice.

        Raises:
            SearchIndexError: writing has failed.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._hand_over()
        try:
            self._thread.close()
        finally:
            self._index.close()


def _make(changes: list[Callable[[], object]]) -> None:
    for change in changes:
        change()


def _error_of(exc: Exception) -> SearchIndexError:
    return SearchIndexError(
        str(exc) if isinstance(exc, SearchIndexError) else repr(exc)
    )
