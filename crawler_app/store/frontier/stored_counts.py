"""The counts of a SQLite frontier: kept in memory, and written with each commit."""

import sqlite3
from collections import Counter
from operator import attrgetter

from crawler_app.base.models import Outcome, Role, State
from crawler_app.store.frontier.count_types import (
    RANKED,
    Amount,
    HostCounts,
    OutcomeKey,
    StateCounts,
    amounts_of,
)
from crawler_app.store.frontier.frontier_schema import SELECT_COUNTED, outcome_of

__all__ = ["SlowestFetches", "StoredCounts"]

# The counts that have columns of the same names.
AMOUNTS = ("urls", "size_bytes", "first_at", "last_at")
HOST_COUNTS = ("urls", "pages", "broken", "size_bytes", "took_us", "timed")

REPLACE_AMOUNT = "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
REPLACE_UNFINISHED = "INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?)"
ADD_TO_HOST = (
    f"UPDATE host SET {', '.join(f'{name} = {name} + ?' for name in HOST_COUNTS)}"
    " WHERE id = ?"
)
SELECT_HOSTS = (
    f"SELECT name, {', '.join(HOST_COUNTS)} FROM host WHERE urls > 0 ORDER BY id"
)

# Without URLs that have been fetched again since.
SELECT_SLOWEST = """
SELECT url_id FROM slowest JOIN url ON url.id = url_id AND url.took_s = slowest.took_s
ORDER BY slowest.took_s DESC, url_id LIMIT ?
"""

_amounts = attrgetter(*AMOUNTS)
_counts = attrgetter(*HOST_COUNTS)


class StoredCounts:
    """Counts the URLs by outcome and by host.

    Args:
        db: The connection; its owner controls the transactions.

    Attributes:
        amount_by_outcome: The finished URLs, by what they are counted by.
        unfinished_by_depth: The number of URLs queued or under way.
        non_pages_by_depth: How many of those are assets or external URLs.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._load()

    def _load(self) -> None:
        self.amount_by_outcome = amounts_of(self._db.execute("SELECT * FROM tally"))
        self._changed: set[OutcomeKey] = set()
        # What is to be added to the counts of the hosts, by their ids.
        self._change_by_host_id: dict[int, HostCounts] = {}
        unfinished = self._db.execute("SELECT * FROM unfinished").fetchall()
        self.unfinished_by_depth = Counter({row[0]: row[1] for row in unfinished})
        self.non_pages_by_depth = Counter({row[0]: row[2] for row in unfinished})

    def count(
        self,
        host_id: int,
        depth: int,
        outcome: Outcome,
        at: float | None = None,
        times: int = 1,
        role: Role = Role.LINK,
    ) -> None:
        """Count a URL that has ended, or with ``times=-1`` count it no more.

        Args:
            at: When it was finished, in seconds since the epoch.
        """
        kind = OutcomeKey.of(depth, outcome, role)
        self._changed.add(kind)
        amount = self.amount_by_outcome.get(kind)
        if amount is None:
            amount = self.amount_by_outcome[kind] = Amount()
        amount.count(outcome, at, times)
        self._change_of(host_id).count(kind, outcome, times)

    def count_unfinished(
        self, host_id: int, depth: int, urls: int, non_pages: int = 0
    ) -> None:
        """Count URLs that are to be fetched, or with a negative number no more.

        Args:
            non_pages: How many of them are assets or external URLs.
        """
        self.unfinished_by_depth[depth] += urls
        self.non_pages_by_depth[depth] += non_pages
        self._change_of(host_id).urls += urls

    def _change_of(self, host_id: int) -> HostCounts:
        host = self._change_by_host_id.get(host_id)
        if host is None:
            host = self._change_by_host_id[host_id] = HostCounts("")
        return host

    def hosts(self) -> list[HostCounts]:
        """Return the hosts that were or will be fetched from, in the order they were found."""
        self.write()
        return [HostCounts(*row) for row in self._db.execute(SELECT_HOSTS)]

    def by_state(self) -> StateCounts:
        """Return the counts by state; claimed URLs are counted as queued."""
        counts = StateCounts()
        queued = self.unfinished_by_depth.total(), self.non_pages_by_depth.total()
        counts.add(State.QUEUED, *queued)
        for kind, amount in self.amount_by_outcome.items():
            counts.add(kind.state, amount.urls, kind.role.is_non_page * amount.urls)
        return counts

    def write(self) -> None:
        """Write the changes into the transaction in which they were made."""
        if not self._change_by_host_id:
            return
        write = self._db.executemany
        write(REPLACE_AMOUNT, map(self._row, self._changed))
        non_pages = self.non_pages_by_depth
        unfinished = self.unfinished_by_depth.items()
        write(REPLACE_UNFINISHED, ((*each, non_pages[each[0]]) for each in unfinished))
        changes = self._change_by_host_id.items()
        write(ADD_TO_HOST, ((*_counts(host), host_id) for host_id, host in changes))
        self._changed.clear()
        self._change_by_host_id.clear()

    def _row(self, kind: OutcomeKey) -> tuple[object, ...]:
        depth, state, reason, status, is_html, role = kind
        amount = _amounts(self.amount_by_outcome[kind])
        return depth, state, reason, status or 0, is_html, role, *amount

    def count_again(self) -> None:
        """Count all URLs in the file, after a part of the changes was rolled back."""
        zeros = ", ".join(f"{name} = 0" for name in HOST_COUNTS)
        for change in (
            "DELETE FROM tally",
            "DELETE FROM unfinished",
            f"UPDATE host SET {zeros}",
        ):
            self._db.execute(change)
        self._load()
        for host_id, depth, role, at, *values in self._db.execute(SELECT_COUNTED):
            outcome = outcome_of(*values)
            if outcome is None:
                self.count_unfinished(host_id, depth, 1, Role(role).is_non_page)
            else:
                self.count(host_id, depth, outcome, at, role=Role(role))


class SlowestFetches:
    """Keeps the slowest fetches in their table; most fetches cost a comparison.

    Of fetches that took equally long, those that ended first are kept.

    Args:
        db: As for `StoredCounts`.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._load()

    def _load(self) -> None:
        """Find out below which time a fetch is not among the slowest."""
        times = self._db.execute("SELECT took_s FROM slowest ORDER BY took_s DESC")
        kept = times.fetchmany(RANKED)
        self._least_s = kept[-1][0] if len(kept) == RANKED else -1.0
        self._added = 0

    def note(self, url_id: int, took_s: float | None) -> None:
        """Keep a fetch if it is among the slowest."""
        if took_s is None or took_s <= self._least_s:
            return
        self._db.execute(
            "INSERT OR IGNORE INTO slowest VALUES (?, ?)", (took_s, url_id)
        )
        self._added += 1
        if self._added == RANKED:
            self._load()
            self._db.execute("DELETE FROM slowest WHERE took_s < ?", (self._least_s,))

    def url_ids(self) -> list[int]:
        """Return the ids of the URLs, the slowest first."""
        return [url_id for (url_id,) in self._db.execute(SELECT_SLOWEST, (RANKED,))]
