"""The schema of the index file, and how it is opened.

The pages are in one table, and FTS5 keeps only the words (an external content table): the
columns can be read directly, and a page's text is stored once.

Measured with 20 000 pages, in commits of 25, on SQLite 3.40: the file is twice the size
of the text; a commit takes 2 ms, the slowest 31 ms, with a merge and a checkpoint in it.
The defaults of FTS5 and SQLite are kept: ``automerge=8`` and ``pgsz`` gain less than a
tenth, ``automerge=0`` gains 20 % but has commits of 400 ms, and larger pages make the
file larger.  ``detail=column`` saves a tenth of the file but cannot find phrases.
"""

import contextlib
import sqlite3
from pathlib import Path

from crawler_app import database
from crawler_app.errors import ConfigError
from crawler_app.index.letters import TOKENIZER

__all__ = ["COLUMNS", "SCHEMA_VERSION", "open_database"]

SCHEMA_VERSION = 1

# The searchable columns, in the order of those of ``words``.
COLUMNS = ("title", "headings", "text")

TABLES = f"""
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    indexed_at REAL NOT NULL,
    title TEXT NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL                 -- last, so that the others are read without it
);
CREATE VIRTUAL TABLE words USING fts5(
    {", ".join(COLUMNS)},
    content='page', content_rowid='id', tokenize='{TOKENIZER}'
);
"""

SCHEMA = database.Schema(
    "an index", SCHEMA_VERSION, frozenset({"page", "words"}), TABLES
)


def open_database(path: Path | str, *, read_only: bool) -> sqlite3.Connection:
    """Open an index, or create one; the caller begins and ends transactions.

    Raises:
        ConfigError: the file is not an index, or one of another version, or cannot be
            opened; or SQLite has no FTS5.
    """
    path = Path(path)
    if read_only and not path.exists():
        raise ConfigError(f"{path.parent} has no index: {path.name} is missing")
    _check_fts5()
    return database.open_database(path, SCHEMA, read_only=read_only)


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
