"""Remembers which external URLs existed when last checked, in one SQLite file.

A URL that was broken is not kept, so it is checked again in each run and its repair is noticed.
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import Self

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched
from crawler_app.store import database

__all__ = ["ExternalCache"]

SCHEMA = database.Schema(
    "a list of known URLs",
    1,
    frozenset({"external_url"}),
    """
CREATE TABLE external_url (
    url TEXT PRIMARY KEY,
    status INTEGER NOT NULL,
    location TEXT NOT NULL,
    asked_at REAL NOT NULL
) WITHOUT ROWID;
""",
    cure="delete it: then all external URLs are asked for again",
)


class ExternalCache:
    """Remembers which URLs exist.

    Args:
        path: The file; empty to remember nothing.
        max_age_s: Older entries do not count.

    Raises:
        ConfigError: the file is another program's, or cannot be opened.

    >>> kept = ExternalCache(":memory:", max_age_s=60.0)
    >>> kept.keep(Fetched("http://a.test/", 200, {}, b"", 0.1), now=0.0)
    >>> kept.find("http://a.test/", now=59.0).status, kept.find("http://a.test/", now=61.0)
    (200, None)
    >>> kept.close()
    """

    def __init__(self, path: Path | str = "", max_age_s: float = 0.0) -> None:
        self._max_age_s = max_age_s
        self._db: sqlite3.Connection | None = None
        if path and max_age_s:
            self._db = database.open_database(path, SCHEMA, read_only=False)

    @classmethod
    def of(cls, config: CrawlConfig, path: Path | None) -> Self:
        """Return the cache of a crawl; without a file or ``external``, it remembers nothing."""
        if path is None or not config.external:
            return cls()
        return cls(path, config.external_max_age_s)

    def find(self, url: str, now: float) -> Fetched | None:
        """Return a response like the last one; None if it is unknown or too old."""
        if self._db is None:
            return None
        row = self._db.execute(
            "SELECT status, location FROM external_url WHERE url = ? AND asked_at >= ?",
            (url, now - self._max_age_s),
        ).fetchone()
        if row is None:
            return None
        status, location = row
        return Fetched(url, status, {"Location": location}, b"", 0.0)

    def keep(self, fetched: Fetched, now: float) -> None:
        """Remember that a URL exists."""
        if self._db is None:
            return
        if not self._db.in_transaction:
            self._db.execute("BEGIN")
        self._db.execute(
            "INSERT OR REPLACE INTO external_url VALUES (?, ?, ?, ?)",
            (fetched.url, fetched.status, fetched.headers.get("Location", ""), now),
        )

    def close(self) -> None:
        """Write everything; what a kill loses is checked again."""
        if self._db is None:
            return
        with contextlib.closing(self._db):
            if self._db.in_transaction:
                self._db.execute("COMMIT")
