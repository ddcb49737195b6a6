"""``gencrawl browse``: show the archived pages of a crawl in the browser, offline."""

import argparse
import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawler_app.base.storage.tables import cache_home
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.commands.stored_crawl import opened, require_archive
from crawler_app.show.browse.player import player_files
from crawler_app.show.browse.serving import Browsed, start_server
from crawler_app.show.browse.sparse_file import SparseFile
from crawler_app.show.dashboard.searcher import Searcher
from crawler_app.show.export.archive_files import write_archive
from crawler_app.show.report import gather, render_html
from crawler_app.show.terminal.progress_display import Steps
from gencoro import gen
from gencoro.concurrent import Future

__all__ = ["browse"]


def browse(arguments: argparse.Namespace) -> int:
    """Serve the archive of a crawl on this machine until Ctrl-C."""
    steps = Steps(quiet=arguments.quiet)
    crawl = opened(arguments, steps)
    require_archive(crawl)
    given = Path(arguments.player) if arguments.player else None
    with contextlib.ExitStack() as cleanup:
        wacz = cleanup.enter_context(SparseFile())
        player = player_files(given, cache_home())
        with steps:
            write_archive(crawl, cast(BinaryIO, wacz), steps, with_secrets=True)
        paths = [each.index_path for each in crawl.directories() if each.has_index()]
        searcher = Searcher(paths) if paths else None
        if searcher is not None:
            cleanup.callback(searcher.close)
        browsed = Browsed(
            crawl.path.resolve().name,
            crawl.config().seeds[0],
            wacz,
            player,
            searcher,
            lambda: render_html(gather(crawl)),
        )
        return run_interruptible(lambda: _serve(browsed, arguments.port))


@gen.coroutine
def _serve(browsed: Browsed, port: int) -> Generator[Any, Any, int]:
    server, url = start_server(browsed, port)
    print(f"The archive is shown at {url}", flush=True)
    print("Press Ctrl-C to end.", file=sys.stderr)
    try:
        yield Future()  # never done; a signal cancels it
    finally:
        server.stop()
    return 0
