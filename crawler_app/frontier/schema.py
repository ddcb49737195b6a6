"""The file of the frontier on disk: its tables, how it is opened, and what a row means.

Used by `crawler_app.frontier.sqlite`, which makes the moves.
"""

import sqlite3
from operator import attrgetter
from pathlib import Path
from typing import Any

from crawler_app.errors import ConfigError
from crawler_app.models import Outcome, State, UrlRecord

__all__ = [
    "CLEAR_OUTCOME",
    "SCHEMA_VERSION",
    "SELECT_RECORDS",
    "SET_OUTCOME",
    "open_database",
    "record_of",
    "values_of",
]

# Written into the file; a file of another version is refused rather than misread.
SCHEMA_VERSION = 2

SCHEMA = f"""
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    ready INTEGER NOT NULL DEFAULT 0,  -- whether a URL of it may be claimed, but for
    free_at REAL NOT NULL DEFAULT 0    -- the time before which it is not to be asked
);
CREATE INDEX host_ready ON host (free_at) WHERE ready > 0;

CREATE TABLE url (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host_id INTEGER NOT NULL REFERENCES host,
    state TEXT NOT NULL,
    depth INTEGER NOT NULL,
    redirects_left INTEGER NOT NULL,
    via INTEGER REFERENCES url,
    tries INTEGER NOT NULL DEFAULT 0,
    alarm_at REAL,                     -- a retry is due, or a lease expires
    reason TEXT,
    status INTEGER,
    content_type TEXT,
    size_bytes INTEGER,
    took_s REAL,
    title TEXT,
    error TEXT,
    redirect_to TEXT,
    canonical TEXT,
    digest TEXT,
    finished_at REAL
);
CREATE INDEX url_ready ON url (host_id, depth, id)
    WHERE state = 'queued' AND alarm_at IS NULL;
CREATE INDEX url_alarm ON url (alarm_at) WHERE alarm_at IS NOT NULL;
CREATE INDEX url_claimed ON url (id) WHERE state = 'claimed';

PRAGMA user_version = {SCHEMA_VERSION};
"""

# The fields of an Outcome that have columns of their names.
OUTCOME_COLUMNS = (
    "reason",
    "status",
    "content_type",
    "size_bytes",
    "took_s",
    "title",
    "error",
    "redirect_to",
    "canonical",
    "digest",
)

# Of an UPDATE; the values are those of `values_of`.
SET_OUTCOME = ", ".join(f"{name} = ?" for name in OUTCOME_COLUMNS)
CLEAR_OUTCOME = ", ".join(f"{name} = NULL" for name in OUTCOME_COLUMNS)

# Every URL as `record_of` reads it, in the order they were met.
SELECT_RECORDS = f"""
SELECT url.url, url.state, url.depth, coalesce(via.url, ''), url.tries, url.finished_at,
    {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via
ORDER BY url.id
"""

_outcome_fields = attrgetter(*OUTCOME_COLUMNS)


def values_of(outcome: Outcome) -> tuple[Any, ...]:
    """Return what goes into the columns of an outcome.

    >>> values_of(Outcome(State.DONE, "ok", 200, title="Home"))
    ('ok', 200, '', 0, None, 'Home', '', '', '', '')
    """
    values: tuple[Any, ...] = _outcome_fields(outcome)
    return values


def record_of(row: tuple[Any, ...]) -> UrlRecord:
    """Return what a row of SELECT_RECORDS tells of a URL."""
    url, state, depth, via, tries, finished_at, *values = row
    known = {
        name: value
        for name, value in zip(OUTCOME_COLUMNS, values, strict=True)
        if value is not None
    }
    outcome = Outcome(State(state), **known) if known else None
    return UrlRecord(url, State(state), depth, via, tries, outcome, finished_at)


def open_database(path: Path | str, *, read_only: bool) -> sqlite3.Connection:
    """Open a frontier's file, or make one; transactions are the caller's.

    Raises:
        ConfigError: it is none, or one of another version, or cannot be opened.
    """
    uri = f"{Path(path).absolute().as_uri()}?mode=ro" if read_only else str(path)
    try:
        db = sqlite3.connect(uri, uri=read_only, isolation_level=None)
    except sqlite3.Error as exc:
        raise ConfigError(f"{path}: {exc}") from None
    try:
        _prepare(db, path, read_only)
    except sqlite3.Error as exc:
        db.close()
        raise ConfigError(f"{path} cannot be used as a frontier: {exc}") from None
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, path: Path | str, read_only: bool) -> None:
    db.execute("PRAGMA busy_timeout = 10000")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = {name for (name,) in names}
    if not tables and version == 0 and not read_only:
        db.execute("PRAGMA journal_mode = WAL")
        # All or nothing, or a crash in between leaves a file that is refused for ever.
        db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
    elif not tables >= {"host", "url"}:
        raise ConfigError(
            f"{path} cannot be used as a frontier: it holds other tables, or none"
        )
    elif version != SCHEMA_VERSION:
        raise ConfigError(
            f"{path} holds a frontier of version {version}; this program writes "
            f"version {SCHEMA_VERSION}"
        )
    db.execute("PRAGMA synchronous = NORMAL")
