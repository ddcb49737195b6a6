"""Shows a running crawl: as a table in a terminal, as plain lines elsewhere."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TextIO

from crawler_app.run.crawl.monitor import Sample
from crawler_app.show.terminal.lines import line_of
from crawler_app.show.terminal.log_lines import LogLines
from crawler_app.show.terminal.screen import live_table
from crawler_app.show.terminal.tty import is_screen

__all__ = ["shown_on"]


def shown_on(
    stdout: TextIO | None,
    stderr: TextIO | None,
    note: str = "",
    *,
    has_lines: bool = True,
) -> AbstractContextManager[Callable[[Sample], object]]:
    """Return a context manager for the run of a crawl; it yields the display callback.

    Args:
        stdout: If it is a terminal, the table is shown here, and erased at the end.
        stderr: Otherwise a line is written here now and then; None, if our parent process
            has closed it, shows nothing.
        has_lines: Whether to write these lines.
        note: An extra line in the table, such as the URL of the dashboard.
    """
    if stdout is not None and is_screen(stdout):
        return live_table(stdout, stderr, note)
    if stderr is not None and has_lines:
        return _lines(stderr)
    return contextlib.nullcontext(lambda sample: None)


@contextlib.contextmanager
def _lines(file: TextIO) -> Iterator[Callable[[Sample], object]]:
    with LogLines(file) as lines:
        yield lambda sample: lines.show(line_of(sample))
