"""Progress where nothing can be rewritten, such as the log of a job: few lines.

Rule: the first text is written at once, the next ones rarely, and the last one at the end.
"""

import time
from collections.abc import Callable
from typing import Self, TextIO

__all__ = ["LogLines"]

# A log of an hour has a hundred lines then, and a job that seems to be dead after some
# minutes without output is not ended.
EVERY_S = 30.0


class LogLines:
    """A context manager; at its end, the last text is written if it was not.

    Args:
        file: Where to write.
        clock: Returns the time in seconds.

    >>> import itertools, sys
    >>> seconds = itertools.count(step=10)
    >>> with LogLines(sys.stdout, clock=lambda: float(next(seconds))) as lines:
    ...     for done in range(6):
    ...         lines.show(f"{done} pages")
    0 pages
    3 pages
    5 pages
    """

    def __init__(
        self, file: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file = file
        self._clock = clock
        self._due_at: float | None = None
        self._pending = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.end()

    def show(self, text: str) -> None:
        """Write a text, or keep it until it is time for the next line."""
        now = self._clock()
        if self._due_at is not None and now < self._due_at:
            self._pending = text
            return
        self._due_at = now + EVERY_S
        self._write(text)

    def end(self) -> None:
        """Write the last text, if it is not written yet."""
        if self._pending:
            self._write(self._pending)

    def _write(self, text: str) -> None:
        self._pending = ""
        # Flush, also into a pipe: progress is of interest only while it is current.
        print(text, file=self._file, flush=True)
