"""Copies the frontier of a crawl from its SQLite file into PostgreSQL.

Rule: everything is one transaction, so that a copy that fails, or is killed, leaves a crawl that
has not begun.
"""

import math
import time
from collections.abc import Generator
from typing import Any, NamedTuple

from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.base.models import State
from crawler_app.base.progress import OnStep
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    connect,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import encode_text
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.sqlite_rows import (
    FrontierRows,
    StoredFile,
)
from gencoro import gen

__all__ = ["Beginning", "copy_frontier"]

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


class Beginning(NamedTuple):
    """What a crawl in PostgreSQL begins with; see `crawler_app.store.frontier.postgres.crawls`."""

    config: str
    gap_s: float
    max_pages: int | None
    max_bytes: int | None
    asks_robots: bool


@gen.coroutine
def copy_frontier(
    location: CrawlLocation,
    file: StoredFile,
    beginning: Beginning,
    *,
    partitions: int,
    on_step: OnStep,
) -> Generator[Any, Any, int]:
    """Copy the file of a crawl; return how many URLs, 0 if that was done before.

    Args:
        partitions: Of the tables, unless these were made before.

    Raises:
        ConfigError: the server cannot be used, or the crawl there has begun.
        ServerError: the connection was lost, or the server refuses something.
    """
    yield install(location, partitions=partitions)
    connection = yield connect(location)
    try:
        transaction = connection.transaction()
        yield transaction.start()
        copy = _Copy(connection, file, beginning, on_step)
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
        file: StoredFile,
        beginning: Beginning,
        on_step: OnStep,
    ) -> None:
        self._connection = connection
        self._file = file
        self._beginning = beginning
        self._on_step = on_step
        self._shift_s = 0.0

    def run(self, location: CrawlLocation) -> Subgenerator[int]:
        partitions = yield self._connection.fetchval(
            "SELECT partitions FROM crawl WHERE config IS NULL FOR UPDATE"
        )
        if partitions is None:
            yield from self._check_copied(location)
            return 0
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
            "SELECT true FROM store WHERE key = $1::uuid", self._file.store.key
        )
        if not is_ours:
            raise ConfigError(
                f"the crawl {location} has begun already; choose another name with --crawl"
            )

    def _copy_rows(self, table: str, rows: Any) -> Any:
        return self._connection.copy_records_to_table(
            table, records=rows, columns=COLUMNS[table].split()
        )

    def _copy_hosts(self) -> Subgenerator[None]:
        gap_s, shift_s = self._beginning.gap_s, self._shift_s
        # What their robots.txt say is learned again.
        known_until = 0.0 if self._beginning.asks_robots else math.inf
        yield self._copy_rows(
            "host",
            (
                (number, encode_text(name), free_at + shift_s, gap_s, known_until, turn)
                for number, name, free_at, turn in self._file.hosts()
            ),
        )
        yield self._copy_rows(
            "origin",
            (tuple(map(encode_text, origin)) for origin in self._file.origins()),
        )

    def _copy_urls(self, partitions: int) -> Subgenerator[int]:
        yield self._connection.execute(MAKE_TEMPORARY)
        total = self._file.total()
        copied = 0
        store_id = yield from self._add_store()
        for rows in self._file.rows(partitions, store_id, self._shift_s):
            yield from self._copy_chunk(rows)
            copied += len(rows.url)
            self._on_step("copying URLs", copied, total)
        return copied

    def _copy_chunk(self, rows: FrontierRows) -> Subgenerator[None]:
        for table in ("url", "outcome", "queue", "queried"):
            if found := getattr(rows, table):
                yield self._copy_rows(table, found)

    def _add_store(self) -> Subgenerator[int]:
        store_id: int = yield self._connection.fetchval(
            "INSERT INTO store (id, key, machine, location, done)"
            " VALUES (nextval('store_id'), $1, $2, $3, $4) RETURNING id",
            *self._file.store,
            self._file.done(),
        )
        return store_id

    def _copy_amounts(self) -> Subgenerator[None]:
        amounts = self._file.amounts().fetchall()
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
        config, gap_s, max_pages, max_bytes, _ = self._beginning
        left = None if max_pages is None else max(0, max_pages - begun_pages)
        sql = "SELECT frontier_begin($1, $2, $3, $4)"
        yield self._connection.fetchval(sql, config, gap_s, left, max_bytes)

    def _set_sequences(self) -> Subgenerator[None]:
        for table in ("url", "host"):
            if last := self._file.last_id(table):
                yield self._connection.execute(
                    "SELECT setval($1, $2)", f"{table}_id", last
                )
