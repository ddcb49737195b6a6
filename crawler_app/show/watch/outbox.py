"""The notices, from the time when there is something to tell until it is told.

Rule: a notice is in the memory before it is sent, and has its id from then on.
"""

import sqlite3
import uuid
from collections.abc import Sequence

from crawler_app.show.watch.memory_file import MemoryFile, concerns
from crawler_app.show.watch.notices.notice import Notice

__all__ = ["Outbox"]


class Outbox:
    """The notices of a memory."""

    def __init__(self, memory: MemoryFile) -> None:
        self.memory = memory

    def open_channel(self, name: str) -> str:
        """Begin to tell a channel what happens from now on; return its memo."""
        with self.memory.transaction():
            self.memory.db.execute(
                "INSERT OR IGNORE INTO channel "
                "SELECT ?, coalesce(max(id), 0), '' FROM event",
                (name,),
            )
        memo: str = self.memory.one("SELECT memo FROM channel WHERE name = ?", name)
        return memo

    def next_notice(
        self, channel: str, sites: Sequence[str], now: float
    ) -> Notice | None:
        """Return the oldest notice that was not sent, or a new one; None if all is told."""
        row = self._unsent(channel)
        if row is None:
            self._make_notice(channel, sites, now)
            row = self._unsent(channel)
        if row is None:
            return None
        events = [
            each
            for each in self.memory.events_after(row["first_event"] - 1)
            if each.id <= row["last_event"] and concerns(each, sites)
        ]
        return Notice(row["id"], row["made_at"], events, self.memory.dead(sites))

    def _make_notice(self, channel: str, sites: Sequence[str], now: float) -> None:
        with self.memory.transaction():
            last = self.memory.one(
                "SELECT last_event FROM channel WHERE name = ?", channel
            )
            events = self.memory.events_after(last)
            if not events:
                return
            if any(concerns(each, sites) for each in events):
                self.memory.db.execute(
                    "INSERT INTO notice VALUES (?, ?, ?, ?, ?, 0, 0, NULL, '')",
                    (uuid.uuid4().hex, channel, events[0].id, events[-1].id, now),
                )
            self.memory.db.execute(
                "UPDATE channel SET last_event = ? WHERE name = ?",
                (events[-1].id, channel),
            )

    def _unsent(self, channel: str) -> sqlite3.Row | None:
        rows = self.memory.rows(
            "SELECT * FROM notice WHERE channel = ? AND sent_at IS NULL "
            "ORDER BY first_event LIMIT 1",
            channel,
        )
        return rows[0] if rows else None

    def next_try_at(self, channel: str) -> float:
        """Return when the oldest unsent notice may be tried again."""
        row = self._unsent(channel)
        return 0.0 if row is None else float(row["next_try_at"])

    def begin_try(self, notice: Notice) -> int:
        """Count a try before it is made; return the number of those before."""
        with self.memory.transaction():
            self.memory.db.execute(
                "UPDATE notice SET tries = tries + 1 WHERE id = ?", (notice.id,)
            )
        tries: int = self.memory.one("SELECT tries FROM notice WHERE id = ?", notice.id)
        return tries - 1

    def note_sent(self, notice: Notice, channel: str, memo: str, now: float) -> None:
        """Note that a notice was sent."""
        with self.memory.transaction():
            self.memory.db.execute(
                "UPDATE notice SET sent_at = ?, error = '' WHERE id = ?",
                (now, notice.id),
            )
            self.memory.db.execute(
                "UPDATE channel SET memo = ? WHERE name = ?", (memo, channel)
            )

    def note_failure(
        self, notice: Notice, channel: str, memo: str, error: str, next_try_at: float
    ) -> None:
        """Note that a notice was not sent, and when to try again."""
        with self.memory.transaction():
            self.memory.db.execute(
                "UPDATE notice SET error = ?, next_try_at = ? WHERE id = ?",
                (error, next_try_at, notice.id),
            )
            self.memory.db.execute(
                "UPDATE channel SET memo = ? WHERE name = ?", (memo, channel)
            )

    def unsent(self) -> list[sqlite3.Row]:
        """Return the notices that were not sent."""
        return self.memory.rows(
            "SELECT * FROM notice WHERE sent_at IS NULL ORDER BY made_at"
        )
