"""Shows a crawl while it runs: a table in a terminal, plain lines elsewhere."""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TextIO

from crawler_app.crawl.monitor import Sample
from crawler_app.terminal.lines import write_lines
from crawler_app.terminal.screen import live_table
from crawler_app.terminal.tty import is_screen

__all__ = ["shown_on"]


def shown_on(
    stdout: TextIO | None, stderr: TextIO | None, note: str = ""
) -> AbstractContextManager[Callable[[Sample], object]]:
    """Return what is entered while a crawl runs, and gives the function that shows it.

    Args:
        stdout: A table is shown here if it is a terminal; it is gone at the end.
        stderr: Else a line of each sample is written here; None, if our parent has closed
            it, for nothing.
        note: What else stands in the table, such as where the dashboard is.
    """
    if stdout is not None and is_screen(stdout):
        return live_table(stdout, stderr, note)
    if stderr is not None:
        return contextlib.nullcontext(write_lines(stderr))
    return contextlib.nullcontext(lambda sample: None)
