"""The queue of batches for the server: the current one, and those that are complete.

Pure.  Rule: what is taken to be sent was flushed.
"""

from collections import deque

from crawler_app.store.frontier.group import MAX_AGE_S, MAX_ENDS
from crawler_app.store.frontier.postgres.step_changes import ChangeBatch

__all__ = ["MAX_LINKS", "ChangeQueue"]

# Links in one batch, which take the server a third of a second; much longer if the index of
# URLs is not in memory.  A step that takes a minute is given up, and would be sent for ever.
MAX_LINKS = 10_000


class ChangeQueue:
    """The batches of one worker.

    Attributes:
        flushed: The batches to be sent, the oldest first.

    >>> queue = ChangeQueue()
    >>> queue.changing(now=0.0).note_response("http://a.test", "http://a.test/")
    >>> queue.is_due(0.1), queue.is_due(0.5)
    (False, True)
    >>> queue.flush()
    >>> len(queue.flushed), queue.has_changes()
    (1, False)
    """

    def __init__(self) -> None:
        self.flushed: deque[ChangeBatch] = deque()
        self._full: list[ChangeBatch] = []
        self._batch = ChangeBatch()

    def changing(self, now: float) -> ChangeBatch:
        """Return the batch that changes, which has room for more."""
        if self._batch.links >= MAX_LINKS:
            self._full.append(self._batch)
            self._batch = ChangeBatch()
        if self._batch.began_at is None:
            self._batch.began_at = now
        return self._batch

    def is_due(self, now: float) -> bool:
        """Return whether it is time for a flush."""
        began_at = self._batch.began_at
        if self._full or began_at is None:
            return bool(self._full)
        return len(self._batch.claims) >= MAX_ENDS or now >= began_at + MAX_AGE_S

    def has_changes(self) -> bool:
        """Return whether there is anything to flush."""
        return bool(self._full or self._batch)

    def flush(self) -> None:
        """Let everything be sent."""
        self.flushed += self._full
        self._full.clear()
        if self._batch:
            self.flushed.append(self._batch)
            self._batch = ChangeBatch()

    def pending(self) -> list[ChangeBatch]:
        """Return the batches that the server does not know."""
        return [*self.flushed, *self._full, self._batch]
