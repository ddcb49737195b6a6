"""The file of a memory: SQLite, and what is read from it.

Rule: a method that changes something is called in a transaction.
"""

import contextlib
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from crawler_app.show.watch.memory_schema import MEMORY
from crawler_app.show.watch.notices.notice import Event
from crawler_app.store.database import open_database

__all__ = ["DAY_S", "MemoryFile", "concerns"]

DAY_S = 86400.0


class MemoryFile:
    """The memory of a watch, as it is on disk.

    Args:
        path: The file, or ``:memory:``.

    Raises:
        ConfigError: the file is not a memory, or of another version.
    """

    def __init__(self, path: Path | str) -> None:
        self.db = open_database(path, MEMORY, read_only=False)
        self.db.row_factory = sqlite3.Row
        # What was told must be known even after a power failure.
        self.db.execute("PRAGMA synchronous = FULL")
        if not self.fact("id"):
            self.set_fact("id", uuid.uuid4().hex)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def copy(self) -> Self:
        """Return a copy that is not on disk."""
        made = type(self)(":memory:")
        self.db.backup(made.db)
        return made

    # -- events ---------------------------------------------------------------------------

    def add_event(
        self,
        at: float,
        site: str,
        kind: str,
        target: str = "",
        words: str = "",
        place: str = "",
        places: int = 0,
        since: float = 0.0,
    ) -> None:
        """Note something to tell."""
        self.db.execute(
            "INSERT INTO event (at, site, kind, target, words, place, places, since) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (at, site, kind, target, words, place, places, since),
        )

    def events_after(self, id: int, most: int | None = None) -> list[Event]:
        """Return the events after one, the oldest first; at most the last ones."""
        rows = self.rows(
            "SELECT * FROM (SELECT * FROM event WHERE id > ? ORDER BY id DESC LIMIT ?) "
            "ORDER BY id",
            *(id, -1 if most is None else most),
        )
        return [_event_of(row) for row in rows]

    # -- for people ---------------------------------------------------------------------

    @property
    def id(self) -> str:
        """A word that no other memory has."""
        return self.fact("id")

    def dead(self, sites: Sequence[str] = ()) -> list[Event]:
        """Return what is dead or flapping now, the newest first."""
        rows = self.rows(
            "SELECT id, last_seen AS at, site, state AS kind, target, words, place, places, "
            "first_seen AS since FROM finding WHERE state != 'fine' "
            "ORDER BY first_seen DESC, id DESC"
        )
        return [each for each in map(_event_of, rows) if concerns(each, sites)]

    def runs(self, site: str, since: float) -> list[sqlite3.Row]:
        """Return the checks of a site, the oldest first."""
        return self.rows(
            "SELECT * FROM run WHERE site = ? AND at >= ? ORDER BY at", site, since
        )

    def findings(self, site: str, most: int) -> list[sqlite3.Row]:
        """Return findings of a site: those that are dead, suspected, and mended, in this order."""
        return self.rows(
            "SELECT * FROM finding WHERE site = ? ORDER BY state = 'fine', "
            "failing_since IS NULL, last_seen DESC, id DESC LIMIT ?",
            *(site, most),
        )

    def counts(self, site: str) -> sqlite3.Row:
        """Return the numbers of findings of a site: dead, flapping and suspected."""
        return self.rows(
            "SELECT count(*) FILTER (WHERE state = 'dead') AS dead, "
            "count(*) FILTER (WHERE state = 'flapping') AS flapping, "
            "count(*) FILTER (WHERE state = 'fine' AND failing_since IS NOT NULL) "
            "AS suspected, count(*) AS total FROM finding WHERE site = ?",
            site,
        )[0]

    def spells(self, finding: int, since: float) -> list[tuple[float, float | None]]:
        """Return the times in which a finding was there."""
        rows = self.rows(
            "SELECT * FROM spell WHERE finding = ? AND coalesce(ended_at, ?) >= ? "
            "ORDER BY began_at",
            *(finding, since, since),
        )
        return [(row["began_at"], row["ended_at"]) for row in rows]

    # -- SQLite ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done meanwhile, or none of it."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        return self.db.execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> Any:
        """Return the first value of a query; None if there is none."""
        row = self.db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def fact(self, name: str) -> str:
        """Return what was noted under a name; empty for nothing."""
        return self.one("SELECT value FROM fact WHERE name = ?", name) or ""

    def set_fact(self, name: str, value: str) -> None:
        """Note something under a name."""
        self.db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))


def _event_of(row: sqlite3.Row) -> Event:
    names = ("id", "at", "site", "kind", "target", "words", "place", "places", "since")
    return Event(**{name: row[name] for name in names})


def concerns(event: Event, sites: Sequence[str]) -> bool:
    """Return whether an event is about one of some sites; none stands for all."""
    return not sites or not event.site or event.site in sites
