"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 when the crawl came to its end, 1 when the start URL could not be fetched
or the disk failed, 2 for a usage error, 130 when stopped by Ctrl-C or SIGTERM.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import io
import json
import os
import shlex
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Collection, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from crawler_app import __version__
from crawler_app.config import CLIENTS, CrawlConfig
from crawler_app.crawler import PASSING_REASONS, Crawler
from crawler_app.demo_site import DemoSite
from crawler_app.directory import CrawlDirectory
from crawler_app.errors import ConfigError, StorageError
from crawler_app.fetcher import HttpFetcher, client_class
from crawler_app.frontier import Frontier
from crawler_app.models import UrlRecord
from crawler_app.progress import Progress
from crawler_app.report import (
    EXPORT_FORMATS,
    export,
    final_record,
    printable,
    render_text,
    summarize,
)
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["main"]

T = TypeVar("T")

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

# Options of `crawl` that `resume` may change, for the rest of the crawl.
RESUMABLE = ("concurrency", "max_pages", "host_gap_s", "user_agent")

EXAMPLES = """
examples:
  gencrawl demo
  gencrawl crawl https://docs.example.org/ --into docs-crawl --max-pages 500
  gencrawl resume docs-crawl
  gencrawl status docs-crawl
  gencrawl export docs-crawl --format csv > urls.csv
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A title in a script that the terminal does not have must not end a crawl.
        if stream is not None:  # closed by our parent
            cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    try:
        status: int = arguments.command(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except ConfigError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        print(f"gencrawl: cannot keep the crawl on disk: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough; nothing is left to tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gencrawl",
        description="Crawl a web site; stop and resume at any time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    crawl = commands.add_parser("crawl", help="crawl a site into a new directory")
    crawl.add_argument(
        "url", metavar="URL", help="where to begin; its host is the scope"
    )
    crawl.add_argument(
        "--into",
        metavar="DIR",
        required=True,
        type=Path,
        help="where the crawl is kept",
    )
    _add_crawl_options(crawl)
    crawl.set_defaults(command=_crawl)

    resume = commands.add_parser("resume", help="go on with a crawl that was stopped")
    _add_directory(resume)
    _add_common_options(resume, "as before", "as before")
    resume.add_argument(
        "--retry-failed",
        action="store_true",
        help="fetch again what failed for a reason that may have passed",
    )
    resume.set_defaults(command=_resume)

    status = commands.add_parser("status", help="tell how a crawl stands")
    _add_directory(status)
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(command=_status)

    exporter = commands.add_parser("export", help="write every URL to standard output")
    _add_directory(exporter)
    exporter.add_argument(
        "--format",
        choices=EXPORT_FORMATS,
        default=EXPORT_FORMATS[0],
        help=f"one URL a line (default {EXPORT_FORMATS[0]})",
    )
    exporter.set_defaults(command=_export)

    demo = commands.add_parser("demo", help="crawl a small site on this machine")
    demo.add_argument("--into", metavar="DIR", type=Path, help="keep the crawl there")
    demo.add_argument("--quiet", action="store_true", help="no progress lines")
    demo.set_defaults(command=_demo)
    return parser


def _add_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", type=Path, help="what was given to crawl --into"
    )


def _add_crawl_options(parser: argparse.ArgumentParser) -> None:
    default = CrawlConfig(seeds=("http://localhost/",))
    _add_common_options(parser, f"{default.concurrency}", "1, on loopback 0")
    parser.add_argument(
        "--max-depth", type=int, metavar="N", help="most links from the start URL"
    )
    parser.add_argument(
        "--max-redirects",
        type=int,
        metavar="N",
        help=f"most redirects in a row (default {default.max_redirects})",
    )
    parser.add_argument(
        "--include",
        action="append",
        metavar="RE",
        help="crawl only URLs in which this regular expression is found; repeatable",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="RE",
        help="crawl no URLs in which this regular expression is found; repeatable",
    )
    parser.add_argument(
        "--client",
        choices=CLIENTS,
        help=f"HTTP client to use (default {default.client})",
    )
    for part in ("archive", "index"):
        parser.add_argument(
            f"--no-{part}",
            action="store_true",
            help=f"keep no {part} (this version keeps none yet)",
        )


def _add_common_options(
    parser: argparse.ArgumentParser, concurrency: str, host_gap: str
) -> None:
    parser.add_argument(
        "--concurrency",
        type=int,
        metavar="N",
        help=f"fetches under way at once (default {concurrency})",
    )
    parser.add_argument(
        "--max-pages", type=int, metavar="N", help="stop after so many fetched URLs"
    )
    parser.add_argument(
        "--host-gap",
        type=float,
        metavar="SECONDS",
        dest="host_gap_s",
        help=f"least time between two fetches from a host (default {host_gap})",
    )
    parser.add_argument(
        "--user-agent", metavar="TEXT", help="what we say we are, and how to reach you"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress lines")


def _crawl(arguments: argparse.Namespace) -> int:
    names = {field.name for field in dataclasses.fields(CrawlConfig)}
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in names and value is not None
    }
    if "://" not in arguments.url:
        raise ConfigError(
            f"{arguments.url!r} is not an http(s) URL; did you mean "
            f"http://{arguments.url} ?"
        )
    config = CrawlConfig(seeds=(arguments.url,), **options)
    client_class(config.client)  # to find out before DIR is made
    directory = CrawlDirectory.create(arguments.into, config)
    return _run(directory, config, quiet=arguments.quiet)


def _resume(arguments: argparse.Namespace) -> int:
    directory = CrawlDirectory.open(arguments.directory)
    changes = {
        name: getattr(arguments, name)
        for name in RESUMABLE
        if getattr(arguments, name) is not None
    }
    config = dataclasses.replace(directory.config(), **changes)
    again = PASSING_REASONS if arguments.retry_failed else ()
    return _run(directory, config, quiet=arguments.quiet, again=again)


def _with_frontier(path: Path, use: Callable[[Frontier], T]) -> T:
    frontier = CrawlDirectory.open(path).frontier(read_only=True)
    try:
        return use(frontier)
    finally:
        frontier.close()


def _status(arguments: argparse.Namespace) -> int:
    summary = _with_frontier(arguments.directory, summarize)
    if arguments.json:
        print(json.dumps(summary.to_json(), indent=2))
    else:
        print(render_text(summary))
    return OK


def _export(arguments: argparse.Namespace) -> int:
    def write(frontier: Frontier) -> None:
        # JSON and URLs are UTF-8, whatever the terminal is.
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
        export(frontier.records(), sys.stdout, arguments.format)

    _with_frontier(arguments.directory, write)
    return OK


def _demo(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="gencrawl-demo-") as temporary:
        into = arguments.into or Path(temporary)
        site = DemoSite()

        @gen.coroutine
        def demo() -> Generator[Any, Any, int]:
            site.start()
            try:
                print(f"The demo site is at {site.url}; crawling it.", file=sys.stderr)
                config = CrawlConfig(seeds=(site.url,))
                directory = CrawlDirectory.create(into, config)
                status: int = yield _crawl_into(
                    directory, config, quiet=arguments.quiet
                )
                return status
            finally:
                yield site.stop()

        # Nothing to resume: the site goes when we go.
        return _interruptible(demo, None)


def _run(
    directory: CrawlDirectory,
    config: CrawlConfig,
    *,
    quiet: bool,
    again: Collection[str] = (),
) -> int:
    return _interruptible(
        lambda: _crawl_into(directory, config, quiet=quiet, again=again),
        directory.path,
    )


def _interruptible(
    main: Callable[[], "gen.Future[int]"], directory: Path | None
) -> int:
    """Run a command's coroutine; Ctrl-C and a polite kill let it save its state."""

    @gen.coroutine
    def until_terminated() -> Generator[Any, Any, int]:
        running = main()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, running.cancel)
        try:
            status: int = yield running
            return status
        finally:
            loop.remove_signal_handler(signal.SIGTERM)

    try:
        ended: int = IOLoop.current().run_sync(until_terminated)
        return ended
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("Stopped.", file=sys.stderr)
        if directory is not None:
            print(
                f"Everything found so far is kept; go on with:\n"
                f"  gencrawl resume {shlex.quote(str(directory))}",
                file=sys.stderr,
            )
        return INTERRUPTED


@gen.coroutine
def _crawl_into(
    directory: CrawlDirectory,
    config: CrawlConfig,
    *,
    quiet: bool,
    again: Collection[str] = (),
) -> Generator[Any, Any, int]:
    """Crawl into a directory, showing progress, and print the summary.

    Args:
        again: Reasons of failures that are to be tried again.
    """
    with directory, contextlib.ExitStack() as cleanup:
        if config != directory.config():
            directory.save(config)
        frontier = directory.frontier()
        cleanup.callback(frontier.close)
        frontier.requeue(again)
        fetcher = HttpFetcher(config)
        cleanup.callback(fetcher.close)
        crawler = Crawler(config, frontier, fetcher)
        if not quiet:
            cleanup.enter_context(Progress(crawler, sys.stderr))
        yield crawler.run()
        summary = summarize(frontier)
        ends = [final_record(seed, frontier, summary) for seed in config.seeds]
    print(render_text(summary))
    if summary.left:
        print(
            f"The page limit is reached; go on with a larger one:\n"
            f"  gencrawl resume {shlex.quote(str(directory.path))} --max-pages N",
            file=sys.stderr,
        )
    complaints = [complaint for end in ends if (complaint := _complaint(end))]
    for complaint in complaints:
        print(f"The start URL could not be fetched: {complaint}.", file=sys.stderr)
    return FAILED if complaints else OK


def _complaint(end: UrlRecord | None) -> str:
    """Say why a start URL gave no page, from what it led to; nothing if it gave one."""
    if end is None:
        return "its redirects lead nowhere"
    if end.outcome is None:  # stopped before it was its turn
        return ""
    reason = end.outcome.reason
    if reason == "ok":
        return ""
    if reason == "redirect":
        return f"{printable(end.url)} redirects in a circle"
    return f"{printable(end.url)}: {reason} {printable(end.outcome.error)}".rstrip()
