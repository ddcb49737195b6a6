"""Searches an index: counts, ranks and shows the pages that match."""

import contextlib
import sqlite3
from dataclasses import replace
from typing import NamedTuple

from crawler_app.store.index.columns import Columns
from crawler_app.store.index.hits import Hit, SearchResult, Snippet, read_snippet
from crawler_app.store.index.index_schema import damaged, words_table
from crawler_app.store.index.letters import CLOSE, OPEN, shown
from crawler_app.store.index.query import Query, parse_query
from crawler_app.store.index.texts import PageTexts

__all__ = ["Rank", "Searching"]

# Weights of an occurrence in the text, in the title, and in a heading.
WEIGHTS = "1.0, 10.0, 4.0"

# Words around the hit, 64 at most; a Chinese character counts as one.
SNIPPET_WORDS = 40

# A page whose title is the query comes first, however often others repeat the words;
# next, one occurrence of all words in the title beats any number in the text, unless the
# page is much longer.
SELECT_BEST = f"""
SELECT rowid, bm25(words, {WEIGHTS})
    * CASE WHEN rowid IN (SELECT rowid FROM words WHERE words MATCH :in_title)
      THEN 2 ELSE 1 END AS score,
    rowid IN (SELECT rowid FROM words WHERE words MATCH :whole_title) AS is_title
FROM words WHERE words MATCH :expression
ORDER BY is_title DESC, score, rowid
LIMIT :limit OFFSET :offset
"""

SELECT_SNIPPETS = """
SELECT snippet(words, 0, :open, :close, '…', :words),
    snippet(words, 2, :open, :close, '…', :words)
FROM words WHERE words MATCH :expression
"""


class Rank(NamedTuple):
    """A page that matches, and how well; the least comes first.

    Attributes:
        order: 0 if its whole title is the query, otherwise 1.
        score: Relevance, negative.
        page_id: Of the page, in its index.
    """

    order: int
    score: float
    page_id: int


class Searching:
    """One search of one index.

    The caller has begun a transaction, so that the hits agree with their total.

    Raises:
        SearchError: the query is invalid.
        sqlite3.Error: the index cannot be read, from any method.
    """

    def __init__(self, db: sqlite3.Connection, texts: PageTexts, text: str) -> None:
        self._db = db
        self._texts = texts
        self._text = text
        self._query = parse_query(text)

    def result(self, limit: int, offset: int) -> SearchResult:
        """Return the best pages."""
        total = self.total()
        if not total:
            return SearchResult(self._text, 0, offset, [], self.hint())
        hits = [self.hit(rank) for rank in self.best(limit, offset)]
        return SearchResult(self._text, total, offset, hits)

    def total(self) -> int:
        """Return how many pages match."""
        return self._matches(self._query.expression())

    def best(self, limit: int, offset: int = 0) -> list[Rank]:
        """Return the best pages, without reading their texts."""
        query = self._query
        rows = self._db.execute(
            SELECT_BEST,
            {
                "expression": query.expression(),
                "in_title": query.in_title(),
                "whole_title": query.whole_title(),
                "limit": limit,
                "offset": offset,
            },
        )
        return [Rank(1 - is_title, score, page_id) for page_id, score, is_title in rows]

    def url(self, rank: Rank) -> str:
        """Return the URL of a page.

        Raises:
            SearchIndexError: the file is damaged.
        """
        row = self._db.execute(
            "SELECT url FROM page WHERE id = ?", (rank.page_id,)
        ).fetchone()
        if row is None:
            raise damaged(f"it has words of page {rank.page_id}, which does not exist")
        return str(row[0])

    def hit(self, rank: Rank) -> Hit:
        """Return a page as it is shown.

        Raises:
            SearchIndexError: the file is damaged.
        """
        columns = self._texts.read(rank.page_id)
        title = " ".join(shown(columns[0]).split())
        snippet = self._snippet(columns)
        return Hit(self.url(rank), title, snippet, -rank.score, not rank.order)

    def _snippet(self, columns: Columns) -> Snippet:
        """Return the part of the text, or of the headings, that matches best.

        If the words are in neither, it is the beginning of the text.
        """
        snippets = [read_snippet(text) for text in _snippets(columns, self._query)]
        return next((s for s in snippets if s.highlights), snippets[0])

    def hint(self) -> str:
        """Return why nothing was found, and what to try."""
        query = self._query
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
        """Return how many pages match an FTS5 expression."""
        (pages,) = self._db.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (expression,)
        ).fetchone()
        return int(pages)


def _snippets(columns: Columns, query: Query) -> tuple[str, str]:
    """Return the best parts of the text and of the headings of a page, with marks.

    FTS5 makes them of what a table stores, so the page is stored in one, in memory.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute(words_table())
        db.execute(
            "INSERT INTO words (title, headings, text) VALUES (?, ?, ?)", columns
        )
        row: tuple[str, str] | None = db.execute(
            SELECT_SNIPPETS,
            {
                "expression": query.expression(),
                "open": OPEN,
                "close": CLOSE,
                "words": SNIPPET_WORDS,
            },
        ).fetchone()
    if row is None:
        raise damaged("a page does not have the words that it was found by")
    return row
