"""Group commit: many atomic steps in one SQLite transaction.

A commit costs more than everything else done for a page, and costs the same for fifty pages
as for one, so a group of steps shares it.  If the process dies before the commit, the whole
group is lost.

Rule: a step that fails does not affect the others, unless the disk has failed.
"""

import math
import sqlite3
from collections.abc import Callable

from crawler_app.base.errors import FrontierError, StorageError
from crawler_app.store.frontier.frontier_schema import SCHEMA

__all__ = ["MAX_AGE_S", "MAX_ENDS", "CommitGroup"]

# Ended URLs per group.  A larger group gains nothing more, and a crash would repeat more.
MAX_ENDS = 25

# Maximum age of a group, so that other processes soon see its changes.
MAX_AGE_S = 0.5


class CommitGroup:
    """The steps since the last commit, in one open transaction.

    Each ``with`` block is a step, and atomic.  It raises FrontierError if the disk has failed;
    then earlier steps of the group are lost too.

    Args:
        db: The connection; this class controls its transactions.
        reload: Called after a rollback, to load the state from the file again.
        recount: Called if only the last step was rolled back, to count again what
            ``complete`` writes.
        complete: Called before each commit, to write what is kept in memory until then.
        before_commit: Called before that, unless the caller of `commit` has done the same;
            an exception prevents the commit.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        *,
        reload: Callable[[], None],
        recount: Callable[[], None],
        complete: Callable[[], None],
        before_commit: Callable[[], None],
    ) -> None:
        self._db = db
        self._reload = reload
        self._recount = recount
        self._complete = complete
        self._before_commit = before_commit
        self._reset()

    def _reset(self) -> None:
        self._ends = 0
        self._due_at = math.inf
        # Rows; of a connection, SQLite counts those of all transactions.
        self._written_changes = self._db.total_changes

    def __enter__(self) -> None:
        try:
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("SAVEPOINT step")
        except sqlite3.Error as exc:  # such as a lock that another process keeps
            raise self._lost(exc) from exc

    def __exit__(self, _: object, exc: BaseException | None, __: object) -> None:
        if exc is None:
            self._db.execute("RELEASE step")
            return
        if not self._db.in_transaction:  # some errors make SQLite roll back
            raise self._lost(exc) from exc
        self._db.execute("ROLLBACK TO step")
        # COMMIT also ends the savepoint, and keeps the earlier steps.
        self._commit(self._recount, self._before_commit, self._complete)
        self._reload()

    def count_ended_url(self, now: float) -> None:
        """Count an ended URL, which must be written soon."""
        self._ends += 1
        self._due_at = min(self._due_at, now + MAX_AGE_S)

    def is_due(self, now: float) -> bool:
        """Return whether it is time to commit."""
        if not self._ends or self._ends >= MAX_ENDS:
            return self._ends > 0
        return not now < self._due_at <= now + MAX_AGE_S  # it may have been set back

    def has_changes(self) -> bool:
        """Return whether anything has changed since the last commit."""
        return self._db.total_changes != self._written_changes

    def commit(self, *, is_prepared: bool = False) -> None:
        """Write the changes since the last commit.

        Args:
            is_prepared: Whether what ``before_commit`` does has been done.

        Raises:
            FrontierError: they cannot be written, and are lost.
        """
        if is_prepared or not self.has_changes():
            self._commit(self._complete)
        else:
            self._commit(self._before_commit, self._complete)

    def _commit(self, *preparations: Callable[[], None]) -> None:
        try:
            if self._db.in_transaction:
                for prepare in preparations:
                    prepare()
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
        words = f"{exc}; URLs ended since the last commit will be fetched again"
        return FrontierError(SCHEMA.explain(words, exc))
