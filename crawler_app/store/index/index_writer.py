"""Writes the index of a crawl.

The texts of new pages are written at once, which takes little.  What takes long is done by a
thread, so that it does not hold the event loop: adding words and merging them, which SQLite
does without the interpreter's lock, replacing pages, and checkpoints.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
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

# A batch of this many pages is written; so is any batch on a flush, which is usually sooner.
BATCH_PAGES = 100

# Compressing the texts of a larger batch takes more than some milliseconds.
MAX_CHARS_AT_ONCE = 1_000_000

# Flushed text whose words are added together.  With 1 million characters they take half as
# long again; with 8 million no less time or space, but the ends of claims wait for longer.
WORDS_CHARS = 4_000_000

# Seconds after which the words of a page are added, so that they can be found.
WORDS_AGE_S = 5.0


class IndexWriter:
    """Adds pages to an index, and removes them, until `close`.

    Raises:
        ConfigError: as `PageIndex`.
    """

    def __init__(self, path: Path | str) -> None:
        self._index = PageIndex(path, any_thread=True)
        self._thread = StoreThread("index", _error_of)
        # By URL: only the last change of a page counts.
        self._batch: dict[str, Callable[[], object]] = {}
        self._batch_chars = 0
        # When it ends, words are added.
        self._timer: asyncio.TimerHandle | None = None
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
        self._write_batch()
        self._thread.run(self._index.flush)
        self._thread.run(lambda: found.append(read()))
        self._thread.wait()
        return found[0]

    def put(self, url: str, columns: Columns, now: float) -> None:
        """Add a page, or replace the one at its URL, by the next flush.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._batch_chars += sum(map(len, columns))
        self._take(url, partial(self._index.put, url, columns, now))

    def remove(self, url: str) -> None:
        """Remove a page, which may be missing, by the next flush.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._take(url, partial(self._index.remove, url))

    def leave_out(self, url: str) -> None:
        """Note a page as one that must not be found, by the next flush.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._take(url, partial(self._index.leave_out, url))

    def _take(self, url: str, change: Callable[[], object]) -> None:
        self._thread.raise_error()
        self._batch[url] = change
        if len(self._batch) >= BATCH_PAGES:
            self._write_batch()

    def _write_batch(self) -> None:
        batch, self._batch = self._batch, {}
        chars, self._batch_chars = self._batch_chars, 0
        if batch:
            # FTS5 takes as long to remove the words of a page as to add them.
            is_long = chars > MAX_CHARS_AT_ONCE or (
                not self._thread.is_busy() and self._holds_any(batch)
            )
            self._thread.run(partial(self._make, batch.values()), is_long=is_long)

    def _make(self, changes: Iterable[Callable[[], object]]) -> None:
        for change in changes:
            change()
        self._index.store_new()  # so that the flush, the next step, need not

    def _holds_any(self, urls: Collection[str]) -> bool:
        try:
            return self._index.holds(*urls)
        except SearchIndexError:
            return True  # the step will meet the same error

    def flush(self) -> None:
        """Wait until every change is committed, and can be found.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._write_batch()
        self._thread.run(self._index.flush)
        self._thread.wait()

    def flushed(self) -> "gen.Future[None]":
        """Return a Future that is done when every change is committed.

        The pages can be found within some seconds, also after a kill: see `PageIndex`.

        Raises:
            SearchIndexError: writing has failed; nothing more will be written.
        """
        self._write_batch()
        self._thread.run(partial(self._index.flush, with_words=False))
        flushed = self._thread.waited()
        if self._index.wordless_chars >= WORDS_CHARS:
            self._add_words()
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(WORDS_AGE_S, self._add_words)
        return flushed

    def _add_words(self) -> None:
        self._stop_timer()
        self._thread.run(self._index.flush, is_long=True)
        self._thread.run(self._index.checkpoint, is_long=True)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Write every change, and close the file; may be called twice.

        Raises:
            SearchIndexError: writing has failed.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._stop_timer()
        self._write_batch()
        try:
            self._thread.close()
        finally:
            self._index.close()


def _error_of(exc: Exception) -> SearchIndexError:
    return SearchIndexError(
        str(exc) if isinstance(exc, SearchIndexError) else repr(exc)
    )
