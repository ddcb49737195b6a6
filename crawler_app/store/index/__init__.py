"""The full-text index of a crawl: finds pages by their words, best match first.

Rule: the index holds the last version of a page, or none of it.  What was flushed
survives ``kill -9``; what was not flushed is lost as a whole.

One process writes, the crawl; others may search at the same time (WAL).  The crawl flushes
the texts of its pages often, and adds their words to those that can be found only now and
then, many pages at a time, which takes a third less time and space.  After a kill, the words
that are missing are added when the file is next opened for writing.

Inside::

    index_schema  the file and its tables
    letters       text as SQLite's tokenizer needs it
    columns       what is stored of a page
    texts         the pages, and their compressed texts
    query         the query language
    searching     what matches a query, best match first
    hits          search results
    rendering     the results as text and JSON
    index_writer  writes the index of a crawl, without holding the event loop
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from crawler_app.base.errors import ConfigError, SearchIndexError
from crawler_app.store.checkpoints import Checkpoints
from crawler_app.store.index.columns import Columns, columns_of
from crawler_app.store.index.hits import Hit, SearchResult, Snippet
from crawler_app.store.index.index_schema import COLUMNS, SCHEMA, open_database
from crawler_app.store.index.searching import Searching
from crawler_app.store.index.texts import NewPage, PageTexts, rows_of

__all__ = ["Hit", "PageIndex", "SearchResult", "Snippet"]

# New pages are written when they reach either, if there is no flush before.
NEW_CHARS = 1_000_000
NEW_PAGES = 200

# Words of a page, with the id of the page.
WORDS = f"words (rowid, {', '.join(COLUMNS)})"

# Pages that the crawl has read and that ask not to be found.  An older index has no such table.
LEFT_OUT = "CREATE TABLE IF NOT EXISTS left_out (url TEXT PRIMARY KEY) WITHOUT ROWID"

# Pages whose words are added by one statement.  FTS5 writes a segment before each; the largest
# takes 20 ms, however few the pages are.
WORDS_PAGES = (16, 64, 256, 1024, 4096)


class PageIndex:
    """Stores pages in one SQLite file, and finds them by their words.

    Args:
        path: The file; created if it does not exist.
        read_only: Only search; another process may be writing.
        any_thread: Whether several threads may use it, though only one at a time.

    Raises:
        ConfigError: there is no index, or one of another version, or SQLite has no FTS5.
        SearchIndexError: words are missing since a kill, and cannot be added.

    Attributes:
        wordless_chars: The characters of flushed pages that cannot be found yet.

    >>> index = PageIndex(":memory:")
    >>> index.add("http://a.test/", "Home", "", "Water makes the mill go round.", 0.0)
    >>> index.add("http://a.test/mill", "The mill", "", "Not much is known.", 0.0)
    >>> [hit.url for hit in index.search("mill").hits]
    ['http://a.test/mill', 'http://a.test/']
    >>> index.search("water").hits[0].snippet.highlights
    [(0, 5)]
    >>> index.close()
    """

    def __init__(
        self, path: Path | str, *, read_only: bool = False, any_thread: bool = False
    ) -> None:
        self._db = open_database(path, read_only=read_only, any_thread=any_thread)
        self._checkpoints = Checkpoints(self._db)
        self._texts = PageTexts(self._db)
        self._is_closed = False
        # Why pages were lost since the last flush; the next flush raises it.
        self._lost: SearchIndexError | None = None
        # Not in the file yet, by URL.
        self._new: dict[str, NewPage] = {}
        self._new_chars = 0
        self.wordless_chars = 0
        if not read_only:
            try:
                self._db.execute(LEFT_OUT)
                if not self.is_complete():
                    self._add_words()
                    self.flush()
            except BaseException:
                self._db.close()
                raise

    def __len__(self) -> int:
        """Return the number of pages.

        Raises:
            SearchIndexError: the file is damaged, or the disk has failed.
        """
        self.store_new()
        with self._reading():
            (pages,) = self._db.execute("SELECT count(*) FROM page").fetchone()
            return int(pages)

    def is_complete(self) -> bool:
        """Return whether all flushed pages can be found.

        If not, another process is writing, or has been killed; then opening the file for
        writing adds the words.
        """
        with self._reading():
            (last,) = self._db.execute("SELECT max(id) FROM block").fetchone()
            return last is None or int(last) <= self._words_to()

    def holds(self, *urls: str) -> bool:
        """Return whether any of some pages was flushed.

        Raises:
            SearchIndexError: the file is damaged, or the disk has failed.
        """
        with self._reading():
            return bool(self._texts.ids_of(urls))

    def urls(self) -> list[str]:
        """Return the URLs of the pages that were flushed, in the order they were added."""
        with self._reading():
            rows = self._db.execute("SELECT url FROM page ORDER BY id")
            return [url for (url,) in rows]

    def known_pages(self) -> int:
        """Return the number of pages, with those that are left out."""
        with self._reading():
            sql = (
                "SELECT count(*) FROM left_out WHERE url NOT IN (SELECT url FROM page)"
            )
            return len(self) + int(self._db.execute(sql).fetchone()[0])

    def knows(self, url: str) -> bool:
        """Return whether a page was flushed, or left out."""
        with self._reading():
            sql = "SELECT 1 FROM left_out WHERE url = ?"
            is_left_out = self._db.execute(sql, (url,)).fetchone() is not None
            return is_left_out or self.holds(url)

    def leave_out(self, url: str) -> None:
        """Remove a page, and note that it must not be found.

        So it differs from one that was lost, as in a power failure.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        self.remove(url)
        with self._writing():
            self._db.execute("INSERT OR IGNORE INTO left_out VALUES (?)", (url,))

    def add(self, url: str, title: str, headings: str, text: str, now: float) -> None:
        """Add a page, or replace the one at its URL.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        self.put(url, columns_of(title, headings, text), now)

    def put(self, url: str, columns: Columns, now: float) -> None:
        """Add a page, or replace the one at its URL.

        Args:
            columns: As `crawler_app.store.index.columns.columns_of` returns them.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        self._new[url] = NewPage(columns, now)
        self._new_chars += sum(map(len, columns))
        if self._new_chars >= NEW_CHARS or len(self._new) >= NEW_PAGES:
            self.store_new()

    def remove(self, url: str) -> bool:
        """Remove a page, if it is in the index; return whether it was removed.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        self.store_new()
        with self._writing():
            page_id = self._texts.ids_of([url]).get(url)
            if page_id is None:
                return False
            self._remove(page_id)
            self._texts.write_removed()
            return True

    def store_new(self) -> None:
        """Write the new pages, without committing them."""
        if not self._new:
            return
        with self._writing():
            known = self._texts.ids_of(self._new)
            for url, page_id in known.items():
                page = self._new[url]
                if self._texts.read(page_id) == page.columns:
                    self._texts.note_time(page_id, page.indexed_at)
                    del self._new[url]
                else:
                    self._remove(page_id)
            self._texts.write_removed()
            if self._new:
                self._texts.add(self._new)
            self._new = {}
            self.wordless_chars += self._new_chars
            self._new_chars = 0

    def _remove(self, page_id: int) -> None:
        block_id, columns = self._texts.remove(page_id)
        if block_id <= self._words_to():
            # FTS5 does not store the text, so it must be given exactly what it indexed.
            self._db.execute(
                f"INSERT INTO {WORDS[:-1]}, words) VALUES (?, ?, ?, ?, 'delete')",
                (page_id, *columns),
            )

    def _words_to(self) -> int:
        (block_id,) = self._db.execute("SELECT words_to FROM progress").fetchone()
        return int(block_id)

    def _add_words(self) -> None:
        """Add the words of the pages that do not have theirs yet."""
        with self._writing():
            last = words_to = self._words_to()
            rows: list[tuple[object, ...]] = []
            for last, pages in self._texts.after(words_to):
                rows += ((page_id, *columns) for page_id, columns in pages)
            most = self._db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 4
            enough = (pages for pages in WORDS_PAGES if pages >= len(rows))
            most = min(most, next(enough, WORDS_PAGES[-1]))
            for start in range(0, len(rows), most):
                self._insert_words(rows[start : start + most], most)
            if last != words_to:
                self._db.execute("UPDATE progress SET words_to = ?", (last,))
        self._texts.forget_recent()
        self.wordless_chars = 0

    def _insert_words(self, rows: list[tuple[object, ...]], most: int) -> None:
        """Insert the words of pages, by a statement for ``most`` of them.

        Python keeps the last 128 statements, each with the texts that were bound to it: a
        statement for each number of pages would hold hundreds of megabytes.
        """
        marks, nothing = rows_of([(None, None, None, None)] * most)
        add = (
            f"INSERT INTO {WORDS} SELECT * FROM (VALUES {marks}) WHERE column1 NOTNULL"
        )
        texts = [value for row in rows for value in row]
        self._db.execute(add, texts + nothing[len(texts) :])
        self._db.execute(add, nothing)  # lets go of the texts

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Begin a transaction if there is none; on an error, roll back to the last flush.

        The texts and the words are in several tables, which must not disagree.
        """
        try:
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            yield
        except BaseException as exc:
            self._roll_back()
            # Also for our own bugs: other pages are lost with this one.
            is_known = isinstance(exc, (sqlite3.Error, SearchIndexError))
            text = exc if is_known else repr(exc)
            self._lost = SearchIndexError(
                f"{text}; the pages since the last commit are not in the index"
            )
            if not isinstance(exc, Exception):  # KeyboardInterrupt must stay one
                raise
            raise self._lost from exc

    def _roll_back(self) -> None:
        self._new, self._new_chars = {}, 0
        self._texts.forget()
        # After some errors SQLite has ended the transaction already; after others it
        # cannot roll back until the file is opened again.
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def flush(self, *, with_words: bool = True) -> None:
        """Commit the pages added and removed.

        Args:
            with_words: Whether they, and those flushed before, can be found from now on;
                the next flush with words, or opening the file again, sees to the others.

        Raises:
            SearchIndexError: writing failed, now or since the last flush; everything
                since that flush is lost.
        """
        lost, self._lost = self._lost, None
        if lost is not None:
            self._roll_back()
            raise lost
        try:
            self.store_new()
            if with_words and self.wordless_chars:
                self._add_words()
            if self._db.in_transaction:
                with self._writing():
                    self._db.execute("COMMIT")
        finally:
            self._lost = None  # the error raised here reports it

    def checkpoint(self) -> None:
        """Copy what was flushed from SQLite's log into the file, which waits for the disk."""
        self._checkpoints.make()

    def close(self) -> None:
        """Flush and close; may be called twice.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._lost = None  # already reported
        try:
            self.flush()
        finally:
            self._db.close()

    def search(self, query: str, limit: int = 10, offset: int = 0) -> SearchResult:
        """Return the best pages, and the total number of matches.

        Args:
            query: In the query language of `crawler_app.store.index.query`.
            offset: How many of the best pages to skip.

        Raises:
            ConfigError: limit is below 1, or offset below 0.
            SearchError: the query is invalid; the text says how to correct it.
            SearchIndexError: the file is damaged, or the disk has failed.
        """
        if limit < 1 or offset < 0:
            raise ConfigError(
                f"limit {limit} and offset {offset}: the limit must be at least 1, "
                "and the offset at least 0"
            )
        with self.searched(query) as searching:
            return searching.result(limit, offset)

    @contextlib.contextmanager
    def searched(self, query: str) -> Iterator[Searching]:
        """Search in several steps of one transaction.

        Raises:
            SearchError, SearchIndexError: as `search`.
        """
        self.store_new()
        if self.wordless_chars:
            self._add_words()
        try:
            with self._reading():
                yield Searching(self._db, self._texts, query)
        finally:
            self._texts.forget_recent()  # another process may change them

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Read in one transaction, so that the hits agree with their total."""
        is_ours = not self._db.in_transaction
        try:
            if is_ours:
                self._db.execute("BEGIN")
            yield
        except sqlite3.Error as exc:
            words = SCHEMA.explain(f"the index cannot be read: {exc}", exc)
            raise SearchIndexError(words) from exc
        finally:
            if is_ours and self._db.in_transaction:
                self._db.execute("ROLLBACK")
