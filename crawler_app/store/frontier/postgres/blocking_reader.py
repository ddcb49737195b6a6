"""Blocking reads of a crawl in PostgreSQL, for reports and startup.

Rule: each method waits for the server, so a crawl that is under way calls none of them.
"""

import asyncio
import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from crawler_app.base.errors import ServerError
from crawler_app.base.models import Outcome, State, UrlRecord
from crawler_app.base.reasons import reason_of_word
from crawler_app.base.urls import dedup_key
from crawler_app.store.frontier import MAX_QUERIES, FrontierReader
from crawler_app.store.frontier.count_types import (
    RANKED,
    Amount,
    HostCounts,
    OutcomeKey,
    amounts_of,
)
from crawler_app.store.frontier.frontier_schema import OUTCOME_COLUMNS, record_of
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    connect,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import decode_text, encode_text
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.previous_schema import PreviousSchema
from crawler_app.store.frontier.postgres.step_changes import digest_of

__all__ = ["CrawlMembers", "PostgresReader"]

T = TypeVar("T")

# A refused URL has no row of an outcome, and one that has ended has no tries elsewhere.  The
# queue has an index of what is due and one of retries, and none of ids.
RECORDS = f"""
SELECT url.id, url.url, url.depth, coalesce(via.url, ''),
    coalesce(outcome.tries, claim.tries, queue.tries, retry.tries, 0), outcome.finished_at,
    url.role,
    CASE WHEN url.refusal IS NOT NULL THEN 'excluded' WHEN outcome.id IS NOT NULL
        THEN outcome.state WHEN claim.id IS NOT NULL THEN 'claimed' ELSE 'queued' END,
    coalesce(url.refusal, outcome.reason),
    {", ".join(f"outcome.{name}" for name in OUTCOME_COLUMNS[1:])}
FROM url
    LEFT JOIN outcome ON outcome.id = url.id AND outcome.part = url.part
    LEFT JOIN url AS via ON via.id = url.via AND via.part = part_of(url.via)
    LEFT JOIN claim ON claim.id = url.id
    LEFT JOIN queue ON queue.id = url.id AND queue.due_at IS NULL
        AND queue.host_id = url.host_id AND queue.turn = turn_of(url.role, url.depth)
    LEFT JOIN queue AS retry ON retry.id = url.id AND retry.due_at IS NOT NULL
"""

FIND = f"{RECORDS} WHERE url.digest = $1::uuid"

# The rows are chosen first, by an index; otherwise every URL might be read.
SLOWEST = f"""
{RECORDS} WHERE (url.id, url.part) IN (
    SELECT id, part FROM outcome WHERE took_s IS NOT NULL ORDER BY took_s DESC, id LIMIT $1
) ORDER BY outcome.took_s DESC, url.id
"""

# A subquery, not a join, for which every URL might be read.
REDIRECTS = """
SELECT (SELECT url FROM url WHERE url.id = outcome.id AND url.part = outcome.part), redirect_to
FROM outcome WHERE reason = 'redirect' ORDER BY id
"""

ENDED = """
SELECT id, url FROM url JOIN outcome USING (id, part)
WHERE url.digest = ANY ($1::uuid[]) AND state IN ('done', 'failed')
"""

CONDITION_BY_STATE = {
    State.QUEUED: "coalesce(outcome.id, claim.id) IS NULL AND url.refusal IS NULL",
    State.CLAIMED: "claim.id IS NOT NULL",
    State.DONE: "outcome.state = 'done'",
    State.FAILED: "outcome.state = 'failed'",
    State.EXCLUDED: "(url.refusal IS NOT NULL OR outcome.state = 'excluded')",
}

COUNTS = """
SELECT CASE WHEN state = 'queued' AND is_claimed THEN 'claimed' ELSE state END, is_non_page,
    sum(urls)
FROM (
    SELECT state, role >= 2 AS is_non_page, false AS is_claimed, urls FROM amount
    UNION ALL SELECT 'queued', role >= 2, true, 1 FROM claim
    UNION ALL SELECT 'queued', role >= 2, false, -1 FROM claim
) AS counted GROUP BY 1, 2
"""

HOSTS = """
SELECT host.name, url.depth, state, reason, is_html, count(*), sum(size_bytes)::bigint,
    sum(round(took_s * 1e6))::bigint, count(took_s)
FROM host JOIN url ON url.host_id = host.id
    LEFT JOIN outcome ON outcome.id = url.id AND outcome.part = url.part
WHERE url.refusal IS NULL AND state IS DISTINCT FROM 'excluded'
GROUP BY host.id, host.name, url.depth, state, reason, is_html ORDER BY host.id
"""

STORE_ID = "(SELECT store.id FROM store WHERE key = $1::uuid)"

# Rows that are read at once; a summary needs the first few only.
FIRST_CHUNK = 50
CHUNK = 2_000

# How long one snapshot is read.  An export may take hours; as long as a snapshot lasts, rows that
# workers have changed or deleted stay, and each step has to pass by more of them.
SNAPSHOT_S = 5.0

# Timeout for closing a connection.
CLOSE_TIMEOUT_S = 1.0


class CrawlMembers(NamedTuple):
    """The workers of a crawl, and where they keep what they fetch.

    Attributes:
        config: What it crawls, as JSON; None if it has not begun.
        workers: The names of the workers that are at it now.
        stores: Where these and earlier ones have kept what they fetched.
    """

    config: str | None
    workers: list[str]
    stores: list[StoreLocation]


class _LoopThread:
    """An event loop in a thread, because the driver has only coroutines."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a coroutine function there; return its result."""

        async def call() -> Any:
            return await function(*args)

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class PostgresReader(FrontierReader):
    """Reads a crawl from the server: the results of all its workers.

    Raises:
        ConfigError: the server cannot be reached, or the crawl cannot be used.
        ServerError: the connection was lost, from any method.
    """

    def __init__(self, location: CrawlLocation) -> None:
        self._location = location
        self.previous = PreviousSchema(location, self._fetch)
        self._thread = _LoopThread()
        # A connection for each iterator that is under way, and one for the rest.
        self._idle: list[Any] = []
        self._under_way: weakref.WeakSet[Generator[Any, None, None]] = weakref.WeakSet()
        try:
            self._idle.append(self._thread.run(connect, location))
        except BaseException:
            self._thread.close()
            raise

    def close(self) -> None:
        for rows in list(self._under_way):  # of a caller that has failed
            rows.close()
        self.rest()
        self._thread.close()

    def rest(self) -> None:
        """Close the connections that are not in use; they are opened again when needed."""
        while self._idle:
            with contextlib.suppress(*DRIVER_ERRORS):  # it is closed already
                self._thread.run(_close, self._idle.pop())

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Any]:
        while self._idle and self._idle[-1].is_closed():
            self._idle.pop()  # the server was away
        connection = (
            self._idle.pop()
            if self._idle
            else self._thread.run(connect, self._location)
        )
        try:
            yield connection
        except DRIVER_ERRORS as exc:
            text = words_of(exc, self._location)
            raise ServerError(f"cannot read {self._location}: {text}") from None
        finally:
            self._idle.append(connection)

    def _fetch(self, sql: str, *args: Any) -> Any:
        with self._connection() as connection:
            return self._thread.run(connection.fetch, sql, *args)

    def _iterate(self, condition: str, *args: Any) -> Generator[Any, None, None]:
        """Yield the records for which a condition holds, in the order of their ids."""
        rows = self._rows(condition, *args)
        self._under_way.add(rows)
        return rows

    def _rows(self, condition: str, *args: Any) -> Generator[Any, None, None]:
        location = f"${len(args) + 1}"
        sql = f"{RECORDS} WHERE {condition} AND url.id > {location} ORDER BY url.id"
        last_id: int | None = 0
        while last_id is not None:
            last_id = yield from self._rows_of_snapshot(sql, *args, last_id)

    def _rows_of_snapshot(
        self, sql: str, *args: Any
    ) -> Generator[Any, None, int | None]:
        """Yield the rows of one snapshot, or the first; return the last id if there are more."""
        ends_at = time.monotonic() + SNAPSHOT_S
        with self._connection() as connection:
            transaction = connection.transaction(
                isolation="repeatable_read", readonly=True
            )
            self._thread.run(transaction.start)
            try:
                cursor = self._thread.run(_open_cursor, connection, sql, args)
                size = FIRST_CHUNK
                while rows := self._thread.run(cursor.fetch, size):
                    yield from rows
                    size = CHUNK
                    if time.monotonic() >= ends_at:
                        return int(rows[-1][0])
            finally:
                self._thread.run(transaction.rollback)
        return None

    def soft_404s(self) -> list[str]:
        if not self._fetch("SELECT 1 WHERE to_regclass('soft_404') IS NOT NULL"):
            return []
        rows = self._fetch("SELECT url FROM soft_404 WHERE url <> '' ORDER BY url")
        return [decode_text(url) for (url,) in rows]

    def begin_soft_404s(self) -> None:
        """Let workers ask each origin again whether it has soft 404s."""
        self._fetch(
            "CREATE TABLE IF NOT EXISTS soft_404"
            " (origin text PRIMARY KEY, url text NOT NULL DEFAULT '', is_asked boolean)"
        )
        self._fetch("UPDATE soft_404 SET is_asked = false")

    def take_soft_404(self, origin: str) -> bool:
        """Return whether the caller is to ask an origin; no other is, in this run."""
        rows = self._fetch(
            "INSERT INTO soft_404 AS s (origin, is_asked) VALUES ($1, true) ON CONFLICT"
            " (origin) DO UPDATE SET is_asked = true WHERE NOT s.is_asked RETURNING true",
            encode_text(origin),
        )
        return bool(rows)

    def note_soft_404(self, origin: str, url: str) -> None:
        """Remember what an origin has answered, as `Frontier.note_soft_404` does."""
        self._fetch(
            "UPDATE soft_404 SET url = $2 WHERE origin = $1",
            *(encode_text(origin), encode_text(url)),
        )

    def members(self) -> CrawlMembers:
        """Return the workers of the crawl, their stores, and its configuration."""
        ((config,),) = self._fetch("SELECT config FROM crawl")
        workers = self._fetch(
            "SELECT name FROM worker WHERE alive_until > server_time() ORDER BY id"
        )
        stores = self._fetch(
            "SELECT key::text, machine, location FROM store WHERE location <> '' ORDER BY id"
        )
        return CrawlMembers(
            config,
            [name for (name,) in workers],
            [StoreLocation(*row) for row in stores],
        )

    def made_at(self) -> str:
        """Return when the crawl was made, which distinguishes it from earlier crawls of that name."""
        ((made_at,),) = self._fetch(
            "SELECT extract(epoch FROM created_at)::text FROM crawl"
        )
        return str(made_at)

    def workers_of(self, store: StoreLocation) -> list[str]:
        """Return the names of the workers that keep what they fetch in a store now."""
        rows = self._fetch(
            f"SELECT name FROM worker WHERE alive_until > server_time() AND store = {STORE_ID}",
            store.key,
        )
        return [name for (name,) in rows]

    def unlist(self, store: StoreLocation) -> None:
        """No longer return a store with the members; a worker that has it lists it again."""
        self._fetch("SELECT frontier_unlist($1::uuid)", store.key)

    def count(self, state: State) -> int:
        return sum(self._counts(state))

    def count_non_pages(self, state: State) -> int:
        return self._counts(state)[1]

    def _counts(self, state: State) -> tuple[int, int]:
        """Return the numbers of pages and of other URLs in a state."""
        counted = {
            bool(is_non_page): int(urls)
            for word, is_non_page, urls in self._fetch(COUNTS)
            if word == state
        }
        return counted.get(False, 0), counted.get(True, 0)

    def outcome_counts(self) -> dict[OutcomeKey, Amount]:
        rows = self._fetch(
            "SELECT depth, state, reason, status, is_html, role, sum(urls)::bigint,"
            " sum(size_bytes)::bigint, min(first_at), max(last_at) FROM amount"
            " WHERE state <> 'queued' GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(urls) <> 0"
        )
        return amounts_of(rows)

    def hosts(self) -> list[HostCounts]:
        host_by_name: dict[str, HostCounts] = {}
        for name, depth, state, reason, is_html, urls, size, took, timed in self._fetch(
            HOSTS
        ):
            host = host_by_name.setdefault(name, HostCounts(name))
            if state is None:
                host.urls += urls
                continue
            kind = OutcomeKey(
                depth, State(state), reason_of_word(reason), None, is_html
            )
            host.count(kind, Outcome(kind.state, kind.reason), urls)
            host.size_bytes += size
            host.took_us += took or 0
            host.timed += timed
        return list(host_by_name.values())

    def slowest(self) -> list[UrlRecord]:
        return [_record(row) for row in self._fetch(SLOWEST, RANKED)]

    def redirects(self) -> dict[str, str]:
        rows = self._fetch(REDIRECTS)
        return {decode_text(url): decode_text(target) for url, target in rows}

    def queries(self) -> list[str]:
        """Return the newest URLs with a query, as `Frontier.queries` does."""
        rows = self._fetch(
            "SELECT url FROM url LEFT JOIN outcome USING (id, part)"
            " WHERE (strpos(url, '?') > 0 OR strpos(url, ';') > 0)"
            " AND refusal IS NULL AND state IS DISTINCT FROM 'excluded'"
            " ORDER BY id DESC LIMIT $1",
            MAX_QUERIES,
        )
        return [decode_text(url) for (url,) in reversed(rows)]

    def find(self, key: str) -> UrlRecord | None:
        rows = self._fetch(FIND, digest_of(key))
        return _record(rows[0]) if rows else None

    def known_url(self, origin: str) -> str:
        """Return the URL of an origin that got a response; empty if none is remembered."""
        rows = self._fetch("SELECT known_url FROM origin WHERE name = $1", origin)
        return decode_text(rows[0][0]) if rows else ""

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        condition = "true" if state is None else CONDITION_BY_STATE[state]
        yield from map(_record, self._iterate(condition))

    def store_records(self, store: StoreLocation) -> Iterator[UrlRecord]:
        """Return the records of what the workers of a store have fetched."""
        yield from map(_record, self._iterate(f"outcome.store = {STORE_ID}", store.key))

    def store_done(self, store: StoreLocation) -> int:
        """Return how many URLs the workers of a store have ended, or a few more."""
        rows = self._fetch("SELECT done FROM store WHERE key = $1::uuid", store.key)
        return int(rows[0][0]) if rows else 0

    def store_pages(self, store: StoreLocation) -> int:
        """Return how many pages the workers of a store have fetched."""
        sql = f"SELECT count(*) FROM outcome WHERE is_html AND store = {STORE_ID}"
        return int(self._fetch(sql, store.key)[0][0])

    def requeue_failed(self, reasons: Collection[str]) -> int:
        """Queue failed URLs again, as `Frontier.requeue_failed` does."""
        rows = self._fetch(
            "SELECT frontier_requeue(ARRAY(SELECT id FROM outcome"
            " WHERE state = 'failed' AND reason = ANY ($1)))",
            list(reasons),
        )
        return int(rows[0][0])

    def requeue_urls(self, urls: Collection[str]) -> int:
        """Queue URLs that have ended again, as `Frontier.requeue_urls` does."""
        requeued, rest = 0, iter(urls)
        while some := list(islice(rest, CHUNK)):
            rows = self._fetch(ENDED, [digest_of(dedup_key(url)) for url in some])
            # Of several spellings of a URL, one is stored.
            ids = [url_id for url_id, url in rows if decode_text(url) in urls]
            ((number,),) = self._fetch("SELECT frontier_requeue($1)", ids)
            requeued += number
        return requeued


async def _close(connection: Any) -> None:
    await connection.close(timeout=CLOSE_TIMEOUT_S)


async def _open_cursor(connection: Any, sql: str, args: Iterable[Any]) -> Any:
    return await connection.cursor(sql, *args)


def _record(row: Any) -> UrlRecord:
    return record_of(
        decode_text(value) if isinstance(value, str) else value for value in row[1:]
    )
