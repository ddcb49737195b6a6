"""Reads the SQLite file of a crawl as the rows that its frontier has in PostgreSQL.

Rule: the id of a URL there follows from its id here, so nothing is remembered of a URL, and the
order in which they were found stays.
"""

import functools
import sqlite3
from collections.abc import Iterator
from typing import Any, TypeAlias

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Role, State
from crawler_app.base.reasons import CONTENT
from crawler_app.base.urls import bare_path, dedup_key, has_query
from crawler_app.store.frontier.frontier_schema import OUTCOME_COLUMNS
from crawler_app.store.frontier.postgres.encoding import encode_text
from crawler_app.store.frontier.postgres.step_changes import digest_of

__all__ = ["url_rows"]

# Rows that are read, and sent, at once.
CHUNK = 10_000

SELECT_URLS = f"""
SELECT url.id, url.url, url.host_id, url.state, url.depth, url.redirects_left, url.role,
    url.turn, url.tries, url.alarm_at, url.finished_at, via.id, via.host_id, via.redirect_to,
    {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via ORDER BY url.id
"""

# By table; ``queried`` has the path of each URL with a query.
FrontierRows: TypeAlias = dict[str, list[tuple[Any, ...]]]


def url_rows(
    db: sqlite3.Connection, partitions: int, store_id: int, shift_s: float
) -> Iterator[FrontierRows]:
    """Yield the URLs of a file, some at once.

    Args:
        partitions: Of the tables.
        store_id: Of the store that has the responses.
        shift_s: What is added to times that are to come, for the clock of the server.
    """
    found = db.execute(SELECT_URLS)
    while chunk := found.fetchmany(CHUNK):
        rows: FrontierRows = {"url": [], "outcome": [], "queue": [], "queried": []}
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
    rows["url"].append(
        (
            *(there, digest_of(key), via, host, depth, redirects_left, part, role),
            *(is_target, outcome[0] if is_refused else None, encode_text(url)),
        )
    )
    if not is_refused and role != Role.EXTERNAL and has_query(url):
        rows["queried"].append((digest_of(bare_path(url)),))
    if state == State.QUEUED:
        due_at = None if alarm_at is None else alarm_at + shift_s
        rows["queue"].append((there, due_at, host, turn, depth, tries, role))
    elif not is_refused:
        ended = (there, part, state, tries, store_id, finished_at)
        rows["outcome"].append((*ended, *_outcome_row(*outcome)))


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
