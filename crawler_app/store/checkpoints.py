"""Checkpoints SQLite's write-ahead log in another thread; used by all stores.

A checkpoint waits for the disk twice, which can take 50 ms.  SQLite makes one by itself in a
COMMIT when the log is long; so that it need not, one is made in another thread before.

The log restarts only if a transaction begins while all of it has been copied; otherwise it
grows.  So as little as possible should be written until a checkpoint is complete.
"""

import contextlib
import sqlite3

__all__ = ["Checkpoints"]

# Changed rows after which a checkpoint is due.  Each changes a page of the log, or much less;
# only a capture changes two or three, those of its random keys.
DUE_ROWS = 5_000


class Checkpoints:
    """Decides when a connection's file is due for a checkpoint, and makes it."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        # Empty for a database in memory.
        (_, _, self._path) = db.execute("PRAGMA database_list").fetchone()
        self._rows = db.total_changes

    def is_due(self) -> bool:
        """Return whether a checkpoint is due; if so, the next one is due later."""
        if not self._path or self._db.total_changes < self._rows + DUE_ROWS:
            return False
        self._rows = self._db.total_changes
        return True

    def make(self) -> None:
        """Make a checkpoint; call it in another thread, when a commit has been made."""
        # If the disk is full, the log is kept; a commit meets the same error.
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(self._path)) as db,
        ):
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
