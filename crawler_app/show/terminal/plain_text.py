"""Progress as plain lines, and what a stream can show.

Pure, but for `LogLines`, which writes.  Sources for color: no-color.org, force-color.org,
bixense.com/clicolors.
"""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from crawler_app.base.models import State
from crawler_app.base.text.escaping import printable

if TYPE_CHECKING:
    from crawler_app.run.crawl.monitor import Sample

__all__ = [
    "SHOWN_STATES",
    "LogLines",
    "clock_time",
    "has_style",
    "is_screen",
    "line_of",
    "phase_of",
    "state_name",
]

# In the order of display.
SHOWN_STATES = (
    State.DONE,
    State.QUEUED,
    State.CLAIMED,
    State.FAILED,
    State.EXCLUDED,
)

# Terminals whose cursor cannot be moved; the shell in Emacs is "dumb".
DUMB_TERMS = ("", "dumb", "unknown")

# A log of an hour has a hundred lines then, and a CI system that ends a job after some
# minutes without output does not end this one.
EVERY_S = 30.0


class LogLines:
    """Writes the first text at once, later ones rarely, and the last one at the end.

    Args:
        clock: Returns the time in seconds.

    >>> import itertools, sys
    >>> seconds = itertools.count(step=10)
    >>> lines = LogLines(sys.stdout, clock=lambda: float(next(seconds)))
    >>> for done in range(6):
    ...     lines.show(f"{done} pages")
    0 pages
    3 pages
    >>> lines.end()
    5 pages
    """

    def __init__(
        self, file: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file = file
        self._clock = clock
        self._due_at = float("-inf")
        self._pending = ""

    def show(self, text: str) -> None:
        """Write a text, or keep it until it is time for the next line."""
        now = self._clock()
        if now < self._due_at:
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


def is_screen(file: TextIO) -> bool:
    """Return whether a stream is a terminal whose lines can be overwritten."""
    return file.isatty() and os.environ.get("TERM", "").lower() not in DUMB_TERMS


def has_style(file: TextIO) -> bool:
    """Return whether to print color and bold to a stream.

    ``NO_COLOR`` turns it off everywhere.  Otherwise ``FORCE_COLOR`` and ``CLICOLOR_FORCE``
    turn it on, also in a pipe, and ``CLICOLOR=0`` turns it off.
    """
    setting = os.environ.get
    if setting("NO_COLOR"):
        return False
    if setting("FORCE_COLOR") or setting("CLICOLOR_FORCE") not in (None, "", "0"):
        return True
    return setting("CLICOLOR") != "0" and is_screen(file)


def line_of(sample: "Sample") -> str:
    """Return a sample as one line.

    >>> from crawler_app.run.crawl.monitor import Sample
    >>> counts = dict(zip(State, (10_245, 8, 1_234, 12, 34)))
    >>> line_of(Sample(0.0, 62.0, "running", None, 0, 0, 52.3, 0.0, counts, [], []))
    '1:02  1,234 done, 10,245 queued, 8 under way, 12 failed, 34 skipped, 52 fetches/s'
    """
    count = sample.count_by_state
    parts = [
        *(f"{count[state]:,} {state_name(state)}" for state in SHOWN_STATES),
        f"{sample.fetches_per_s:,.0f} fetches/s",
    ]
    if (now := phase_of(sample)) != "running":
        parts.append(now)
    return f"{clock_time(sample.elapsed_s)}  {', '.join(parts)}"


def state_name(state: State) -> str:
    """Return the displayed name of a state.

    >>> state_name(State.CLAIMED)
    'under way'
    """
    return state.label.replace("_", " ")


def phase_of(sample: "Sample") -> str:
    """Return the phase of the crawl; if it waits, with the time left and the host."""
    if sample.waiting_s is None or sample.phase != "waiting":
        return sample.phase
    host = f" for {printable(sample.waiting_for)}" if sample.waiting_for else ""
    return f"waiting {sample.waiting_s:,.0f} s{host}"


def clock_time(elapsed_s: float) -> str:
    """Return a duration in the format of a clock.

    >>> clock_time(62.9), clock_time(3600.0)
    ('1:02', '1:00:00')
    """
    minutes, seconds = divmod(int(elapsed_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
