"""Shows a crawl in the terminal and on the dashboard, until the dashboard is closed."""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.commands.stored_crawl import stored_at
from crawler_app.run.crawl.monitor import Monitor, Watched
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.terminal.progress_display import show_crawl
from gencoro import gen

if TYPE_CHECKING:
    from crawler_app.show.dashboard import Dashboard

__all__ = ["LiveView", "check_dashboard_address"]


def check_dashboard_address(arguments: argparse.Namespace) -> None:
    """Check the options of the dashboard before anything is changed on disk.

    Raises:
        ConfigError: its address or its token cannot be used, or there is none.
    """
    if arguments.stay and arguments.dashboard is None:
        raise ConfigError("--stay needs --dashboard")
    if arguments.dashboard is not None:
        # Imported only if needed: it takes as long as everything else together.
        from crawler_app.show.dashboard import ANY_PORT, check_dashboard  # noqa: PLC0415

        check_dashboard(arguments.dashboard or ANY_PORT)


class LiveView(contextlib.ExitStack):
    """Shows a crawl as the arguments ask for; a context manager around its run and its end.

    Args:
        may_stay: Whether the dashboard may stay open after the crawl.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        config: CrawlConfig,
        *,
        may_stay: bool = True,
    ) -> None:
        super().__init__()
        self._arguments = arguments
        self._config = config
        self._stays = may_stay and _stays(arguments.stay)
        self._dashboard: Dashboard | None = None

    @contextlib.contextmanager
    def watch(self, crawl: Watched) -> Iterator[None]:
        """Show a running crawl."""
        with contextlib.ExitStack() as display:
            monitor = Monitor(crawl)
            note = ""
            if self._arguments.dashboard is not None:
                url = self._open_dashboard(monitor)
                note = f"dashboard  {url}"
                print(f"The dashboard is at {url}", file=sys.stderr)
            if not self._arguments.quiet:
                # Without a table, the log itself shows the progress.
                has_lines = not self._arguments.verbose
                shown = show_crawl(sys.stdout, sys.stderr, note, has_lines=has_lines)
                monitor.listen(display.enter_context(shown))
            display.enter_context(monitor)
            yield
        if self._dashboard is not None:
            self._dashboard.take_last_sample()

    def _open_dashboard(self, monitor: Monitor) -> str:
        """Open the dashboard, and return its URL without a secret."""
        from crawler_app.show.dashboard import ANY_PORT, Dashboard  # noqa: PLC0415

        # The directories of worker processes exist now.
        directory = CrawlDirectory(self._config.into)
        index_paths = directory.index_paths() if self._config.index else ()
        address = self._arguments.dashboard or ANY_PORT
        dashboard = Dashboard(monitor, address, index_paths=index_paths)
        self._dashboard = self.enter_context(dashboard)
        return dashboard.shown_url

    @gen.coroutine
    def end(self, summary: str) -> Generator[Any, Any, None]:
        """Show the summary on the dashboard; wait until it is closed, if it stays open."""
        if self._dashboard is None:
            return
        if not self._stays:
            self._dashboard.end(summary)
            return
        print(
            "The dashboard stays open, with the summary and the report.  Close it there, or "
            "press Ctrl-C.",
            file=sys.stderr,
        )
        # By Ctrl-C or SIGTERM, which is no interruption: the crawl has ended.
        with contextlib.suppress(asyncio.CancelledError):
            yield self._dashboard.stay(summary, self._report)

    def _report(self) -> str:
        """Return the page of the report."""
        from crawler_app.show.report import gather, render_html  # noqa: PLC0415

        return render_html(gather(stored_at(self._config.into)))


def _stays(asked_for: bool | None) -> bool:
    """Return whether the dashboard stays open; by default only in a terminal.

    A script or a job without one would wait forever.
    """
    if asked_for is not None:
        return asked_for
    return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)


def _is_terminal(file: TextIO | None) -> bool:
    return file is not None and not file.closed and file.isatty()
