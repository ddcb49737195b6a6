"""The schema of the index file, and how it is opened.

FTS5 keeps only the words of the pages (a contentless table).  Their texts are compressed in
blocks of several pages, see `crawler_app.store.index.texts`; what needs a page's text, such as a
snippet, reads its block.

Words may be added later than texts, and many at a time: ``progress`` says which blocks have
theirs in ``words``.

Measured with SQLite 3.40, as a share of the text: the words take 28 to 37 %, the compressed
texts 19 to 30 %.  Of FTS5's options, ``automerge=8`` takes a tenth less time than the default
of 4 and leaves fewer unused pages; 2 takes half as long again, and with 0 or 16 some merges
take a quarter of a second.  ``pgsz`` and ``columnsize=0`` change less than a twentieth.
``detail=column`` halves the words but cannot find phrases.  Larger pages of the file waste
more of it.
"""

import contextlib
import sqlite3
from pathlib import Path

from crawler_app.base.errors import ConfigError, SearchIndexError
from crawler_app.store import database
from crawler_app.store.index.letters import TOKENIZER

__all__ = [
    "COLUMNS",
    "SCHEMA",
    "SCHEMA_VERSION",
    "damaged",
    "open_database",
    "words_table",
]

SCHEMA_VERSION = 3

# The searchable columns.
COLUMNS = ("title", "headings", "text")

# Those of ``words``.  A word that occurs in any but the first column takes two more bytes
# for each page.
WORDS_COLUMNS = ("text", "title", "headings")

# More words than are ever added at a time, so that FTS5 does not write them in pieces.
HASH_BYTES = 64 * 2**20


def words_table(content: str = "") -> str:
    """Return the SQL that creates the table of words.

    Args:
        content: FTS5's option ``content``, with its comma.
    """
    return (
        f"CREATE VIRTUAL TABLE words USING fts5({', '.join(WORDS_COLUMNS)}, {content}"
        f" tokenize='{TOKENIZER}');"
    )


TABLES = f"""
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    indexed_at REAL NOT NULL
);
CREATE TABLE block (
    id INTEGER PRIMARY KEY,            -- of its first page; the ids of the others follow
    texts BLOB NOT NULL
);
CREATE TABLE progress (
    words_to INTEGER NOT NULL          -- blocks up to this one have their words in `words`
);
INSERT INTO progress VALUES (0);
{words_table("content='',")}
INSERT INTO words (words, rank) VALUES ('automerge', 8), ('hashsize', {HASH_BYTES});
"""

SCHEMA = database.Schema(
    "an index",
    SCHEMA_VERSION,
    frozenset({"page", "block", "progress", "words"}),
    TABLES,
    cure="delete crawl.sqlite, and `gencrawl resume DIR` builds it again from the archive",
)


def damaged(why: str) -> SearchIndexError:
    """Return the error for an index that contradicts itself."""
    return SearchIndexError(SCHEMA.with_cure(f"the index is damaged: {why}"))


def open_database(
    path: Path | str, *, read_only: bool, any_thread: bool = False
) -> sqlite3.Connection:
    """Open an index, or create one; the caller begins and ends transactions.

    Args:
        any_thread: Whether several threads may use it, though only one at a time.

    Raises:
        ConfigError: the file is not an index, or one of another version, or cannot be
            opened; or SQLite has no FTS5.
    """
    path = Path(path)
    if read_only and not database.is_created(path):
        raise ConfigError(
            f"{path.parent} has no index: {path.name} is missing; a crawl writes it with its "
            "first pages, unless it has --no-index"
        )
    _check_fts5()
    return database.open_database(
        path, SCHEMA, read_only=read_only, any_thread=any_thread
    )


def _check_fts5() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("SELECT fts5_source_id()")
        except sqlite3.OperationalError:
            raise ConfigError(
                f"this Python's SQLite {sqlite3.sqlite_version} was built without FTS5, "
                "which the full-text index needs; crawl without an index, or use a "
                "Python whose SQLite has it"
            ) from None
