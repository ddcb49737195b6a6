"""The line that tells how a crawl goes: pages, queue, rate, errors, time.

On a terminal the line is rewritten in place; elsewhere a new one is written each time.
"""

import time
from typing import Self, TextIO

from crawler_app.crawler import Crawler
from crawler_app.models import State
from gencoro.ioloop import PeriodicCallback

__all__ = ["Progress"]

EVERY_S = 1.0

CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Writes a line a second while it is entered.

    Args:
        file: Where to; usually standard error, so that results can be piped.
    """

    def __init__(self, crawler: Crawler, file: TextIO) -> None:
        self._crawler = crawler
        self._file = file
        self._is_terminal = file.isatty()
        self._timer = PeriodicCallback(self.show, EVERY_S * 1000)
        self._started_at = self._shown_at = time.monotonic()
        self._shown_fetched = 0

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._timer.stop()
        if self._is_terminal:
            self._file.write(CLEAR_LINE)
            self._file.flush()

    def show(self) -> None:
        """Write the line as it is now."""
        if self._is_terminal:
            self._file.write(CLEAR_LINE + self.line())
        else:
            self._file.write(self.line() + "\n")
        self._file.flush()

    def line(self) -> str:
        """Return the line; the rate is that since the line before."""
        now = time.monotonic()
        fetched = self._crawler.stats["fetched"]
        rate = (fetched - self._shown_fetched) / max(now - self._shown_at, 1e-3)
        self._shown_at, self._shown_fetched = now, fetched
        count = self._crawler.frontier.count
        minutes, seconds = divmod(int(now - self._started_at), 60)
        return (
            f"{minutes:3}:{seconds:02}  {count(State.DONE):,} done, "
            f"{count(State.QUEUED):,} queued, {count(State.CLAIMED)} under way, "
            f"{count(State.FAILED):,} failed, {rate:,.0f} fetches/s{self._waiting()}"
        )

    def _waiting(self) -> str:
        """Tell how long nothing will happen, if everything that is queued has to wait."""
        frontier = self._crawler.frontier
        if frontier.count(State.CLAIMED):
            return ""
        now = time.time()
        next_at = frontier.next_at(now)
        return "" if next_at is None else f", waiting {next_at - now:,.0f} s"
