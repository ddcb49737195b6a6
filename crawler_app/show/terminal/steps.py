"""Progress of a command: one line, rewritten in place on a terminal; few lines elsewhere.

Rule: a command that takes less than a second prints nothing.
"""

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

from crawler_app.show.terminal.status_line import StatusLine

__all__ = ["Steps"]

EVERY_S = 1.0


class Steps:
    """A progress callback and context manager, which prints once a second at most.

    Args:
        file: Where to print; by default standard error, so that results can be piped.
            Nothing is printed if our parent process has closed it.
        quiet: Print nothing.
        clock: Returns the time in seconds.

    >>> import itertools
    >>> seconds = itertools.count()
    >>> with Steps(sys.stdout, clock=lambda: float(next(seconds))) as steps:
    ...     for done in range(1, 4):
    ...         steps("reading pages", done, 3)
    reading pages 1 of 3
    reading pages 3 of 3
    """

    def __init__(
        self,
        file: TextIO | None = None,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._line = StatusLine(None if quiet else file or sys.stderr, clock)
        self._due_at = clock() + EVERY_S
        self._pending: tuple[str, int, int | None] | None = None
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._is_shown and self._pending is not None:
            self._show(*self._pending)
        self._line.end()

    def __call__(self, what: str, done: int, total: int | None = None) -> None:
        """Print the progress, if a second has passed since the last line.

        Args:
            what: The step, such as "reading pages".
            done: How much of it is done.
            total: How much there is to do; None if unknown.
        """
        now = self._clock()
        if now < self._due_at:
            self._pending = what, done, total
            return
        self._due_at = now + EVERY_S
        self._is_shown = True
        self._show(what, done, total)

    def _show(self, what: str, done: int, total: int | None) -> None:
        self._pending = None
        self._line.show(
            f"{what} {done:,}" + ("" if total is None else f" of {total:,}")
        )
