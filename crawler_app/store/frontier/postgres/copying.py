"""Copies the frontier of a crawl from its SQLite files into PostgreSQL.

Rule: everything is one transaction, so that a copy that fails, or is killed, leaves a crawl that
has not begun.
"""

import collections
import math
import time
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.base.models import Claim, State
from crawler_app.base.progress import OnStep
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import dedup_key, host_of
from crawler_app.store.frontier.count_types import Amount
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    connect,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import decode, encode, encode_text
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.sqlite_rows import (
    FrontierRows,
    HostNumbers,
    StoredFile,
)
from crawler_app.store.frontier.postgres.step_changes import (
    ChangeBatch,
    HostChanges,
    digest_of,
)
from gencoro import gen

__all__ = ["Beginning", "copy_frontier"]

COLUMNS = {
    "host": "id name free_at gap_s known_until turn",
    "url": "id digest via host_id depth redirects_left part role is_target refusal url",
    "outcome": "id part state tries store finished_at reason status is_html content_type "
    "size_bytes took_s title error redirect_to canonical digest note",
    "queue": "id due_at host_id turn depth tries role",
    "crossing": "id part via_digest via_part",
    "queried": "path",
    "origin": "name known_url",
    "amount": "worker depth state reason status is_html role urls size_bytes first_at last_at",
}

# For statements that read everything that was copied.
LONG_S = 24 * 3600.0

# What is read when all URLs are there.
MAKE_TEMPORARY = """
CREATE TEMPORARY TABLE crossing (id bigint, part smallint, via_digest uuid, via_part smallint)
ON COMMIT DROP;
CREATE TEMPORARY TABLE queried (path uuid) ON COMMIT DROP
"""

COUNT_QUERIES = "INSERT INTO path SELECT path, count(*) FROM queried GROUP BY path"

# The server would otherwise take the tables for empty.
ANALYZE = "ANALYZE host, url, outcome, queue, crossing"

SET_VIA = """
UPDATE url SET via = found.id FROM crossing JOIN url AS found
    ON found.digest = crossing.via_digest AND found.part = crossing.via_part
WHERE url.id = crossing.id AND url.part = crossing.part
"""

COUNT_QUEUED = """
INSERT INTO amount
SELECT 0, depth, 'queued', '', 0, false, role, count(*), 0, NULL, NULL FROM queue
GROUP BY depth, role
"""

# Links of parts that are added in one step.
LINKS_A_STEP = 100


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
    files: Sequence[StoredFile],
    beginning: Beginning,
    *,
    partitions: int,
    on_step: OnStep,
) -> Generator[Any, Any, int]:
    """Copy the files of a crawl; return how many URLs, 0 if that was done before.

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
        copy = _Copy(connection, files, beginning, on_step)
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
        files: Sequence[StoredFile],
        beginning: Beginning,
        on_step: OnStep,
    ) -> None:
        self._connection = connection
        self._files = files
        self._beginning = beginning
        self._on_step = on_step
        self._hosts = HostNumbers(1)
        self._shift_s = 0.0

    def run(self, location: CrawlLocation) -> Subgenerator[int]:
        partitions = yield self._connection.fetchval(
            "SELECT partitions FROM crawl WHERE config IS NULL FOR UPDATE"
        )
        if partitions is None:
            yield from self._check_copied(location)
            return 0
        self._hosts = HostNumbers(partitions)
        now_s = yield self._connection.fetchval("SELECT server_time()")
        self._shift_s = now_s - time.time()
        yield from self._copy_hosts()
        urls = yield from self._copy_urls()
        yield from self._copy_amounts()
        yield from self._set_sequences()
        yield self._connection.execute(ANALYZE, timeout=LONG_S)
        yield self._connection.execute(SET_VIA, timeout=LONG_S)
        yield from self._hand_over_links()
        return urls

    def _check_copied(self, location: CrawlLocation) -> Subgenerator[None]:
        """Refuse a crawl that has begun otherwise than by this copy."""
        keys = [file.store.key for file in self._files]
        is_ours = yield self._connection.fetchval(
            "SELECT true FROM store WHERE key = ANY ($1::uuid[])", keys
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
        """Copy the hosts; two files may know the same one."""
        host_by_number: dict[int, tuple[str, float, int | None]] = {}
        url_by_origin: dict[str, str] = {}
        for file in self._files:
            for number, name, free_at, turn in file.note_hosts(self._hosts):
                _, other_at, other = host_by_number.get(number, ("", 0.0, None))
                turns = [each for each in (turn, other) if each is not None]
                host_by_number[number] = (
                    *(name, max(free_at, other_at)),
                    min(turns, default=None),
                )
            url_by_origin.update(file.origins())
        gap_s, shift_s = self._beginning.gap_s, self._shift_s
        # What their robots.txt say is learned again.
        known_until = 0.0 if self._beginning.asks_robots else math.inf
        yield self._copy_rows(
            "host",
            (
                (number, name, free_at + shift_s, gap_s, known_until, turn)
                for number, (name, free_at, turn) in host_by_number.items()
            ),
        )
        yield self._copy_rows(
            "origin",
            (tuple(map(encode_text, origin)) for origin in url_by_origin.items()),
        )

    def _copy_urls(self) -> Subgenerator[int]:
        yield self._connection.execute(MAKE_TEMPORARY)
        total = sum(file.total() for file in self._files)
        copied = 0
        for file in self._files:
            store_id = yield from self._add_store(file)
            for rows in file.rows(self._hosts, store_id, self._shift_s):
                yield from self._copy_chunk(rows)
                copied += len(rows.url)
                self._on_step("copying URLs", copied, total)
        return copied

    def _copy_chunk(self, rows: FrontierRows) -> Subgenerator[None]:
        for table in ("url", "outcome", "queue", "crossing", "queried"):
            if found := getattr(rows, table):
                yield self._copy_rows(table, found)

    def _add_store(self, file: StoredFile) -> Subgenerator[int]:
        store_id: int = yield self._connection.fetchval(
            "INSERT INTO store (id, key, machine, location, done)"
            " VALUES (nextval('store_id'), $1, $2, $3, $4) RETURNING id",
            *file.store,
            file.done(),
        )
        return store_id

    def _copy_amounts(self) -> Subgenerator[None]:
        """Copy the counts, those of several files together."""
        found: dict[tuple[Any, ...], list[Amount]] = collections.defaultdict(list)
        for file in self._files:
            for depth, state, reason, status, is_html, role, *amount in file.amounts():
                kind = (0, depth, state, reason, status, bool(is_html), role)
                found[kind].append(Amount(*amount))
        yield self._copy_rows(
            "amount", ((*kind, *_sum(amounts)) for kind, amounts in found.items())
        )
        yield self._connection.execute(COUNT_QUEUED, timeout=LONG_S)
        yield self._connection.execute(COUNT_QUERIES, timeout=LONG_S)
        yield from self._begin(
            sum(
                amount.urls
                for (_, _, state, _, _, _, role), amounts in found.items()
                for amount in amounts
                if state in (State.DONE, State.FAILED) and role < 2
            )
        )

    def _begin(self, begun_pages: int) -> Subgenerator[None]:
        config, gap_s, max_pages, max_bytes, _ = self._beginning
        left = None if max_pages is None else max(0, max_pages - begun_pages)
        sql = "SELECT frontier_begin($1, $2, $3, $4)"
        yield self._connection.fetchval(sql, config, gap_s, left, max_bytes)

    def _set_sequences(self) -> Subgenerator[None]:
        last_url = max(file.last_place() for file in self._files)
        for name, last in (("url_id", last_url), ("host_id", len(self._hosts))):
            if last:
                yield self._connection.execute("SELECT setval($1, $2)", name, last)

    def _hand_over_links(self) -> Subgenerator[None]:
        """Add the links that parts had not handed over, as a worker does."""
        links = [each for file in self._files for each in file.outgoing()]
        if not links:
            return
        number, epoch, _ = decode(
            (
                yield self._connection.fetchval(
                    "SELECT frontier_join('copying', $1, $2, $3, 60, NULL)",
                    *self._files[0].store,
                )
            )
        )
        for step, start in enumerate(range(0, len(links), LINKS_A_STEP), 1):
            batch = ChangeBatch()
            for via, candidates in links[start : start + LINKS_A_STEP]:
                found = yield from self._find(via)
                batch.add(candidates, *found)
            yield self._connection.fetchval(
                "SELECT frontier_step($1, $2, $3, $4, NULL)",
                *(number, epoch, step, encode(self._step_of(batch))),
            )
        yield self._connection.execute("SELECT frontier_leave($1, $2)", number, epoch)

    def _step_of(self, batch: ChangeBatch) -> dict[str, Any]:
        """Return a step that adds what is in a batch, and asks for nothing."""
        return batch.body(HostChanges()) | {
            "wanted": 0,
            "lease_s": 0,
            "max_depth": None,
            "per_host": None,
            "asks_robots": self._beginning.asks_robots,
            "max_queries": None,
            "asks": [],
            "held": 0,
            "late_at": None,
            "at": time.time(),
            "alive_s": 60,
        }

    def _find(self, url: str) -> Subgenerator[tuple[Claim | None, str]]:
        """Return what led to links, and where it redirects to."""
        part = self._hosts.part_of(host_of(url)) if url else None
        row = yield self._connection.fetchrow(
            "SELECT id, coalesce(redirect_to, '') FROM url LEFT JOIN outcome"
            " USING (id, part) WHERE url.digest = $1::uuid AND part = $2",
            digest_of(dedup_key(url)),
            part,
        )
        if row is None:
            return None, ""
        return Claim(row[0], url, "", 0, 0, 0, 0.0), row[1]


def _sum(amounts: list[Amount]) -> tuple[int, int, float | None, float | None]:
    total = Amount()
    for amount in amounts:
        total.add(amount)
    return total.urls, total.size_bytes, total.first_at, total.last_at
