"""The table at the bottom of a terminal: drawn, redrawn, and wiped.

Rule: whatever ends the crawl, the terminal is as it was.  The cursor stays visible all the
time: after a ``kill -9``, or while we are suspended, nobody could bring it back.
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

from crawler_app.crawl.monitor import Sample
from crawler_app.terminal.table import BARS_SHOWN, CrawlTable

__all__ = ["live_table"]

WIPE_ROW_AND_GO_UP = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))


@contextlib.contextmanager
def live_table(
    stdout: TextIO, stderr: TextIO | None, note: str
) -> Iterator[Callable[[Sample], None]]:
    """Give the function that draws a sample; what is printed meanwhile stands above.

    To be entered on a running loop, in the main thread.

    Args:
        stderr: What is printed here stands above too if it is a terminal; else it goes
            where it always went.
    """
    console = Console(
        file=stdout, markup=False, emoji=False, highlight=False, soft_wrap=True
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

    with live, _redirected_logs(), _wiped_while_suspended(live):
        console.show_cursor(True)
        try:
            yield draw
        finally:
            live.wipe()


class _Live(Live):
    """Redraws also where the terminal was made narrower and has broken our lines."""

    _drawn_columns = 0
    _drawn_rows = 0

    def wipe(self) -> None:
        self.update("", refresh=True)

    def process_renderables(
        self, renderables: list[ConsoleRenderable]
    ) -> list[ConsoleRenderable]:
        """Wipe the rows of which rich does not know, then all as it does."""
        width = max(self.console.width, 1)
        broken_into = max(-(-self._drawn_columns // width), 1)
        steps = (*WIPE_ROW_AND_GO_UP,) * ((broken_into - 1) * self._drawn_rows)
        lines = self.console.render_lines(self.get_renderable(), pad=False)
        self._drawn_rows = len(lines)
        self._drawn_columns = max(map(Segment.get_line_length, lines), default=0)
        return [Control(*steps), *super().process_renderables(renderables)]


@contextlib.contextmanager
def _wiped_while_suspended(live: _Live) -> Iterator[None]:
    """Leave no table behind when Ctrl-Z stops us; it comes back with the next sample."""

    def suspend() -> None:
        live.wipe()
        os.kill(os.getpid(), signal.SIGSTOP)

    if signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
        yield  # our parent does not want us to be stopped
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTSTP, suspend)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)


@contextlib.contextmanager
def _redirected_logs() -> Iterator[None]:
    """Have logs go the way of ``sys.stderr`` too, and back again at the end.

    A handler that was made before holds the file itself, and would write into the table;
    one that is made meanwhile would hold what stands in its place for ever.
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
