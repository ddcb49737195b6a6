"""How a long command goes, for whoever sits at the terminal.

`shown_on` shows a crawl: a table where standard output is a terminal, a plain line a second
where it is not.  `Steps` tells how far any other command has come.

Rule: nothing here begins by itself: no thread, no timer.  What is shown changes when a
sample comes, or when the command says that it has come further.
"""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TextIO

from crawler_app.monitor import Sample
from crawler_app.terminal.lines import write_lines
from crawler_app.terminal.screen import is_screen, live_table
from crawler_app.terminal.steps import Steps

__all__ = ["Steps", "shown_on"]


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
