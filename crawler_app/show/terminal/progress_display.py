"""Shows the progress of a crawl or of another command, as well as the output allows.

Rule: `live_display` is imported only when something is drawn on a terminal, because rich
takes as long to import as a short command takes to run.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self, TextIO

from crawler_app.show.terminal.plain_text import LogLines, is_screen, line_of

if TYPE_CHECKING:
    from crawler_app.run.crawl.monitor import Sample
    from crawler_app.show.terminal.live_display import ProgressBar

__all__ = ["ProgressLine", "Steps", "show_crawl"]

# Between two texts of a command; one that takes less time prints nothing.
EVERY_S = 1.0


@contextlib.contextmanager
def show_crawl(
    stdout: TextIO | None,
    stderr: TextIO | None,
    note: str = "",
    *,
    has_lines: bool = True,
) -> "Iterator[Callable[[Sample], object]]":
    """Yield a callback that shows a sample of a crawl, which runs meanwhile.

    Args:
        stdout: If it is a terminal, the table is shown here, and erased at the end.
        stderr: Otherwise a line is written here now and then; None, if our parent process
            has closed it, shows nothing.
        note: An extra line in the table, such as the URL of the dashboard.
        has_lines: Whether to write these lines.
    """
    if stdout is not None and is_screen(stdout):
        from crawler_app.show.terminal.live_display import live_table  # noqa: PLC0415

        with live_table(stdout, stderr, note) as draw:
            yield draw
        return
    line = ProgressLine(stderr if has_lines else None)
    try:
        yield lambda sample: line.show(line_of(sample))
    finally:
        line.end()


class ProgressLine:
    """A line with a bar, redrawn in place on a terminal; few plain lines elsewhere.

    Rule: before anything else is printed, the line is cleared.

    Args:
        file: The terminal, or another file; None shows nothing.
        clock: Returns the time in seconds.
        has_estimate: Whether to show the time that is left, on a terminal; the total must
            be known from the beginning.
    """

    def __init__(
        self,
        file: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
        *,
        has_estimate: bool = False,
    ) -> None:
        self._has_estimate = has_estimate
        self._file = file
        self._log = LogLines(file, clock) if file and not is_screen(file) else None
        self._bar: ProgressBar | None = None

    def show(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Show a text, and on a terminal which share is done, in place of the last one.

        Args:
            total: None if it is unknown.
        """
        if self._log is not None:
            self._log.show(text)
        elif self._file is not None:
            if self._bar is None:
                from crawler_app.show.terminal.live_display import (  # noqa: PLC0415
                    ProgressBar,
                )

                self._bar = ProgressBar(self._file, has_estimate=self._has_estimate)
            self._bar.show(text, done, total)

    def clear(self) -> None:
        """Clear the line on a terminal."""
        if self._bar is not None:
            self._bar.clear()

    def end(self) -> None:
        """Clear the line, or write the last text where nothing can be cleared."""
        self.clear()
        if self._log is not None:
            self._log.end()


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
        file = None if quiet else file or sys.stderr
        self._line = ProgressLine(file, clock, has_estimate=True)
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
        of_total = "" if total is None else f" of {total:,}"
        self._line.show(f"{what} {done:,}{of_total}", done, total)
