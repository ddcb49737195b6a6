"""Reads the SQLite file of a crawl as the rows that its frontier has in PostgreSQL.

Rule: the id of a URL there follows from its id here, so nothing is remembered of a URL, and the
order in which they were found stays.
"""

import functools
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Role, State
from crawler_app.base.reasons import CONTENT
from crawler_app.base.urls import bare_path, dedup_key, has_query
from crawler_app.store.database import open_database
from crawler_app.store.frontier.frontier_schema import OUTCOME_COLUMNS, SCHEMA
from crawler_app.store.frontier.postgres.encoding import encode_text
from crawler_app.store.frontier.postgres.location import StoreLocation
from crawler_app.store.frontier.postgres.step_changes import digest_of

__all__ = ["FrontierRows", "StoredFile"]

# Rows that are read, and sent, at once.
CHUNK = 10_000

SELECT_HOSTS = """
SELECT id, name, free_at, (SELECT min(turn) FROM url
    WHERE host_id = host.id AND state = 'queued' AND alarm_at IS NULL)
FROM host ORDER BY id
"""

SELECT_URLS = f"""
SELECT url.id, url.url, url.host_id, url.state, url.depth, url.redirects_left, url.role,
    url.turn, url.tries, url.alarm_at, url.finished_at, via.id, via.host_id, via.redirect_to,
    {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via ORDER BY url.id
"""


@dataclass(slots=True)
class FrontierRows:
    """The rows of the tables; ``queried`` has the path of each URL with a query."""

    url: list[tuple[Any, ...]] = field(default_factory=list)
    outcome: list[tuple[Any, ...]] = field(default_factory=list)
    queue: list[tuple[Any, ...]] = field(default_factory=list)
    queried: list[tuple[Any, ...]] = field(default_factory=list)


class StoredFile:
    """The file of a frontier.

    Args:
        store: Where the responses to its URLs are.

    Raises:
        ConfigError: it is not such a file.
    """

    def __init__(self, path: Path, store: StoreLocation) -> None:
        self.store = store
        self._db = open_database(path, SCHEMA, read_only=True)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def total(self) -> int:
        """Return how many URLs there are."""
        return int(self._db.execute("SELECT count(*) FROM url").fetchone()[0])

    def done(self) -> int:
        """Return how many of them were fetched."""
        sql = "SELECT coalesce(sum(urls), 0) FROM tally WHERE state = 'done'"
        return int(self._db.execute(sql).fetchone()[0])

    def last_id(self, table: str) -> int:
        """Return the last id of a table; 0 if it is empty."""
        sql = f"SELECT coalesce(max(id), 0) FROM {table}"
        return int(self._db.execute(sql).fetchone()[0])

    def has_previous(self) -> bool:
        """Return whether there was a previous crawl to compare with."""
        return self._db.execute("SELECT 1 FROM comparison").fetchone() is not None

    def amounts(self) -> sqlite3.Cursor:
        """Return the counts of the URLs that have ended."""
        return self._db.execute("SELECT * FROM tally")

    def origins(self) -> sqlite3.Cursor:
        """Return the origins that have responded, with a URL that did."""
        return self._db.execute("SELECT name, known_url FROM origin")

    def hosts(self) -> sqlite3.Cursor:
        """Return the id, name and hold of each host, and the least turn of its due URLs."""
        return self._db.execute(SELECT_HOSTS)

    def rows(
        self, partitions: int, store_id: int, shift_s: float
    ) -> Iterator[FrontierRows]:
        """Yield the URLs, some at once.

        Args:
            partitions: Of the tables.
            store_id: Of `store`.
            shift_s: What is added to times that are to come, for the clock of the server.
        """
        found = self._db.execute(SELECT_URLS)
        while chunk := found.fetchmany(CHUNK):
            rows = FrontierRows()
            for row in chunk:
                _convert(row, rows, partitions, store_id, shift_s)
            yield rows


def _convert(
    row: tuple[Any, ...],
    rows: FrontierRows,
    partitions: int,
    store_id: int,
    shift_s: float,
) -> None:
    """Add the rows of one URL."""
    url_id, url, host, state, depth, redirects_left, role, turn, tries = row[:9]
    alarm_at, finished_at, via_id, via_host, redirect_to, *outcome = row[9:]
    part = host % partitions
    there = url_id << 10 | part
    key = dedup_key(url)
    via = None if via_id is None else via_id << 10 | via_host % partitions
    is_target = bool(redirect_to) and dedup_key(redirect_to) == key
    # What was refused when it was found has not ended: it never began.
    is_refused = state == State.EXCLUDED and finished_at is None
    rows.url.append(
        (
            *(there, digest_of(key), via, host, depth, redirects_left, part, role),
            *(is_target, outcome[0] if is_refused else None, encode_text(url)),
        )
    )
    if not is_refused and role != Role.EXTERNAL and has_query(url):
        rows.queried.append((digest_of(bare_path(url)),))
    if state == State.QUEUED:
        due_at = None if alarm_at is None else alarm_at + shift_s
        rows.queue.append((there, due_at, host, turn, depth, tries, role))
    elif not is_refused:
        ended = (there, part, state, tries, store_id, finished_at)
        rows.outcome.append((*ended, *_outcome_row(*outcome)))


def _outcome_row(
    reason: str,
    status: int | None,
    content_type: str | None,
    size_bytes: int | None,
    took_s: float | None,
    *texts: str | None,
) -> tuple[Any, ...]:
    kind = content_type or ""
    return (
        *(reason, status, _is_page(reason, kind), encode_text(kind)),
        *(size_bytes or 0, took_s, *(encode_text(text or "") for text in texts)),
    )


@functools.lru_cache(1000)
def _is_page(reason: str, content_type: str) -> bool:
    return reason in CONTENT and is_html(content_type)
