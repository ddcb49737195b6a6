"""``gencrawl demo``: crawl, change, crawl again and search a small demo site."""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Generator
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.commands.crawl import run_and_show
from crawler_app.commands.demo_site import DemoSite
from crawler_app.commands.exit_status import INTERRUPTED
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.commands.live_view import LiveView, check_dashboard_address
from crawler_app.commands.verbose import verbose_log
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.terminal.plain_text import has_style
from crawler_app.store.index.rendering import render_hits
from gencoro import gen

__all__ = ["demo"]

# Retry soon: the demo site has no other visitors.
RETRY_PAUSE_S = 0.2
QUERY = "galaxy OR telescope*"


def demo(arguments: argparse.Namespace) -> int:
    """Crawl a small site on this machine twice, and search the result."""
    check_dashboard_address(arguments)
    with tempfile.TemporaryDirectory(prefix="gencrawl-demo-") as temporary:
        into = str(arguments.into or temporary)
        # No hint how to resume: the site stops with this process.
        with verbose_log(arguments):
            ended = run_interruptible(lambda: _crawl_twice(into, arguments))
        if ended != INTERRUPTED:
            _show_search(into)
            if not arguments.into:
                print(
                    "\nThe crawl was not kept; use --into DIR to keep it for report, search "
                    "and export.",
                    file=sys.stderr,
                )
        return ended


@gen.coroutine
def _crawl_twice(into: str, arguments: argparse.Namespace) -> Generator[Any, Any, int]:
    site = DemoSite()
    site.start()
    try:
        print(f"The demo site is at {site.url}; crawling it.", file=sys.stderr)
        config = CrawlConfig((site.url,), into=into, retry_pause_s=RETRY_PAUSE_S)
        ended: int = yield _crawl(config, arguments)
        site.change()
        print("\nThe site has changed a little.  Crawling it again:\n")
        yield _crawl(config, arguments)
        return ended
    finally:
        yield site.stop()


def _crawl(config: CrawlConfig, arguments: argparse.Namespace) -> "gen.Future[int]":
    view = LiveView(arguments, config, may_stay=False)
    return run_and_show(Crawler(config, watch=view.watch), view, quiet=True)


def _show_search(into: str) -> None:
    print()
    with contextlib.closing(CrawlDirectory.open(into).index()) as index:
        print(render_hits(index.search(QUERY, limit=2), bold=has_style(sys.stdout)))
