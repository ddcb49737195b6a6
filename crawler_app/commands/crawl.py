"""``gencrawl crawl`` and ``gencrawl resume``: run a crawl and show its progress."""

import argparse
import contextlib
import dataclasses
import shlex
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Any

from crawler_app.commands.arguments import add_directory, add_showing
from crawler_app.commands.config_options import add_options, config_of, read_options
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK
from crawler_app.commands.interruptible import how_to_resume, run_interruptible
from crawler_app.commands.summary_text import render_summary
from crawler_app.commands.verbose import shown_log
from crawler_app.config import CrawlConfig
from crawler_app.config.option import options_of
from crawler_app.crawl.monitor import Monitor, Watched
from crawler_app.crawler import Crawler, Result
from crawler_app.directory import CrawlDirectory
from crawler_app.models import UrlRecord
from crawler_app.reasons import (
    CONTENT,
    RETRYABLE,
    AnyReason,
    Reason,
    meaning_of,
)
from crawler_app.terminal.showing import shown_on
from crawler_app.text.escaping import printable
from gencoro import gen

__all__ = [
    "add_crawl",
    "add_resume",
    "check_showing",
    "crawl",
    "resume",
    "run_and_show",
    "watching",
]


def add_crawl(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `crawl`."""
    add_options(parser)
    add_showing(parser)
    parser.set_defaults(command=crawl)


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `resume`."""
    add_directory(parser)
    add_showing(parser)
    add_options(parser, is_new=False)
    parser.add_argument(
        "--retry-failed",
        action="store_true",
        help="fetch URLs again that failed for a reason that may be temporary",
    )
    parser.set_defaults(command=resume)


def crawl(arguments: argparse.Namespace) -> int:
    """Crawl a site into a directory, or recrawl it if the directory holds its crawl."""
    check_showing(arguments)  # first: --dashboard may have taken the URL as its value
    config = config_of(arguments)
    return _run(arguments, config, Crawler(config, watch=watching(arguments, config)))


def resume(arguments: argparse.Namespace) -> int:
    """Resume a crawl that was stopped."""
    check_showing(arguments)
    directory = CrawlDirectory.open(arguments.directory)
    config = dataclasses.replace(directory.config(), **read_options(arguments))
    retried_reasons: set[AnyReason] = (
        set(RETRYABLE) if arguments.retry_failed else set()
    )
    if arguments.deny_private is False:
        retried_reasons.add(Reason.PRIVATE_ADDRESS)
    crawler = Crawler(
        config,
        resume=True,
        retried_reasons=retried_reasons,
        watch=watching(arguments, config),
    )
    return _run(arguments, config, crawler)


def _run(arguments: argparse.Namespace, config: CrawlConfig, crawler: Crawler) -> int:
    with shown_log(arguments):
        return run_interruptible(
            lambda: run_and_show(crawler, quiet=arguments.quiet), config.into
        )


def check_showing(arguments: argparse.Namespace) -> None:
    """Check the address of the dashboard before anything is changed on disk.

    Raises:
        ConfigError: its address or its token cannot be used.
    """
    if arguments.dashboard is not None:
        # Imported only if needed: it takes as long as everything else together.
        from crawler_app.dashboard import ANY_PORT, check_dashboard  # noqa: PLC0415

        check_dashboard(arguments.dashboard or ANY_PORT)


@gen.coroutine
def run_and_show(crawler: Crawler, *, quiet: bool) -> Generator[Any, Any, int]:
    """Run a crawler, print the summary, and return the exit status.

    Args:
        quiet: Do not suggest the report at the end.
    """
    result: Result = yield crawler.run()
    print(render_summary(result.summary, result.kept, result.comparison))
    path = crawler.config.into
    if result.limit_reached:
        print(_advice(result.limit_reached, crawler.config), file=sys.stderr)
    complaints = [text for end in result.seed_ends if (text := _complaint(end))]
    for complaint in complaints:
        print(f"The start URL could not be fetched: {complaint}.", file=sys.stderr)
    if result.was_stopped:
        print(how_to_resume(path), file=sys.stderr)
        return INTERRUPTED
    if not quiet and (result.summary.failures or result.summary.loops):
        shown = shlex.quote(path)
        print(f"To see what is broken:\n  gencrawl report {shown}", file=sys.stderr)
    return FAILED if complaints else OK


def watching(
    arguments: argparse.Namespace, config: CrawlConfig
) -> Callable[[Watched], AbstractContextManager[None]]:
    """Return a function that shows a running crawl as the arguments ask for."""
    directory = CrawlDirectory(config.into)

    @contextlib.contextmanager
    def watch(crawl: Watched) -> Iterator[None]:
        with contextlib.ExitStack() as cleanup:
            monitor = Monitor(crawl)
            note = ""
            if arguments.dashboard is not None:
                from crawler_app.dashboard import (  # noqa: PLC0415
                    ANY_PORT,
                    Dashboard,
                )

                # Their directories are there now.
                index_paths = directory.index_paths() if config.index else ()
                dashboard = Dashboard(
                    monitor, arguments.dashboard or ANY_PORT, index_paths=index_paths
                )
                cleanup.enter_context(dashboard)
                note = f"dashboard  {dashboard.shown_url}"
                print(f"The dashboard is at {dashboard.shown_url}", file=sys.stderr)
            if not arguments.quiet:
                # Without a table, the log itself shows the progress.
                has_lines = not arguments.verbose
                shown = shown_on(sys.stdout, sys.stderr, note, has_lines=has_lines)
                monitor.listen(cleanup.enter_context(shown))
            cleanup.enter_context(monitor)
            yield

    return watch


def _advice(limit: str, config: CrawlConfig) -> str:
    """Return how to continue after a limit; only --max-pages counts earlier runs too."""
    flag = "--" + limit.replace("_", "-")
    (option,) = [each for each in options_of(CrawlConfig) if each.flag == flag]
    reached = f"{flag} {option.render(getattr(config, option.name))}"
    resume = f"  gencrawl resume {shlex.quote(config.into)}"
    if limit == "max_pages":
        return (
            f"The crawl has reached {reached}, which includes earlier runs; to continue, "
            f"raise it:\n{resume} {flag} N"
        )
    return f"This run has reached {reached}; to continue, start another:\n{resume}"


def _complaint(end: UrlRecord | None) -> str:
    """Return why a start URL gave no page, by the URL it redirects to; empty if it did."""
    if end is None:
        return "its redirects lead to a URL that is unknown"
    if end.outcome is None:  # stopped before its turn
        return ""
    reason = end.outcome.reason
    if reason in CONTENT:
        return ""
    if reason == Reason.REDIRECT:
        return f"{printable(end.url)} is part of a redirect loop"
    if reason == Reason.ROBOTS:
        return (
            f"the robots.txt of its host asks not to fetch {printable(end.url)}; "
            "use --no-robots if the site is yours"
        )
    error = f": {printable(end.outcome.error)}" if end.outcome.error else ""
    return f"{printable(end.url)}: {meaning_of(reason)} ({reason}{error})"
