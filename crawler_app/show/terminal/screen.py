"""The live table at the bottom of a terminal: drawn, redrawn and erased.

Rule: however the crawl ends, the terminal is left as it was.  The cursor stays visible:
after a ``kill -9``, or while the process is suspended, it could not be restored.
"""

import asyncio
import collections
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from rich.console import Console, ConsoleRenderable
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment

from crawler_app.run.crawl.monitor import Sample
from crawler_app.show.terminal.table import BARS_SHOWN, CrawlTable
from crawler_app.show.terminal.tty import has_style

__all__ = ["live_table"]

ERASE_ROW_AND_GO_UP = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))


@contextlib.contextmanager
def live_table(
    stdout: TextIO, stderr: TextIO | None, note: str
) -> Iterator[Callable[[Sample], None]]:
    """Yield a callback that draws a sample; other output appears above the table.

    Enter it on a running loop, in the main thread.

    Args:
        stderr: If it is a terminal, its output appears above the table too.
    """
    console = Console(
        file=stdout,
        # None is without bold too, which NO_COLOR alone would leave.
        color_system="auto" if has_style(stdout) else None,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )
    is_stderr_shown = stderr is not None and stderr.isatty()
    live = _Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stderr=is_stderr_shown,
    )
    rates: collections.deque[float] = collections.deque(maxlen=BARS_SHOWN)

    def draw(sample: Sample) -> None:
        rates.append(sample.fetches_per_s)
        live.update(CrawlTable(sample, tuple(rates), note), refresh=True)

    with live, _redirected_logs(), _erased_while_suspended(live):
        console.show_cursor(True)
        try:
            yield draw
        finally:
            live.erase()


class _Live(Live):
    """Redraws correctly after the terminal was made narrower and has wrapped the lines."""

    _drawn_columns = 0
    _drawn_rows = 0

    def erase(self) -> None:
        self.update("", refresh=True)

    def process_renderables(
        self, renderables: list[ConsoleRenderable]
    ) -> list[ConsoleRenderable]:
        """Erase the extra rows of wrapped lines, which rich does not know of."""
        width = max(self.console.width, 1)
        rows_per_line = max(-(-self._drawn_columns // width), 1)
        steps = (*ERASE_ROW_AND_GO_UP,) * ((rows_per_line - 1) * self._drawn_rows)
        lines = self.console.render_lines(self.get_renderable(), pad=False)
        self._drawn_rows = len(lines)
        self._drawn_columns = max(map(Segment.get_line_length, lines), default=0)
        return [Control(*steps), *super().process_renderables(renderables)]


@contextlib.contextmanager
def _erased_while_suspended(live: _Live) -> Iterator[None]:
    """Erase the table when Ctrl-Z suspends us; the next sample draws it again."""

    def suspend() -> None:
        live.erase()
        os.kill(os.getpid(), signal.SIGSTOP)

    if signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
        yield  # our parent process has turned suspending off
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTSTP, suspend)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)


@contextlib.contextmanager
def _redirected_logs() -> Iterator[None]:
    """Redirect log handlers to the replaced ``sys.stderr``, and back at the end.

    A handler made before holds the original file, and would write into the table; one
    made in the meantime would hold the replacement for ever.
    """
    now = sys.stderr
    before = getattr(now, "rich_proxied_file", now)
    _move_logs(before, now)
    try:
        yield
    finally:
        _move_logs(now, before)


def _move_logs(old: TextIO, new: TextIO) -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is old:
            handler.setStream(new)
