"""The progress table of a crawl, for any terminal size.  Pure: sample in, lines out.

Rule: text from servers (hosts, URLs, reasons) is printed only after ``printable``, and as
``Text``, in which rich interprets no markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.panel import Panel
from rich.text import Text

from crawler_app.base.models import State
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import ELLIPSIS, size, without_middle
from crawler_app.run.crawl.monitor import Sample
from crawler_app.show.terminal.lines import SHOWN_STATES, clock, name_of, phase

__all__ = ["CrawlTable", "sparkline"]

# Longer lines are hard to read; only the URLs of failures could use them.
MAX_COLUMNS = 120
# Border and padding, left and right.
FRAME_COLUMNS = 4
# In fewer columns, the counts are listed below each other.
MIN_WIDE_COLUMNS = 64
LABEL_COLUMNS = 11

# Entries of each list, where there is room.
LISTED = 5

BARS = "▁▂▃▄▅▆▇█"
BARS_SHOWN = 30

STYLE_BY_PHASE = {"running": "green", "waiting": "cyan", "paused": "yellow"}
STYLE_BY_STATE = {State.DONE: "green", State.FAILED: "red"}
STOP_HINT = "Ctrl-C stops the crawl; results are kept"


@dataclass(slots=True, frozen=True)
class CrawlTable:
    """A sample as a rich renderable.

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
        page = _Page(
            self, width - FRAME_COLUMNS, options.size.height, options.ascii_only
        )
        now = phase(self.sample)
        title = Text(f"{now}  {clock(self.sample.elapsed_s)}", "bold")
        lines = page.lines()
        for line in lines:
            line.no_wrap = True
            line.overflow = "crop"
        yield Panel(
            Group(*lines),
            title=title,
            title_align="left",
            border_style=STYLE_BY_PHASE.get(now.partition(" ")[0], "red"),
            width=width,
        )
        # The row of the cursor, where a terminal prints ^C.
        yield Text()


@dataclass(slots=True, frozen=True)
class _Page:
    """The lines inside the frame."""

    table: CrawlTable
    columns: int
    rows: int
    is_ascii: bool

    def lines(self) -> list[Text]:
        sample = self.table.sample
        above = [*self._counts(), Text(), self._rate(), self._received()]
        below = [Text(), Text(self._clean(STOP_HINT), "dim")]
        if self.table.note:
            below.insert(1, Text(self._fit(self.table.note, self.columns)))
        # The frame takes two rows, the cursor one, and the blank row above each list two.
        room = max(self.rows - len(above) - len(below) - 5, 0)
        # Failures matter more, but the list of hosts shows that the crawl is alive.
        hosts = self._hosts(
            min(LISTED + 1, max(room - len(sample.failures), room // 2))
        )
        return above + hosts + self._failures(min(LISTED, room - len(hosts))) + below

    def _counts(self) -> list[Text]:
        count = self.table.sample.count_by_state
        styles = [
            STYLE_BY_STATE.get(state, "") if count[state] else ""
            for state in SHOWN_STATES
        ]
        numbers = [f"{count[state]:,}" for state in SHOWN_STATES]
        names = [name_of(state) for state in SHOWN_STATES]
        if self.columns < MIN_WIDE_COLUMNS - FRAME_COLUMNS:
            return [
                self._line(name, Text(f"{number:>12}", style))
                for name, number, style in zip(names, numbers, styles, strict=True)
            ]
        heads = Text("".join(f"{name:>12}" for name in names), "dim")
        cells = [
            (f"{n:>12}", f"bold {s}") for n, s in zip(numbers, styles, strict=True)
        ]
        return [heads, Text.assemble(*cells)]

    def _rate(self) -> Text:
        sample = self.table.sample
        text = f"{sample.fetches_per_s:,.0f} fetches/s, {size(sample.bytes_per_s)}/s"
        room = self.columns - LABEL_COLUMNS - len(text) - 2
        # Fewer than five bars say nothing.
        rates = self.table.rates[-min(room, BARS_SHOWN) :] if room >= 5 else ()
        bars = "" if self.is_ascii else sparkline(rates)
        return self._line("rate", Text.assemble(text, "  ", (bars, "cyan")))

    def _received(self) -> Text:
        sample = self.table.sample
        text = f"{size(sample.size_bytes)} in {sample.fetched:,} fetches"
        return self._line("received", Text(text))

    def _hosts(self, rows: int) -> list[Text]:
        """List the busiest hosts; if there are more, the last row says how many."""
        hosts = self.table.sample.under_way_by_host
        shown = hosts if len(hosts) < rows else hosts[: max(rows - 1, 0)]
        if not shown:
            return []
        values = [f"{count:>3}  {host}" for host, count in shown]
        if more := len(hosts) - len(shown):
            values.append(f"     and {more:,} more")
        return self._list("fetching", values)

    def _failures(self, rows: int) -> list[Text]:
        failures = self.table.sample.failures[: max(rows, 0)]
        if not failures:
            return []
        reasons = [self._clean(failure.reason) for failure in failures]
        room = self.columns - LABEL_COLUMNS
        width = min(max(map(len, reasons)), max(room // 3, 8))
        return self._list(
            "failed",
            [
                f"{self._fit(reason, width):<{width}}  "
                + self._fit(failure.url, room - width - 2)
                for reason, failure in zip(reasons, failures, strict=True)
            ],
        )

    def _list(self, label: str, values: list[str]) -> list[Text]:
        room = self.columns - LABEL_COLUMNS
        lines = [Text(self._fit(value, room)) for value in values]
        names = [label, *[""] * (len(lines) - 1)]
        return [Text(), *map(self._line, names, lines)]

    def _line(self, label: str, value: Text) -> Text:
        return Text.assemble((f"{label:<{LABEL_COLUMNS}}", "dim"), value)

    def _fit(self, text: str, columns: int) -> str:
        mark = "..." if self.is_ascii else ELLIPSIS
        return without_middle(self._clean(text), columns, mark)

    def _clean(self, text: str) -> str:
        text = printable(text)
        if self.is_ascii:
            # Escaped here rather than by the stream, because escapes change the width.
            return text.encode("ascii", "backslashreplace").decode()
        return text


def sparkline(rates: Sequence[float]) -> str:
    """Return numbers as a row of bars; the largest gets the highest bar.

    >>> sparkline([0, 1, 2, 4, 8, 8])
    '▁▁▂▄██'
    """
    top = max(rates, default=0.0) or 1.0
    return "".join(BARS[int(rate / top * (len(BARS) - 1))] for rate in rates)
