"""The queue of batches for the server: the current one, and those that are complete.

Pure.  Rule: what is taken to be sent was flushed.
"""

from collections import deque

from crawler_app.store.frontier.group import MAX_AGE_S, MAX_ENDS
from crawler_app.store.frontier.postgres.batch import Batch

__all__ = ["MAX_LINKS", "Outbox"]

# Links in one batch, which take the server a third of a second; much longer if the index of
# URLs is not in memory.  A step that takes a minute is given up, and would be sent for ever.
MAX_LINKS = 10_000


class Outbox:
    """The batches of one worker.

    Attributes:
        flushed: The batches to be sent, the oldest first.

    >>> outbox = Outbox()
    >>> outbox.changing(now=0.0).note_response("http://a.test", "http://a.test/")
    >>> outbox.is_due(0.1), outbox.is_due(0.5)
    (False, True)
    >>> outbox.flush()
    >>> len(outbox.flushed), outbox.has_changes()
    (1, False)
    """

    def __init__(self) -> None:
        self.flushed: deque[Batch] = deque()
        self._full: list[Batch] = []
        self._batch = Batch()

    def changing(self, now: float) -> Batch:
        """Return the batch that changes, which has room for more."""
        if self._batch.links >= MAX_LINKS:
            self._full.append(self._batch)
            self._batch = Batch()
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
            self._batch = Batch()

    def pending(self) -> list[Batch]:
        """Return the batches that the server does not know."""
        return [*self.flushed, *self._full, self._batch]
