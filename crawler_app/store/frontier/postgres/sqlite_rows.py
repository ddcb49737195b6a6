"""Reads the SQLite files of a crawl as the rows that its frontier has in PostgreSQL.

Rule: the id of a URL there follows from its id here, so nothing is remembered of a URL, and the
order in which they were found stays.
"""

import functools
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Candidate, Role, State
from crawler_app.base.reasons import CONTENT
from crawler_app.base.urls import bare_path, dedup_key, has_query, host_of
from crawler_app.store.frontier.frontier_schema import (
    OUTCOME_COLUMNS,
    SCHEMA,
    open_database,
)
from crawler_app.store.frontier.part import PART_SCHEMA, candidates_of
from crawler_app.store.frontier.postgres.encoding import encode_text
from crawler_app.store.frontier.postgres.location import StoreLocation
from crawler_app.store.frontier.postgres.step_changes import digest_of

__all__ = ["FrontierRows", "HostNumbers", "OutgoingLinks", "StoredFile"]

# Rows that are read, and sent, at once.
CHUNK = 10_000

SELECT_HOSTS = """
SELECT id, name, free_at, (SELECT min(turn) FROM url
    WHERE host_id = host.id AND state = 'queued' AND alarm_at IS NULL)
FROM host ORDER BY id
"""

# The last two columns are of what led to a URL from another part.
SELECT_URLS = """
SELECT url.id, url.url, url.host_id, url.state, url.depth, url.redirects_left, url.role,
    url.turn, url.tries, url.alarm_at, url.finished_at, via.id, via.host_id, via.redirect_to,
    {outcome}, {elsewhere}
FROM url LEFT JOIN url AS via ON via.id = url.via {join} ORDER BY url.id
"""
JOIN_ELSEWHERE = "LEFT JOIN found_elsewhere AS elsewhere ON elsewhere.url_id = url.id"


class OutgoingLinks(NamedTuple):
    """Links that one part had not handed over to another."""

    via: str
    candidates: list[Candidate]


@dataclass(slots=True)
class FrontierRows:
    """The rows of the tables; ``crossing`` has the URLs that were found from other parts, and
    ``queried`` the path of each URL with a query."""

    url: list[tuple[Any, ...]] = field(default_factory=list)
    outcome: list[tuple[Any, ...]] = field(default_factory=list)
    queue: list[tuple[Any, ...]] = field(default_factory=list)
    crossing: list[tuple[Any, ...]] = field(default_factory=list)
    queried: list[tuple[Any, ...]] = field(default_factory=list)


class HostNumbers:
    """The hosts of all files, with their numbers there.

    Args:
        partitions: Of the tables.

    >>> hosts = HostNumbers(partitions=8)
    >>> hosts.number_of("a.test"), hosts.number_of("b.test"), hosts.number_of("a.test")
    (1, 2, 1)
    """

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._number_by_name: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._number_by_name)

    def number_of(self, name: str) -> int:
        """Return the number of a host; a new one gets the next."""
        return self._number_by_name.setdefault(name, len(self) + 1)

    def part_of(self, name: str) -> int | None:
        """Return the partition of the URLs of a host; None if it is unknown."""
        number = self._number_by_name.get(name)
        return None if number is None else number % self._partitions

    def partition(self, number: int) -> int:
        """Return the partition of the URLs of a host, by its number."""
        return number % self._partitions


class StoredFile:
    """The file of a frontier, or of a part.

    Args:
        store: Where the responses to its URLs are.
        number: Tells the files of one crawl apart: 0, 1 and so on.
        files: How many there are.

    Raises:
        ConfigError: it is not such a file.
    """

    def __init__(
        self,
        path: Path,
        store: StoreLocation,
        number: int,
        files: int,
        *,
        is_part: bool,
    ) -> None:
        self.store = store
        self._number, self._files = number, files
        self._is_part = is_part
        schema = PART_SCHEMA if is_part else SCHEMA
        self._db = open_database(path, read_only=True, schema=schema)
        self._number_by_id: dict[int, int] = {}

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

    def last_place(self) -> int:
        """Return the place of the last URL, see `_place`."""
        (last_id,) = self._db.execute("SELECT coalesce(max(id), 0) FROM url").fetchone()
        return self._place(last_id)

    def has_previous(self) -> bool:
        """Return whether there was a previous crawl to compare with."""
        return self._db.execute("SELECT 1 FROM comparison").fetchone() is not None

    def amounts(self) -> sqlite3.Cursor:
        """Return the counts of the URLs that have ended."""
        return self._db.execute("SELECT * FROM tally")

    def origins(self) -> sqlite3.Cursor:
        """Return the origins that have responded, with a URL that did."""
        return self._db.execute("SELECT name, known_url FROM origin")

    def note_hosts(
        self, hosts: HostNumbers
    ) -> Iterator[tuple[int, str, float, int | None]]:
        """Yield number, name, hold of each host, and the least turn of its due URLs."""
        for host_id, name, free_at, turn in self._db.execute(SELECT_HOSTS):
            number = self._number_by_id[host_id] = hosts.number_of(name)
            yield number, encode_text(name), free_at, turn

    def rows(
        self, hosts: HostNumbers, store_id: int, shift_s: float
    ) -> Iterator[FrontierRows]:
        """Yield the URLs, some at once.

        Args:
            store_id: Of `store`.
            shift_s: What is added to times that are to come, for the clock of the server.
        """
        elsewhere = "elsewhere.via, elsewhere.redirects" if self._is_part else "'', ''"
        outcome = ", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)
        join = JOIN_ELSEWHERE if self._is_part else ""
        found = self._db.execute(
            SELECT_URLS.format(outcome=outcome, elsewhere=elsewhere, join=join)
        )
        while chunk := found.fetchmany(CHUNK):
            rows = FrontierRows()
            for row in chunk:
                self._convert(row, rows, hosts, store_id, shift_s)
            yield rows

    def _place(self, url_id: int) -> int:
        """Return the place of a URL among those of all files."""
        return url_id * self._files + self._number

    def _id(self, url_id: int, partition: int) -> int:
        return self._place(url_id) << 10 | partition

    def _convert(
        self,
        row: tuple[Any, ...],
        rows: FrontierRows,
        hosts: HostNumbers,
        store_id: int,
        shift_s: float,
    ) -> None:
        """Add the rows of one URL."""
        url_id, url, host_id, state, depth, redirects_left, role, turn, tries = row[:9]
        alarm_at, finished_at, via_id, via_host_id, redirect_to = row[9:14]
        outcome, (elsewhere, redirects) = row[14:-2], row[-2:]
        host = self._number_by_id[host_id]
        part = hosts.partition(host)
        there = self._id(url_id, part)
        key = dedup_key(url)
        via = None
        is_target = redirects not in (None, "", "[]")
        if via_id is not None:
            via = self._id(via_id, hosts.partition(self._number_by_id[via_host_id]))
            is_target = bool(redirect_to) and dedup_key(redirect_to) == key
        # What was refused when it was found has not ended: it never began.
        is_refused = state == State.EXCLUDED and finished_at is None
        rows.url.append(
            (
                *(there, digest_of(key), via, host, depth, redirects_left, part, role),
                *(is_target, outcome[0] if is_refused else None, encode_text(url)),
            )
        )
        if elsewhere and (via_part := hosts.part_of(host_of(elsewhere))) is not None:
            via_digest = digest_of(dedup_key(elsewhere))
            rows.crossing.append((there, part, via_digest, via_part))
        if not is_refused and role != Role.EXTERNAL and has_query(url):
            rows.queried.append((digest_of(bare_path(url)),))
        if state == State.QUEUED:
            due_at = None if alarm_at is None else alarm_at + shift_s
            rows.queue.append((there, due_at, host, turn, depth, tries, role))
        elif not is_refused:
            ended = (there, part, state, tries, store_id, finished_at)
            rows.outcome.append((*ended, *_outcome_row(*outcome)))

    def outgoing(self) -> Iterator[OutgoingLinks]:
        """Yield the links that this part had not handed over."""
        if self._is_part:
            for (text,) in self._db.execute("SELECT links FROM outgoing ORDER BY id"):
                yield OutgoingLinks(*candidates_of(text))


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
