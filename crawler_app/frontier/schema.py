"""The SQLite schema of the frontier, and the conversion of its rows.

Used by `crawler_app.frontier.sqlite`, which makes the transitions.
"""

import sqlite3
from operator import attrgetter
from pathlib import Path
from typing import Any

from crawler_app import database
from crawler_app.models import Outcome, State, UrlRecord
from crawler_app.reasons import reason_of_word

__all__ = [
    "CLEAR_OUTCOME",
    "SCHEMA_VERSION",
    "SELECT_RECORDS",
    "SET_OUTCOME",
    "open_database",
    "record_of",
    "values_of",
]

SCHEMA_VERSION = 3

TABLES = """
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    ready INTEGER NOT NULL DEFAULT 0,  -- whether a URL of it is due, apart from
    free_at REAL NOT NULL DEFAULT 0    -- the time until which the host is on hold
);
CREATE INDEX host_ready ON host (free_at) WHERE ready > 0;

CREATE TABLE url (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host_id INTEGER NOT NULL REFERENCES host,
    state TEXT NOT NULL,
    depth INTEGER NOT NULL,
    redirects_left INTEGER NOT NULL,
    is_sitemap INTEGER NOT NULL DEFAULT 0,
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
    note TEXT,
    finished_at REAL
);
CREATE INDEX url_ready ON url (host_id, depth, id)
    WHERE state = 'queued' AND alarm_at IS NULL;
CREATE INDEX url_alarm ON url (alarm_at) WHERE alarm_at IS NOT NULL;
CREATE INDEX url_claimed ON url (id) WHERE state = 'claimed';
"""

SCHEMA = database.Schema(
    "a frontier", SCHEMA_VERSION, frozenset({"host", "url"}), TABLES
)

# The fields of an Outcome that have columns of the same names.
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
    "note",
)

# For an UPDATE; the values come from `values_of`.
SET_OUTCOME = ", ".join(f"{name} = ?" for name in OUTCOME_COLUMNS)
CLEAR_OUTCOME = ", ".join(f"{name} = NULL" for name in OUTCOME_COLUMNS)

# All URLs in the format of `record_of`, in the order they were found.
SELECT_RECORDS = f"""
SELECT url.url, url.state, url.depth, coalesce(via.url, ''), url.tries, url.finished_at,
    {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via
ORDER BY url.id
"""

_outcome_fields = attrgetter(*OUTCOME_COLUMNS)


def values_of(outcome: Outcome) -> tuple[Any, ...]:
    """Return the column values of an outcome.

    >>> values_of(Outcome(State.DONE, reason_of_word("ok"), 200, title="Home"))
    (<Reason.OK: 'ok'>, 200, '', 0, None, 'Home', '', '', '', '', '')
    """
    values: tuple[Any, ...] = _outcome_fields(outcome)
    return values


def record_of(row: tuple[Any, ...]) -> UrlRecord:
    """Convert a row of SELECT_RECORDS into a record."""
    url, state, depth, via, tries, finished_at, *values = row
    known = {
        name: value
        for name, value in zip(OUTCOME_COLUMNS, values, strict=True)
        if value is not None
    }
    if known:
        known["reason"] = reason_of_word(known["reason"])
    outcome = Outcome(State(state), **known) if known else None
    return UrlRecord(url, State(state), depth, via, tries, outcome, finished_at)


def open_database(path: Path | str, *, read_only: bool) -> sqlite3.Connection:
    """Open or create the file of a frontier; the caller controls transactions.

    Raises:
        ConfigError: it is not a frontier, or has another version, or cannot be opened.
    """
    return database.open_database(path, SCHEMA, read_only=read_only)
