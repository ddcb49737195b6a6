"""The comparison with the previous crawl, kept while a SQLite frontier changes.

The pages and files of the previous crawl are in a table.  Each is marked when its URL is met,
and a difference is noted when a URL ends, so no comparison reads all URLs of both crawls.
"""

import abc
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Outcome
from crawler_app.base.reasons import (
    CONTENT,
    RETRYABLE,
    AnyReason,
    Reason,
    is_broken,
    reason_of_word,
)

__all__ = ["Differences", "PreviousCrawl", "SqlitePreviousCrawl"]

# Kinds of differences: those that are reported, and words that do not belong to a page now.
NEW, CHANGED, VANISHED, UNREACHABLE = "new", "changed", "vanished", "unreachable"
GONE = "gone"
KINDS = (NEW, CHANGED, VANISHED, UNREACHABLE, GONE)

SELECT_DIFFERENCES = """
SELECT url.url, url.reason FROM difference JOIN url ON url.id = url_id
WHERE kind = ? ORDER BY url_id
"""
SELECT_GONE = f"""
SELECT previous.url FROM difference JOIN previous ON previous.id = previous_id
WHERE kind = '{GONE}'
"""
CONTENT_WORDS = ", ".join(f"'{reason}'" for reason in sorted(CONTENT))
INSERT_CONTENT = f"""
INSERT INTO previous (key, url, digest, is_page)
SELECT key, url, CASE WHEN ? THEN coalesce(digest, '') END, is_html(content_type)
FROM url WHERE reason IN ({CONTENT_WORDS}) ORDER BY id
"""
# What is left are pages that this crawl did not see, so their words may be in the index.
DELETE_SEEN = f"""
DELETE FROM previous
WHERE NOT is_page OR (key, url) IN (
    SELECT key, url FROM url WHERE reason IN ({CONTENT_WORDS}) AND is_html(content_type)
)
"""

# A page that is fetched again, and may fail, has its words in the index.
KEEP_PAGE = """
INSERT INTO previous (key, url, is_page, is_met)
SELECT key, url, 1, 1 FROM url WHERE id = ?
"""

INSERT_BROKEN = """
INSERT INTO broken_before SELECT url FROM url
WHERE state = 'failed' AND is_broken(reason) ORDER BY id
"""

# The tables of one crawl.
CRAWL_TABLES = (
    *("url", "host", "origin", "tally", "unfinished", "slowest"),
    *("known", "saved", "difference", "soft_404"),
)


@dataclass(slots=True, frozen=True)
class Differences:
    """The differences between the finished URLs of a crawl and the previous crawl.

    Attributes:
        new: Pages and files that were not there before.
        changed: Those whose content has changed.
        unchanged: Number of those whose content is the same.
        vanished: Those that are gone, and why.
        unreachable: Those that failed with an error that may pass.
        was_whole: Whether the previous crawl had finished.
    """

    new: list[str]
    changed: list[str]
    unchanged: int
    vanished: list[tuple[str, AnyReason]]
    unreachable: list[str]
    was_whole: bool


class _Row(NamedTuple):
    """A row of the previous crawl; without a digest, it says only that words are kept."""

    id: int
    url: str
    digest: str | None
    is_page: bool


class PreviousCrawl(abc.ABC):
    """The pages and files of the previous crawl, and the differences from it."""

    @property
    @abc.abstractmethod
    def exists(self) -> bool:
        """Whether there was a previous crawl."""

    @abc.abstractmethod
    def differences(self) -> Differences | None:
        """Return what differs from it; None if there was none."""

    @abc.abstractmethod
    def unmet(self) -> list[str]:
        """Return its pages and files whose URLs were not met."""

    @abc.abstractmethod
    def broken_before(self) -> list[str]:
        """Return what was broken in it, with the URLs of redirect loops."""


class SqlitePreviousCrawl(PreviousCrawl):
    """The previous crawl of a frontier in SQLite.

    Args:
        db: The connection; its owner controls the transactions.
        content: Returns the number of pages and files of this crawl.
    """

    def __init__(self, db: sqlite3.Connection, content: Callable[[], int]) -> None:
        self._db = db
        self._content = content
        self._exists = db.execute("SELECT 1 FROM comparison").fetchone() is not None

    @property
    def exists(self) -> bool:
        return self._exists

    def meet(self, key: int) -> None:
        """Note that a URL was met, so that it is still linked."""
        self._db.execute("UPDATE previous SET is_met = 1 WHERE key = ?", (key,))

    def note(self, key: int, url_id: int, url: str, outcome: Outcome) -> None:
        """Note how a URL has ended."""
        rows = self._rows(key)
        kind = _kind_of(outcome, rows)
        if kind:
            self._insert(kind, url_id, 0)
        for row in rows:
            if row.is_page and _is_gone(row, url, outcome):
                self._insert(GONE, url_id, row.id)

    def forget(self, url_id: int, outcome: Outcome) -> None:
        """Undo `note`, for a URL that is to be fetched again."""
        if self._exists:
            self._db.executemany(
                "DELETE FROM difference WHERE kind = ? AND url_id = ?",
                [(kind, url_id) for kind in KINDS],
            )
        if _is_page(outcome):
            self._db.execute(KEEP_PAGE, (url_id,))

    def _rows(self, key: int) -> list[_Row]:
        rows = self._db.execute(
            "SELECT id, url, digest, is_page FROM previous WHERE key = ?", (key,)
        )
        return [_Row(*row) for row in rows]

    def _insert(self, kind: str, url_id: int, previous_id: int) -> None:
        self._db.execute(
            "INSERT INTO difference VALUES (?, ?, ?)", (kind, url_id, previous_id)
        )

    def differences(self) -> Differences | None:
        row = self._db.execute("SELECT was_whole FROM comparison").fetchone()
        if row is None:
            return None
        new, changed = self._urls(NEW), self._urls(CHANGED)
        return Differences(
            new,
            changed,
            self._content() - len(new) - len(changed),
            [
                (url, reason_of_word(reason))
                for url, reason in self._db.execute(SELECT_DIFFERENCES, (VANISHED,))
            ],
            self._urls(UNREACHABLE),
            bool(row[0]),
        )

    def _urls(self, kind: str) -> list[str]:
        return [url for url, _ in self._db.execute(SELECT_DIFFERENCES, (kind,))]

    def unmet(self) -> list[str]:
        rows = self._db.execute(
            "SELECT url FROM previous WHERE NOT is_met AND digest NOT NULL ORDER BY id"
        )
        return [url for (url,) in rows]

    def broken_before(self) -> list[str]:
        rows = self._db.execute("SELECT url FROM broken_before ORDER BY rowid")
        return [url for (url,) in rows]

    def gone(self, *, is_whole: bool) -> list[str]:
        """Return the URLs of pages whose words are to leave the index.

        Args:
            is_whole: Whether a page that was not met is gone.
        """
        gone = [url for (url,) in self._db.execute(SELECT_GONE)]
        if is_whole:
            unmet = "SELECT url FROM previous WHERE NOT is_met AND is_page"
            gone += [url for (url,) in self._db.execute(unmet)]
        return gone

    def forget_earlier(self) -> None:
        """Forget the pages of crawls before the previous one."""
        self._db.execute("DELETE FROM previous WHERE digest IS NULL")

    def begin_anew(
        self,
        *,
        is_compared: bool,
        was_whole: bool,
        loops: Iterable[str] = (),
    ) -> None:
        """Delete the URLs of the crawl, and keep what the next one is compared with.

        Args:
            is_compared: Whether that is this crawl, and not the one before it.
            was_whole: Whether this crawl had finished.
            loops: The URLs of redirect loops in this crawl.
        """
        db = self._db
        db.create_function("is_html", 1, is_html, deterministic=True)
        db.create_function("is_broken", 1, _is_broken, deterministic=True)
        if is_compared:
            db.execute(DELETE_SEEN)
            db.execute("UPDATE previous SET is_met = 0, digest = NULL")
            db.execute("DELETE FROM comparison")
            db.execute("INSERT INTO comparison VALUES (?)", (was_whole,))
            db.execute("DELETE FROM broken_before")
            db.execute(INSERT_BROKEN)
            db.executemany("INSERT INTO broken_before VALUES (?)", zip(loops))
        else:
            db.execute("UPDATE previous SET is_met = 0 WHERE is_met")
        db.execute(INSERT_CONTENT, (is_compared,))
        for table in CRAWL_TABLES:
            db.execute(f"DELETE FROM {table}")


def _is_page(outcome: Outcome) -> bool:
    return outcome.reason in CONTENT and is_html(outcome.content_type)


def _is_broken(word: str) -> bool:
    return is_broken(reason_of_word(word))


def _kind_of(outcome: Outcome, rows: Iterable[_Row]) -> str | None:
    """Return the difference that is reported of a URL; None if there is none."""
    digests = [row.digest for row in rows if row.digest is not None]
    if outcome.reason in CONTENT:
        if not digests:
            return NEW
        return None if outcome.digest in digests else CHANGED
    if not digests:
        return None
    return UNREACHABLE if outcome.reason in RETRYABLE else VANISHED


def _is_gone(row: _Row, url: str, outcome: Outcome) -> bool:
    """Return whether the words of an earlier page no longer belong to its URL."""
    if outcome.reason in CONTENT:
        return row.url != url or not _is_page(outcome)
    if outcome.reason == Reason.ROBOTS:
        return row.digest is None
    return outcome.reason not in RETRYABLE
