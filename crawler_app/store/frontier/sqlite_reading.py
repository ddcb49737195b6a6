"""What can be read of a frontier in a SQLite file.

Rule: nothing here changes the file.  Used by `crawler_app.store.frontier.sqlite`, which makes the
transitions.
"""

import functools
import hashlib
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crawler_app.base.models import State, UrlRecord
from crawler_app.base.reasons import CONTENT
from crawler_app.store.database import open_database, unusable
from crawler_app.store.frontier import MAX_QUERIES, FrontierReader
from crawler_app.store.frontier.count_types import Amount, HostCounts, OutcomeKey
from crawler_app.store.frontier.frontier_schema import (
    HAS_QUERY,
    SCHEMA,
    SELECT_RECORDS,
    record_of,
)
from crawler_app.store.frontier.key_set import KEY_BITS
from crawler_app.store.frontier.previous_crawl import SqlitePreviousCrawl
from crawler_app.store.frontier.stored_counts import SlowestFetches, StoredCounts

__all__ = ["SqliteReader"]


class SqliteReader(FrontierReader):
    """The reading half of a `crawler_app.store.frontier.sqlite.SqliteFrontier`.

    Args:
        path: The file; created if it does not exist, unless it is only read.
        read_only: Read one snapshot, so that counts and records agree, even while another
            process writes.

    Raises:
        ConfigError: the file is not a frontier, or has another version.
    """

    previous: SqlitePreviousCrawl

    def __init__(self, path: Path | str, *, read_only: bool) -> None:
        is_temporary = not str(path)
        self._db = open_database(
            path, SCHEMA, read_only=read_only, any_thread=is_temporary
        )
        self._close: Callable[[], object] = self._db.close
        if is_temporary:
            # It goes with what has opened it, perhaps by the garbage collector, which runs in
            # any thread.
            self._close = weakref.finalize(self, self._db.close)
        self._is_read_only = read_only
        try:
            if read_only:
                self._db.execute("BEGIN")  # all later statements read one snapshot
            self._load()
        except sqlite3.Error as exc:
            self._db.close()
            raise unusable(path, SCHEMA, exc) from None
        except BaseException:
            self._db.close()
            raise

    def _load(self) -> None:
        """Load the in-memory state from the file."""
        self._stored_counts, self._slowest = (
            StoredCounts(self._db),
            SlowestFetches(self._db),
        )
        self.previous = SqlitePreviousCrawl(self._db, self._content)
        self._counts = self._stored_counts.by_state()
        (secret,) = self._db.execute("SELECT bytes FROM secret").fetchone()
        keyed = hashlib.blake2b(digest_size=8, salt=secret)
        # Most are asked for two or three times: when a link is met, and when it is added.
        self._hashed = functools.lru_cache(256)(functools.partial(_hashed, keyed))

    def close(self) -> None:
        self._close()

    def count(self, state: State) -> int:
        return self._counts.urls[state]

    def count_non_pages(self, state: State) -> int:
        return self._counts.non_pages[state]

    def outcome_counts(self) -> dict[OutcomeKey, Amount]:
        counts = self._stored_counts.amount_by_outcome
        return {key: amount for key, amount in counts.items() if amount.urls}

    def hosts(self) -> list[HostCounts]:
        return self._stored_counts.hosts()

    def slowest(self) -> list[UrlRecord]:
        return [self._record(url_id) for url_id in self._slowest.url_ids()]

    def _record(self, url_id: int) -> UrlRecord:
        rows = self._db.execute(f"{SELECT_RECORDS} WHERE url.id = ?", (url_id,))
        return self._record_of(rows.fetchone())

    def _content(self) -> int:
        """Return the number of pages and files."""
        counts = self._stored_counts.amount_by_outcome.items()
        return sum(amount.urls for key, amount in counts if key.reason in CONTENT)

    def redirects(self) -> dict[str, str]:
        rows = self._db.execute(
            "SELECT url, redirect_to FROM url WHERE reason = 'redirect' ORDER BY id"
        )
        return dict(rows.fetchall())

    def queries(self) -> Iterator[str]:
        rows = self._db.execute(
            "SELECT url FROM (SELECT id, url FROM url"
            f" WHERE ({HAS_QUERY}) AND state != 'excluded' ORDER BY id DESC LIMIT ?)"
            " ORDER BY id",
            (MAX_QUERIES,),
        )
        return (url for (url,) in rows)

    def find(self, key: str) -> UrlRecord | None:
        # An index of all keys would cost each new URL more than its row.  This is asked for
        # start URLs and what they lead to, which are soon found.
        number = self._hashed(key)
        for condition in ("key = ? AND depth = 0", "key = ?"):
            row = self._db.execute(
                f"SELECT id FROM url WHERE {condition} LIMIT 1", (number,)
            ).fetchone()
            if row is not None:
                return self._record(row[0])
        return None

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        # In the file, a claimed URL is queued.
        stored = State.QUEUED if state is State.CLAIMED else state
        condition = "" if stored is None else f"WHERE url.state = '{stored}'"
        for row in self._db.execute(f"{SELECT_RECORDS} {condition} ORDER BY url.id"):
            record = self._record_of(row)
            if state is None or record.state is state:
                yield record

    def _record_of(self, row: tuple[Any, ...]) -> UrlRecord:
        return record_of(row[1:])

    def soft_404s(self) -> list[str]:
        rows = self._db.execute("SELECT url FROM soft_404 WHERE url <> '' ORDER BY url")
        return [url for (url,) in rows]


def _hashed(keyed: "hashlib.blake2b", key: str) -> int:
    """Return the number that is stored for a key.

    If two URLs shared a number, the second would be lost: at a million URLs the odds are 1 in
    18 million, at ten million 1 in 180,000.  Collisions cannot be made on purpose without the
    secret of the file.
    """
    keyed = keyed.copy()  # takes half the time of a new one
    keyed.update(key.encode(errors="surrogatepass"))
    return int.from_bytes(keyed.digest()) >> (64 - KEY_BITS)
