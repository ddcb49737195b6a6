"""The SQLite schema of the frontier, and the conversion of its rows.

Used by `crawler_app.store.frontier.sqlite_reading`, and by `crawler_app.store.frontier.sqlite`, which makes
the transitions.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from crawler_app.base.models import Outcome, Role, State, UrlRecord
from crawler_app.base.reasons import PROVISIONAL, reason_of_word
from crawler_app.store import database

__all__ = [
    "CLEAR_OUTCOME",
    "HAS_QUERY",
    "IS_PROVISIONAL",
    "OUTCOME_COLUMNS",
    "SCHEMA",
    "SCHEMA_VERSION",
    "SELECT_COUNTED",
    "SELECT_RECORDS",
    "SET_OUTCOME",
    "TABLES",
    "outcome_of",
    "record_of",
    "values_of",
]

SCHEMA_VERSION = 7

# Whether another link may end the refusal of a URL.
IS_PROVISIONAL = "reason IN ({})".format(
    ", ".join(f"'{word}'" for word in sorted(PROVISIONAL))
)

# As `crawler_app.base.urls.has_query`.
HAS_QUERY = "instr(url, '?') OR instr(url, ';')"

TABLES = f"""
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    free_at REAL NOT NULL DEFAULT 0,   -- the time until which the host is on hold
    urls INTEGER NOT NULL DEFAULT 0,   -- from here on, the counts of a `Host`
    pages INTEGER NOT NULL DEFAULT 0,
    broken INTEGER NOT NULL DEFAULT 0,
    size_bytes INTEGER NOT NULL DEFAULT 0,
    took_us INTEGER NOT NULL DEFAULT 0,
    timed INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE url (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,              -- a number for its `dedup_key`
    url TEXT NOT NULL,
    host_id INTEGER NOT NULL REFERENCES host,
    state TEXT NOT NULL,
    depth INTEGER NOT NULL,
    redirects_left INTEGER NOT NULL,
    role INTEGER NOT NULL,
    turn INTEGER NOT NULL,             -- smaller ones are claimed first
    via INTEGER REFERENCES url,
    tries INTEGER NOT NULL DEFAULT 0,
    alarm_at REAL,                     -- when a retry is due
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
CREATE INDEX url_ready ON url (host_id, turn, id)
    WHERE state = 'queued' AND alarm_at IS NULL;
CREATE INDEX url_alarm ON url (alarm_at) WHERE alarm_at IS NOT NULL;
CREATE INDEX url_failed ON url (id) WHERE state = 'failed';
CREATE INDEX url_redirect ON url (id) WHERE reason = 'redirect';
CREATE INDEX url_start ON url (key) WHERE depth = 0;
CREATE INDEX url_query ON url (id) WHERE {HAS_QUERY};
CREATE INDEX url_provisional ON url (key) WHERE {IS_PROVISIONAL};

-- The origins that have responded, with a URL that did.
CREATE TABLE origin (name TEXT PRIMARY KEY, known_url TEXT NOT NULL) WITHOUT ROWID;

-- A URL that was made up, if its origin answers as if it existed; otherwise empty.
CREATE TABLE soft_404 (origin TEXT PRIMARY KEY, url TEXT NOT NULL) WITHOUT ROWID;

-- URLs that have ended, by kind; the status is 0 without a response.
CREATE TABLE tally (
    depth INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,
    is_html INTEGER NOT NULL,
    role INTEGER NOT NULL,
    urls INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    first_at REAL,
    last_at REAL,
    PRIMARY KEY (depth, state, reason, status, is_html, role)
) WITHOUT ROWID;

-- URLs queued or claimed.
CREATE TABLE unfinished (
    depth INTEGER PRIMARY KEY,
    urls INTEGER NOT NULL,
    non_pages INTEGER NOT NULL         -- assets and external URLs among them
);

-- The slowest fetches, and some that were among them.
CREATE TABLE slowest (
    took_s REAL NOT NULL,
    url_id INTEGER NOT NULL REFERENCES url,
    PRIMARY KEY (took_s, url_id)
) WITHOUT ROWID;

-- The pages and files of the previous crawl.  A row without a digest is a page of another
-- crawl, whose words may still be in the index.
CREATE TABLE previous (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    url TEXT NOT NULL,
    digest TEXT,
    is_page INTEGER NOT NULL,
    is_met INTEGER NOT NULL DEFAULT 0  -- whether this crawl has met its URL
);
CREATE INDEX previous_key ON previous (key);
CREATE INDEX previous_unmet ON previous (id) WHERE NOT is_met;
CREATE INDEX previous_earlier ON previous (id) WHERE digest IS NULL;

-- URLs that differ from the previous crawl, by the kinds of `crawler_app.store.frontier.previous_crawl`.
CREATE TABLE difference (
    kind TEXT NOT NULL,
    url_id INTEGER NOT NULL REFERENCES url,
    previous_id INTEGER NOT NULL,
    PRIMARY KEY (kind, url_id, previous_id)
) WITHOUT ROWID;

-- What was broken in the previous crawl, with the URLs of redirect loops.
CREATE TABLE broken_before (url TEXT NOT NULL);

-- One row if there was a previous crawl.
CREATE TABLE comparison (was_whole INTEGER NOT NULL);

-- The keys of the first URLs, by the buckets of `crawler_app.store.frontier.key_set`.
CREATE TABLE known (bucket INTEGER PRIMARY KEY, keys BLOB NOT NULL);
CREATE TABLE saved (
    last_id INTEGER NOT NULL,          -- of these URLs
    urls INTEGER NOT NULL,
    byte_order TEXT NOT NULL
);

-- Keeps a site from choosing URLs whose keys are equal.
CREATE TABLE secret (bytes BLOB NOT NULL);
INSERT INTO secret VALUES (randomblob(16));
"""

SCHEMA = database.Schema(
    "a frontier",
    SCHEMA_VERSION,
    frozenset(
        {
            *("host", "origin", "url", "tally", "unfinished", "slowest", "secret"),
            *("previous", "difference", "comparison", "known", "saved"),
            *("broken_before", "soft_404"),
        }
    ),
    TABLES,
    cure="delete frontier.sqlite3, with its -wal and -shm, and run the same `gencrawl crawl` again, which "
    "keeps the archive and fetches everything anew",
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

# URLs: the id, and values in the format of `record_of`; a condition and an order may
# follow.
SELECT_RECORDS = f"""
SELECT url.id, url.url, url.depth, coalesce(via.url, ''), url.tries, url.finished_at,
    url.role, url.state, {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via
"""

# URLs with what is counted of them, in the format of `outcome_of` from the state on.
SELECT_COUNTED = f"""
SELECT host_id, depth, role, finished_at, state, {", ".join(OUTCOME_COLUMNS)} FROM url
"""

_outcome_fields = attrgetter(*OUTCOME_COLUMNS)


def values_of(outcome: Outcome) -> tuple[Any, ...]:
    """Return the column values of an outcome.

    >>> values_of(Outcome(State.DONE, reason_of_word("ok"), 200, title="Home"))
    (<Reason.OK: 'ok'>, 200, '', 0, None, 'Home', '', '', '', '', '')
    """
    values: tuple[Any, ...] = _outcome_fields(outcome)
    return values


def outcome_of(state: str, *values: Any) -> Outcome | None:
    """Return the outcome that a state and the values of its columns describe, if any."""
    known = {
        name: value
        for name, value in zip(OUTCOME_COLUMNS, values, strict=True)
        if value is not None
    }
    if not known:
        return None
    known["reason"] = reason_of_word(known["reason"])
    return Outcome(State(state), **known)


def record_of(row: Iterable[Any]) -> UrlRecord:
    """Convert a row of SELECT_RECORDS, without its id, into a record."""
    url, depth, via, tries, finished_at, role, state, *values = row
    outcome = outcome_of(state, *values)
    return UrlRecord(
        url, State(state), depth, via, tries, outcome, finished_at, Role(role)
    )
