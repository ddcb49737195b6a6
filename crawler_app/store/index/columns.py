"""What the index stores of a page: normalized, and within limits.

The limits bound the time that SQLite takes for a page, which grows with the number of
different words more than with anything else.
"""

import contextlib
import sqlite3
from typing import TypeAlias

from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.store.index.letters import END, TOKENIZER, stored

__all__ = ["Columns", "columns_of"]

# A page that is one heading from top to bottom would be stored twice.
MAX_HEADINGS_CHARS = 20_000

# Different words of a text.  In 200,000 characters that people have written there are half
# as many; random ones have 70,000, which take SQLite a quarter of a second.
MAX_WORDS = 20_000


# Title, headings and text of one page.
Columns: TypeAlias = tuple[str, str, str]


def columns_of(title: str, headings: str, text: str) -> Columns:
    """Return the columns of a page; a long text takes a tenth of a second.

    >>> columns_of("Home", "", "東京")[2]
    '\\x1f東\\x1f京\\x1f'
    """
    # As stored, a Chinese character counts as two.
    return (
        f"{stored(title[:MAX_HEADINGS_CHARS])[:MAX_HEADINGS_CHARS]} {END}",
        stored(headings[:MAX_HEADINGS_CHARS])[:MAX_HEADINGS_CHARS],
        _with_few_words(stored(text[:MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]),
    )


def _with_few_words(text: str) -> str:
    """Return a stored text, cut so that it has at most `MAX_WORDS` different words."""
    # A word has a character, and one that separates it from the next.
    while len(text) > 2 * MAX_WORDS and (words := _different_words(text)) > MAX_WORDS:
        # At least by a tenth, since the words after the cut are mostly not new.
        text = text[: int(len(text) * min(0.9, MAX_WORDS / words))]
    return text


def _different_words(text: str) -> int:
    """Return how many different words SQLite finds in a text."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute(
            "CREATE VIRTUAL TABLE words USING"
            f" fts5(text, content='', detail=none, tokenize='{TOKENIZER}')"
        )
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, row)")
        db.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (text,))
        return int(db.execute("SELECT count(*) FROM terms").fetchone()[0])
