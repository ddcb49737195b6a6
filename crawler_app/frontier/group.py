"""Many steps in one transaction of SQLite: each of them whole, all written together.

A commit costs more than all else that is done for a page, and the same for fifty pages as
for one; so a group of them shares it.  If the process dies before, the group has not
happened.

Rule: a step that fails takes no other with it, unless the disk has failed.
"""

import contextlib
import math
import sqlite3
from collections.abc import Callable, Iterator

from crawler_app.errors import FrontierError, LeaseLostError, StorageError

__all__ = ["MAX_AGE_S", "MAX_ENDS", "Group"]

# URLs that ended.  A larger group gains nothing more, and a crash would repeat more.
MAX_ENDS = 25

# Seconds since the first of them, for those who look on from other processes.
MAX_AGE_S = 0.5


class Group:
    """The steps since the last commit, in one open transaction.

    Args:
        db: Its transactions are all ours.
        reload: Called when something was undone, to bring memory up to the file.
        before_commit: Called before each commit; what it raises prevents that.
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
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._ends = 0
        self._due_at = math.inf

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Do all of it or nothing.

        Raises:
            FrontierError: the disk has failed, and the steps before are lost too.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("SAVEPOINT step")
        try:
            yield
        except LeaseLostError:
            self._db.execute("RELEASE step")  # found out before anything was changed
            raise
        except BaseException as exc:
            if not self._db.in_transaction:  # SQLite itself ends it after some errors
                raise self._lost(exc) from exc
            self._db.execute("ROLLBACK TO step")
            # COMMIT ends the savepoint too, and keeps the steps before this one.
            self.commit()
            self._reload()
            raise
        self._db.execute("RELEASE step")

    def note_end(self, now: float) -> None:
        """Count a URL that has ended, which should not wait long to be written."""
        self._ends += 1
        self._due_at = min(self._due_at, now + MAX_AGE_S)

    def is_due(self, now: float) -> bool:
        """Return whether it is time to commit."""
        return self._ends >= MAX_ENDS or now >= self._due_at

    def commit(self) -> None:
        """Write what was done since the last commit.

        Raises:
            FrontierError: that cannot be written, and is lost.
        """
        try:
            if self._db.in_transaction:
                self._before_commit()
                self._db.execute("COMMIT")
        except (sqlite3.Error, StorageError) as exc:
            raise self._lost(exc) from exc
        self._begin_anew()

    def _lost(self, exc: BaseException) -> FrontierError:
        """Go back to the last commit, in the file and in memory; return what to raise."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._begin_anew()
        self._reload()
        return FrontierError(
            f"{exc}; what ended since the last commit will be fetched again"
        )
