"""The table of a crawl, and a progress bar: drawn, redrawn and erased by rich.

Rule: however a command ends, the terminal is left as it was.  The cursor stays visible:
after a ``kill -9``, or while the process is suspended, it could not be restored.

Text from servers (hosts, URLs, reasons) is printed only after ``printable``, and as
``Text``, in which rich interprets no markup.
"""

import asyncio
import collections
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    Group,
    RenderResult,
)
from rich.control import Control
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import ControlType, Segment
from rich.table import Column, Table
from rich.text import Text

from crawler_app.base.models import State
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import ELLIPSIS, size, without_middle
from crawler_app.run.crawl import Failure
from crawler_app.run.crawl.monitor import Sample
from crawler_app.show.terminal.plain_text import (
    SHOWN_STATES,
    clock_time,
    has_style,
    phase_of,
    state_name,
)

__all__ = ["CrawlTable", "ProgressBar", "live_table", "sparkline"]

# Longer lines are hard to read; only the URLs of failures could use them.
MAX_COLUMNS = 120
# Border and padding, left and right.
FRAME_COLUMNS = 4
LABEL_COLUMNS = 11
COUNT_COLUMNS = 12

# Two of the frame, the cursor's, two with a label, and four blank ones.
FIXED_ROWS = 9

# Entries of each list, where there is room.
LISTED = 5

BARS = "▁▂▃▄▅▆▇█"
BARS_SHOWN = 30
# Fewer say nothing.
MIN_BARS = 5

STYLE_BY_PHASE = {"running": "green", "waiting": "cyan", "paused": "yellow"}
STYLE_BY_STATE = {State.DONE: "green", State.FAILED: "red"}
STOP_HINT = "Ctrl-C stops the crawl; results are kept"

ERASE_ROW_AND_GO_UP = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))


class ProgressBar:
    """A text with a bar, in one line.

    Args:
        has_estimate: Whether to show the time that is left.
    """

    def __init__(self, file: TextIO, *, has_estimate: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[text]}", markup=False),
            BarColumn(bar_width=20),
            *([TimeRemainingColumn(compact=True)] if has_estimate else []),
            auto_refresh=False,
        )
        self._task = self._progress.add_task("", text="")
        self._live = _Live(
            self._progress,
            console=_console(file),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def show(self, text: str, done: int, total: int | None) -> None:
        """Draw the line in place of the last one."""
        self._progress.update(self._task, text=text, completed=done, total=total)
        self._live.start()
        self._live.console.show_cursor(True)  # rich has hidden it
        self._live.refresh()

    def clear(self) -> None:
        """Erase the line."""
        self._live.stop()


@contextlib.contextmanager
def live_table(
    stdout: TextIO, stderr: TextIO | None, note: str
) -> Iterator[Callable[[Sample], None]]:
    """Yield a callback that draws a sample; other output appears above the table.

    Enter it on a running loop, in the main thread.

    Args:
        stderr: If it is a terminal, its output appears above the table too.
        note: An extra line; empty for none.
    """
    live = _Live(
        console=_console(stdout),
        auto_refresh=False,
        transient=True,
        redirect_stderr=stderr is not None and stderr.isatty(),
    )
    rates: collections.deque[float] = collections.deque(maxlen=BARS_SHOWN)

    def draw(sample: Sample) -> None:
        rates.append(sample.fetches_per_s)
        live.update(CrawlTable(sample, tuple(rates), note), refresh=True)

    with live, _redirected_logs(), _erased_while_suspended(live):
        live.console.show_cursor(True)  # rich has hidden it
        try:
            yield draw
        finally:
            live.erase()


def _console(file: TextIO) -> Console:
    return Console(
        file=file,
        # None is without bold too, which NO_COLOR alone would leave.
        color_system="auto" if has_style(file) else None,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


class _Live(Live):
    """Redraws correctly after the terminal was made narrower and has wrapped the lines."""

    _drawn_columns = 0
    _drawn_rows = 0

    def erase(self) -> None:
        self.update("", refresh=True)

    def process_renderables(
        self, renderables: list[ConsoleRenderable]
    ) -> list[ConsoleRenderable]:
        """Erase the extra rows of wrapped lines, which rich does not know of.

        rich calls this with what is to be printed; it moves the cursor up by the rows that
        it has drawn, not by those that they take now.
        """
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

    A handler that was made before holds the original file, and would write into the
    table; one that is made in the meantime would keep the replacement forever.
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


@dataclass(slots=True, frozen=True)
class CrawlTable:
    """A sample as a rich renderable, for a terminal of any size.

    Attributes:
        rates: Fetches per second of the samples so far, latest last.
        note: An extra line; empty for none.
    """

    sample: Sample
    rates: Sequence[float] = ()
    note: str = ""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        width = min(options.max_width, MAX_COLUMNS)
        columns = width - FRAME_COLUMNS
        writer = _Writer(columns - LABEL_COLUMNS, options.ascii_only)
        counts = self._counts(columns)
        below = [self.note, STOP_HINT] if self.note else [STOP_HINT]
        # The rows that are left for the two lists.
        rows = max(options.size.height - FIXED_ROWS - counts.row_count - len(below), 0)
        now = phase_of(self.sample)
        yield Panel(
            Group(
                counts,
                "",
                self._details(writer, rows),
                "",
                *(writer.line(text, columns) for text in below),
            ),
            title=Text(f"{now}  {clock_time(self.sample.elapsed_s)}", "bold"),
            title_align="left",
            border_style=STYLE_BY_PHASE.get(now.partition(" ")[0], "red"),
            width=width,
        )
        # The row of the cursor, where a terminal prints ^C.
        yield Text()

    def _counts(self, columns: int) -> Table:
        """Return the counts in a row, or below each other where it is narrow."""
        count = self.sample.count_by_state
        names = [Text(state_name(state), "dim") for state in SHOWN_STATES]
        numbers = [
            Text(
                f"{count[state]:,}", STYLE_BY_STATE.get(state, "") * bool(count[state])
            )
            for state in SHOWN_STATES
        ]
        number = Column(width=COUNT_COLUMNS, justify="right", no_wrap=True)
        if columns < COUNT_COLUMNS * len(SHOWN_STATES):
            table = Table.grid(Column(width=LABEL_COLUMNS, no_wrap=True), number)
            for row in zip(names, numbers, strict=True):
                table.add_row(*row)
        else:
            table = Table.grid(*[number.copy() for _ in SHOWN_STATES])
            table.add_row(*names)
            table.add_row(*numbers, style="bold")
        return table

    def _details(self, writer: "_Writer", rows: int) -> Table:
        """Return the rate, the hosts and the failures, each with a label before it."""
        sample = self.sample
        rate = f"{sample.fetches_per_s:,.0f} fetches/s, {size(sample.bytes_per_s)}/s"
        room = min(writer.columns - len(rate) - 2, BARS_SHOWN)
        has_bars = room >= MIN_BARS and not writer.is_ascii
        bars = sparkline(self.rates[-room:]) if has_bars else ""
        received = f"{size(sample.size_bytes)} in {sample.fetched:,} fetches"
        # Failures matter more, but the list of hosts shows that the crawl is alive.
        most = max(rows - len(sample.failures), rows // 2)
        hosts = writer.hosts(sample.under_way_by_host, min(LISTED + 1, most))
        failures = writer.failures(sample.failures, min(LISTED, rows - len(hosts)))
        table = Table.grid(
            Column(width=LABEL_COLUMNS, style="dim", no_wrap=True, overflow="crop"),
            Column(no_wrap=True, overflow="crop"),
        )
        table.add_row("rate", Text.assemble(rate, "  ", (bars, "cyan")))
        table.add_row("received", received)
        for label, lines in (("fetching", hosts), ("failed", failures)):
            for number, line in enumerate(lines):
                if number == 0:
                    table.add_row()
                table.add_row("" if number else label, line)
        return table


@dataclass(slots=True, frozen=True)
class _Writer:
    """Makes texts that fit into some columns."""

    columns: int
    is_ascii: bool

    def hosts(self, hosts: Sequence[tuple[str, int]], rows: int) -> list[Text]:
        """List the busiest hosts; if there are more, the last row says how many."""
        shown = hosts if len(hosts) < rows else hosts[: max(rows - 1, 0)]
        lines = [self.line(f"{count:>3}  {host}") for host, count in shown]
        if lines and (more := len(hosts) - len(shown)):
            lines.append(self.line(f"     and {more:,} more"))
        return lines

    def failures(self, failures: Sequence[Failure], rows: int) -> list[Text]:
        """List failures, with their reasons in a column of a third at most."""
        failures = failures[: max(rows, 0)]
        most = max(self.columns // 3, 8)
        reasons = [self._fit(failure.reason, most) for failure in failures]
        width = max(map(len, reasons), default=0)
        return [
            self.line(f"{reason:<{width}}  ")
            + self.line(failure.url, self.columns - width - 2)
            for reason, failure in zip(reasons, failures, strict=True)
        ]

    def line(self, text: str, columns: int | None = None) -> Text:
        """Return one line, which is cut in the middle if it is too long."""
        text = self._fit(text, self.columns if columns is None else columns)
        return Text(text, no_wrap=True, overflow="crop")

    def _fit(self, text: str, columns: int) -> str:
        text = printable(text)
        if self.is_ascii:
            # Escaped here rather than by the stream, because escapes change the width.
            text = text.encode("ascii", "backslashreplace").decode()
        return without_middle(text, columns, "..." if self.is_ascii else ELLIPSIS)


def sparkline(rates: Sequence[float]) -> str:
    """Return numbers as a row of bars; the largest gets the highest bar.

    >>> sparkline([0, 1, 2, 4, 8, 8])
    '▁▁▂▄██'
    """
    top = max(rates, default=0.0) or 1.0
    return "".join(BARS[int(rate / top * (len(BARS) - 1))] for rate in rates)
