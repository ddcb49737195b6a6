"""The tables of the memory of a watch."""

from crawler_app.store.database import Schema

__all__ = ["MEMORY"]

MEMORY = Schema(
    "the memory of a watch",
    1,
    frozenset({"run", "finding", "spell", "event", "channel", "notice", "fact"}),
    """
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    at REAL NOT NULL,
    is_void INTEGER NOT NULL,   -- nothing was reached, so nothing is known
    caveat TEXT NOT NULL,
    urls INTEGER NOT NULL,
    dead INTEGER NOT NULL       -- findings that are told, after this run
);
CREATE INDEX run_of_site ON run (site, at);
CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL,
    words TEXT NOT NULL,
    place TEXT NOT NULL,
    places INTEGER NOT NULL,
    keys TEXT NOT NULL,         -- JSON: those of its references
    state TEXT NOT NULL,
    recent TEXT NOT NULL,
    failing_since REAL,
    steady_since REAL NOT NULL,
    mended_at REAL,
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    UNIQUE (site, kind, target, detail)
);
CREATE TABLE spell (            -- the times in which a finding was there
    finding INTEGER NOT NULL,
    began_at REAL NOT NULL,
    ended_at REAL,
    PRIMARY KEY (finding, began_at)
) WITHOUT ROWID;
CREATE TABLE event (            -- what is told
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    words TEXT NOT NULL,
    place TEXT NOT NULL,
    places INTEGER NOT NULL,
    since REAL NOT NULL
);
CREATE TABLE channel (
    name TEXT PRIMARY KEY,
    last_event INTEGER NOT NULL,  -- the events up to it are in its notices
    memo TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notice (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    first_event INTEGER NOT NULL,
    last_event INTEGER NOT NULL,
    made_at REAL NOT NULL,
    tries INTEGER NOT NULL,     -- counted before each try
    next_try_at REAL NOT NULL,
    sent_at REAL,
    error TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
""",
    cure="move it away: then the next check is the first one",
)
