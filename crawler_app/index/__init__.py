"""The full-text index of a crawl: finds pages by their words, best match first.

Rule: the index holds the last version of a page, or none of it.  What was flushed
survives ``kill -9``; what was not flushed is lost as a whole.

One process writes, the crawl; others may search at the same time (WAL).

Inside::

    schema     the file and its tables
    letters    text as SQLite's tokenizer needs it
    columns    what is stored of a page
    query      the query language
    hits       search results
    rendering  the results as text and JSON
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crawler_app.errors import ConfigError, SearchIndexError
from crawler_app.index.columns import Columns, columns_of
from crawler_app.index.hits import Hit, SearchResult, Snippet, read_snippet
from crawler_app.index.letters import CLOSE, OPEN, shown
from crawler_app.index.query import Query, parse_query
from crawler_app.index.schema import open_database

__all__ = ["Hit", "PageIndex", "SearchResult", "Snippet"]

# Weights of an occurrence in the title, in a heading, and in the text.
WEIGHTS = "10.0, 4.0, 1.0"

# Words around the hit, 64 at most; a Chinese character counts as one.
SNIPPET_WORDS = 40

# A page whose title is the query comes first, however often others repeat the words;
# next, one occurrence of all words in the title beats any number in the text, unless the
# page is much longer.
SELECT_BEST = f"""
SELECT rowid, bm25(words, {WEIGHTS})
    * CASE WHEN rowid IN (SELECT rowid FROM words WHERE words MATCH :in_title)
      THEN 2 ELSE 1 END AS score
FROM words WHERE words MATCH :expression
ORDER BY rowid IN (SELECT rowid FROM words WHERE words MATCH :whole_title) DESC,
    score, rowid
LIMIT :limit OFFSET :offset
"""

# One page at a time: making a snippet reads the whole text, so only shown hits get one.
SELECT_HIT = """
SELECT page.url, page.title, snippet(words, 2, :open, :close, '…', :words),
    snippet(words, 1, :open, :close, '…', :words)
FROM words JOIN page ON page.id = words.rowid
WHERE words MATCH :expression AND words.rowid = :id
"""


class PageIndex:
    """Stores pages in one SQLite file, and finds them by their words.

    Args:
        path: The file; created if it does not exist.
        read_only: Only search; another process may be writing.

    Raises:
        ConfigError: there is no index, or one of another version, or SQLite has no FTS5.

    >>> index = PageIndex(":memory:")
    >>> index.add("http://a.test/", "Home", "", "Water makes the mill go round.", 0.0)
    >>> index.add("http://a.test/mill", "The mill", "", "Not much is known.", 0.0)
    >>> [hit.url for hit in index.search("mill").hits]
    ['http://a.test/mill', 'http://a.test/']
    >>> index.search("water").hits[0].snippet.highlights
    [(0, 5)]
    >>> index.close()
    """

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self._db = open_database(path, read_only=read_only)
        self._is_closed = False
        # Why pages were lost since the last flush; the next flush raises it.
        self._lost: SearchIndexError | None = None

    def __len__(self) -> int:
        """Return the number of pages.

        Raises:
            SearchIndexError: the file is damaged, or the disk has failed.
        """
        with self._reading():
            return self._count("SELECT count(*) FROM page")

    def add(self, url: str, title: str, headings: str, text: str, now: float) -> None:
        """Add a page, or replace the one at its URL.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        columns = columns_of(title, headings, text)
        self.remove(url, unless=columns)
        self.put(url, columns, now)

    def put(self, url: str, columns: Columns, now: float) -> None:
        """Add a page whose URL is not in the index, unless with the same columns.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        with self._writing():
            self._begin()
            cursor = self._db.execute(
                "UPDATE page SET indexed_at = ? WHERE url = ?", (now, url)
            )
            if cursor.rowcount:
                return
            page_id = self._db.execute(
                "INSERT INTO page (url, indexed_at, title, headings, text)"
                " VALUES (?, ?, ?, ?, ?)",
                (url, now, *columns),
            ).lastrowid
            self._db.execute(
                "INSERT INTO words (rowid, title, headings, text) VALUES (?, ?, ?, ?)",
                (page_id, *columns),
            )

    def remove(self, url: str, *, unless: Columns | None = None) -> bool:
        """Remove a page, if it is in the index; return whether it was removed.

        Args:
            unless: It stays if it has these columns.

        Raises:
            SearchIndexError: writing failed; everything since the last flush is lost.
        """
        with self._writing():
            self._begin()
            old = self._page(url)
            if old is None or old[1:] == unless:
                return False
            self._forget_words(old)
            self._db.execute("DELETE FROM page WHERE id = ?", old[:1])
            return True

    def _page(self, url: str) -> tuple[int, str, str, str] | None:
        row: tuple[int, str, str, str] | None = self._db.execute(
            "SELECT id, title, headings, text FROM page WHERE url = ?", (url,)
        ).fetchone()
        return row

    def _forget_words(self, page: tuple[int, str, str, str]) -> None:
        # FTS5 does not store the text here, so it must be given exactly what it indexed.
        self._db.execute(
            "INSERT INTO words (words, rowid, title, headings, text)"
            " VALUES ('delete', ?, ?, ?, ?)",
            page,
        )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """On an error, roll back to the last flush.

        A page and its words are in two tables, which must not disagree.
        """
        try:
            yield
        except BaseException as exc:
            self._roll_back()
            # Also for our own bugs: other pages are lost with this one.
            text = exc if isinstance(exc, sqlite3.Error) else repr(exc)
            self._lost = SearchIndexError(
                f"{text}; the pages since the last commit are not in the index"
            )
            if not isinstance(exc, Exception):  # KeyboardInterrupt must stay one
                raise
            raise self._lost from exc

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def _roll_back(self) -> None:
        # After some errors SQLite has ended the transaction already; after others it
        # cannot roll back until the file is opened again.
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def flush(self) -> None:
        """Commit the pages added and removed.

        Raises:
            SearchIndexError: writing failed, now or since the last flush; everything
                since that flush is lost.
        """
        lost, self._lost = self._lost, None
        if lost is not None:
            self._roll_back()
            raise lost
        try:
            if self._db.in_transaction:
                with self._writing():
                    self._db.execute("COMMIT")
        finally:
            self._lost = None  # the error raised here reports it

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
            query: In the query language of `crawler_app.index.query`.
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
        parsed = parse_query(query)
        with self._reading():
            total = self._matches(parsed.expression())
            hits = list(self._hits(parsed, limit, offset)) if total else []
            hint = "" if total else self._hint(parsed)
        return SearchResult(query, total, offset, hits, hint)

    def _hits(self, query: Query, limit: int, offset: int) -> Iterator[Hit]:
        expression = query.expression()
        best = self._db.execute(
            SELECT_BEST,
            {
                "expression": expression,
                "in_title": query.in_title(),
                "whole_title": query.whole_title(),
                "limit": limit,
                "offset": offset,
            },
        ).fetchall()
        for page_id, score in best:
            hit = self._db.execute(
                SELECT_HIT,
                {
                    "expression": expression,
                    "id": page_id,
                    "open": OPEN,
                    "close": CLOSE,
                    "words": SNIPPET_WORDS,
                },
            ).fetchone()
            if hit is None:
                raise SearchIndexError(
                    f"the index is damaged: it has words of page {page_id}, which does "
                    "not exist; delete the index and crawl again"
                )
            url, title, *texts = hit
            # If the words are in neither, show the beginning of the text.
            snippets = [read_snippet(text) for text in texts]
            snippet = next((s for s in snippets if s.highlights), snippets[0])
            yield Hit(url, " ".join(shown(title).split()), snippet, -score)

    def _hint(self, query: Query) -> str:
        """Return why nothing was found, and what to try."""
        missing = [
            term
            for group in query.wanted
            if not any(self._matches(term.expression()) for term in group)
            for term in group
        ]
        beginnings = [replace(term, is_prefix=True) for term in missing]
        longer = [f"{t.text}*" for t in beginnings if self._matches(t.expression())]
        if longer:
            return f"some pages have words that begin like this; try {' '.join(longer)}"
        if missing and len(query.wanted) > 1:
            return (
                f"no page contains {' or '.join(term.text for term in missing)}; "
                "leave it out"
            )
        if missing:
            return ""
        if query.excluded:
            return "every match is excluded; exclude fewer words"
        return "no page contains all of these words; put OR between them"

    def _matches(self, expression: str) -> int:
        return self._count("SELECT count(*) FROM words WHERE words MATCH ?", expression)

    def _count(self, select: str, *values: str) -> int:
        return int(self._db.execute(select, values).fetchone()[0])

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Read in one transaction, so that the hits agree with their total."""
        is_ours = not self._db.in_transaction
        try:
            if is_ours:
                self._db.execute("BEGIN")
            yield
        except sqlite3.Error as exc:
            raise SearchIndexError(f"the index cannot be read: {exc}") from exc
        finally:
            if is_ours and self._db.in_transaction:
                self._db.execute("ROLLBACK")
