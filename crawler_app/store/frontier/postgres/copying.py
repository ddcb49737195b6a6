"""Copies the frontier of a crawl from its SQLite file into PostgreSQL.

Rule: everything is one transaction, so that a copy that fails, or is killed, leaves a crawl that
has not begun.
"""

import contextlib
import logging
import math
import sqlite3
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.base.models import State
from crawler_app.base.progress import OnStep
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from crawler_app.store.database import open_database
from crawler_app.store.frontier.frontier_schema import SCHEMA
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    connect,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import encode_text
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.sqlite_rows import url_rows
from crawler_app.web.politeness import least_gap_s
from gencoro import gen

__all__ = ["copy_frontier"]

logger = logging.getLogger(__name__)

COLUMNS = {
    "host": "id name free_at gap_s known_until turn",
    "url": "id digest via host_id depth redirects_left part role is_target refusal url",
    "outcome": "id part state tries store finished_at reason status is_html content_type "
    "size_bytes took_s title error redirect_to canonical digest note",
    "queue": "id due_at host_id turn depth tries role",
    "queried": "path",
    "origin": "name known_url",
    "amount": "worker depth state reason status is_html role urls size_bytes first_at last_at",
}

# For statements that read everything that was copied.
LONG_S = 24 * 3600.0

SELECT_HOSTS = """
SELECT id, name, free_at, (SELECT min(turn) FROM url
    WHERE host_id = host.id AND state = 'queued' AND alarm_at IS NULL)
FROM host ORDER BY id
"""

# What is read when all URLs are there.
MAKE_TEMPORARY = "CREATE TEMPORARY TABLE queried (path uuid) ON COMMIT DROP"

COUNT_QUERIES = "INSERT INTO path SELECT path, count(*) FROM queried GROUP BY path"

# The server would otherwise take the tables for empty.
ANALYZE = "ANALYZE host, url, outcome, queue"

COUNT_QUEUED = """
INSERT INTO amount
SELECT 0, depth, 'queued', '', 0, false, role, count(*), 0, NULL, NULL FROM queue
GROUP BY depth, role
"""


@gen.coroutine
def copy_frontier(
    location: CrawlLocation,
    path: Path,
    store: StoreLocation,
    config: CrawlConfig,
    *,
    partitions: int,
    on_step: OnStep,
) -> Generator[Any, Any, int]:
    """Copy the file of a crawl; return how many URLs, 0 if that was done before.

    Args:
        store: Where the responses to its URLs are.
        config: What the crawl is to begin with on the server.
        partitions: Of the tables, unless these were made before.

    Raises:
        ConfigError: the server or the file cannot be used, or the crawl there has begun.
        ServerError: the connection was lost, or the server refuses something.
    """
    with contextlib.closing(open_database(path, SCHEMA, read_only=True)) as db:
        yield install(location, partitions=partitions)
        connection = yield connect(location)
        try:
            transaction = connection.transaction()
            yield transaction.start()
            copy = _Copy(connection, db, store, config, on_step)
            urls: int = yield from copy.run(location)
            yield transaction.commit()
        except DRIVER_ERRORS as exc:
            text = words_of(exc, location)
            raise ServerError(f"cannot copy to {location}: {text}") from None
        finally:
            connection.terminate()  # which ends a transaction that was not committed
    return urls


class _Copy:
    """Copies within a transaction."""

    def __init__(
        self,
        connection: Any,
        db: sqlite3.Connection,
        store: StoreLocation,
        config: CrawlConfig,
        on_step: OnStep,
    ) -> None:
        self._connection = connection
        self._db = db
        self._store = store
        self._config = config
        self._on_step = on_step
        self._gap_s = least_gap_s(map(host_of, config.seeds), config.host_gap_s)
        self._shift_s = 0.0

    def run(self, location: CrawlLocation) -> Subgenerator[int]:
        partitions = yield self._connection.fetchval(
            "SELECT partitions FROM crawl WHERE config IS NULL FOR UPDATE"
        )
        if partitions is None:
            yield from self._check_copied(location)
            return 0
        if self._db.execute("SELECT 1 FROM comparison").fetchone() is not None:
            logger.warning("The comparison with the previous crawl is not copied.")
        now_s = yield self._connection.fetchval("SELECT server_time()")
        self._shift_s = now_s - time.time()
        yield from self._copy_hosts()
        urls = yield from self._copy_urls(partitions)
        yield from self._copy_amounts()
        yield from self._set_sequences()
        yield self._connection.execute(ANALYZE, timeout=LONG_S)
        return urls

    def _check_copied(self, location: CrawlLocation) -> Subgenerator[None]:
        """Refuse a crawl that has begun otherwise than by this copy."""
        is_ours = yield self._connection.fetchval(
            "SELECT true FROM store WHERE key = $1::uuid", self._store.key
        )
        if not is_ours:
            raise ConfigError(
                f"the crawl {location} has begun already; choose another name with --crawl"
            )

    def _number(self, sql: str) -> int:
        """Return what a query of the file returns."""
        return int(self._db.execute(f"SELECT coalesce({sql}, 0)").fetchone()[0])

    def _copy_rows(self, table: str, rows: Any) -> Any:
        return self._connection.copy_records_to_table(
            table, records=rows, columns=COLUMNS[table].split()
        )

    def _copy_hosts(self) -> Subgenerator[None]:
        # What their robots.txt say is learned again.
        known_until = 0.0 if self._config.robots else math.inf
        yield self._copy_rows(
            "host",
            (
                (
                    *(number, encode_text(name), free_at + self._shift_s),
                    *(self._gap_s, known_until, turn),
                )
                for number, name, free_at, turn in self._db.execute(SELECT_HOSTS)
            ),
        )
        origins = self._db.execute("SELECT name, known_url FROM origin")
        yield self._copy_rows(
            "origin", (tuple(map(encode_text, origin)) for origin in origins)
        )

    def _copy_urls(self, partitions: int) -> Subgenerator[int]:
        yield self._connection.execute(MAKE_TEMPORARY)
        total = self._number("(SELECT count(*) FROM url)")
        copied = 0
        store_id: int = yield self._connection.fetchval(
            "INSERT INTO store (id, key, machine, location, done)"
            " VALUES (nextval('store_id'), $1, $2, $3, $4) RETURNING id",
            *self._store,
            self._number("(SELECT sum(urls) FROM tally WHERE state = 'done')"),
        )
        for rows in url_rows(self._db, partitions, store_id, self._shift_s):
            for table, found in rows.items():
                if found:
                    yield self._copy_rows(table, found)
            copied += len(rows["url"])
            self._on_step("copying URLs", copied, total)
        return copied

    def _copy_amounts(self) -> Subgenerator[None]:
        amounts = self._db.execute("SELECT * FROM tally").fetchall()
        yield self._copy_rows(
            "amount",
            (
                (0, depth, state, reason, status, bool(is_html), role, *amount)
                for depth, state, reason, status, is_html, role, *amount in amounts
            ),
        )
        yield self._connection.execute(COUNT_QUEUED, timeout=LONG_S)
        yield self._connection.execute(COUNT_QUERIES, timeout=LONG_S)
        yield from self._begin(
            sum(
                urls
                for _, state, _, _, _, role, urls, *_ in amounts
                if state in (State.DONE, State.FAILED) and role < 2
            )
        )

    def _begin(self, begun_pages: int) -> Subgenerator[None]:
        config, most = self._config, self._config.max_pages
        left = None if most is None else max(0, most - begun_pages)
        sql = "SELECT frontier_begin($1, $2, $3, $4)"
        limits = self._gap_s, left, config.max_bytes
        yield self._connection.fetchval(sql, config.shared_json(), *limits)

    def _set_sequences(self) -> Subgenerator[None]:
        for table in ("url", "host"):
            if last := self._number(f"(SELECT max(id) FROM {table})"):
                yield self._connection.execute(
                    "SELECT setval($1, $2)", f"{table}_id", last
                )
