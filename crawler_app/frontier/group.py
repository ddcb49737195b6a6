"""Group commit: many atomic steps in one SQLite transaction.

A commit costs more than everything else done for a page, and costs the same for fifty pages
as for one, so a group of steps shares it.  If the process dies before the commit, the whole
group is lost.

Rule: a step that fails does not affect the others, unless the disk has failed.
"""

import contextlib
import math
import sqlite3
from collections.abc import Callable, Iterator

from crawler_app.errors import FrontierError, LeaseLostError, StorageError

__all__ = ["MAX_AGE_S", "MAX_ENDS", "Group"]

# Ended URLs per group.  A larger group gains nothing more, and a crash would repeat more.
MAX_ENDS = 25

# Maximum age of a group, so that other processes soon see its changes.
MAX_AGE_S = 0.5


class Group:
    """The steps since the last commit, in one open transaction.

    Args:
        db: The connection; this class controls its transactions.
        reload: Called after a rollback, to load the state from the file again.
        before_commit: Called before each commit; an exception prevents the commit.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        reload: Callable[[], None],
        before_commit: Callable[[], None],
    ) -> None:
        self._db = db
        self._reload = reload
        self._before_commit = before_commit
        self._reset()

    def _reset(self) -> None:
        self._ends = 0
        self._due_at = math.inf

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Make the block atomic.

        Raises:
            FrontierError: the disk has failed; earlier steps of the group are lost too.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("SAVEPOINT step")
        try:
            yield
        except LeaseLostError:
            self._db.execute("RELEASE step")  # raised before anything was changed
            raise
        except BaseException as exc:
            if not self._db.in_transaction:  # some errors make SQLite roll back
                raise self._lost(exc) from exc
            self._db.execute("ROLLBACK TO step")
            # COMMIT also ends the savepoint, and keeps the earlier steps.
            self.commit()
            self._reload()
            raise
        self._db.execute("RELEASE step")

    def count_ended_url(self, now: float) -> None:
        """Count an ended URL, which must be written soon."""
        self._ends += 1
        self._due_at = min(self._due_at, now + MAX_AGE_S)

    def is_due(self, now: float) -> bool:
        """Return whether it is time to commit."""
        return self._ends >= MAX_ENDS or now >= self._due_at

    def commit(self) -> None:
        """Write the changes since the last commit.

        Raises:
            FrontierError: they cannot be written, and are lost.
        """
        try:
            if self._db.in_transaction:
                self._before_commit()
                self._db.execute("COMMIT")
        except (sqlite3.Error, StorageError) as exc:
            raise self._lost(exc) from exc
        self._reset()

    def _lost(self, exc: BaseException) -> FrontierError:
        """Roll back to the last commit, in the file and in memory; return the error."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._reset()
        self._reload()
        return FrontierError(
            f"{exc}; URLs ended since the last commit will be fetched again"
        )
