"""What each command does; `crawler_app.cli` says how it is called.

Each takes the parsed arguments and returns the exit status, see `crawler_app.cli`.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import getpass
import io
import json
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Generator
from pathlib import Path
from typing import Any, cast

from crawler_app.archive.wacz import write_wacz
from crawler_app.comparison import THERE, Comparison, compare
from crawler_app.config import CrawlConfig
from crawler_app.crawler import Crawler
from crawler_app.demo_site import DemoSite
from crawler_app.directory import CrawlDirectory, Kept, Stores
from crawler_app.ending import PASSING_REASONS
from crawler_app.errors import ConfigError
from crawler_app.fetcher import check_fetcher, make_fetcher
from crawler_app.frontier import Frontier
from crawler_app.models import UrlRecord
from crawler_app.printing import printable
from crawler_app.progress import Progress
from crawler_app.report import (
    WACZ,
    Summary,
    export,
    final_records,
    kept_to_json,
    pages_of,
    render_comparison,
    render_kept,
    render_text,
    summarize,
)
from crawler_app.search import render_hits, to_json
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "OK",
    "RESUMABLE",
    "USAGE",
    "crawl",
    "demo",
    "export_crawl",
    "resume",
    "search",
    "status",
]

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

# The demo's failures are tried again soon: nobody else is at its site.
DEMO_RETRY_PAUSE_S = 0.2
DEMO_QUERY = "galaxy OR telescope*"

# What fails so is worth another try once it is allowed.
PRIVATE_ADDRESS = "private_address"

# Options of `crawl` that `resume` may change, for the rest of the crawl.
RESUMABLE = (
    "concurrency",
    "per_host",
    "host_gap_s",
    "max_pages",
    "max_bytes",
    "max_time_s",
    "deny_private",
    "user_agent",
    "contact",
)


def crawl(arguments: argparse.Namespace) -> int:
    """Crawl a site into a directory, once more if it holds a crawl of it already."""
    names = {field.name for field in dataclasses.fields(CrawlConfig)}
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in names and value is not None
    }
    for url in arguments.seeds:
        if "://" not in url:
            meant = re.sub("^https?:/*", "", url)
            raise ConfigError(
                f"{url!r} is not an http(s) URL; did you mean http://{meant} ?"
            )
    if arguments.cookie_file:  # to be found from wherever the crawl is resumed
        options["cookie_file"] = str(Path(arguments.cookie_file).absolute())
    if arguments.auth and ":" not in arguments.auth:
        options["auth"] = f"{arguments.auth}:{getpass.getpass()}"
    config = CrawlConfig(**options)
    check_fetcher(config)  # before DIR is made
    if not CrawlDirectory.holds_crawl(arguments.into):
        return _run(CrawlDirectory.create(arguments.into, config), config, arguments)
    directory = CrawlDirectory.open(arguments.into)
    seeds = directory.config().seeds
    if set(seeds) != set(config.seeds):
        raise ConfigError(
            f"{arguments.into} holds a crawl of {' '.join(seeds)}; choose another "
            "directory"
        )
    return _run(directory, config, arguments, is_recrawl=True)


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a crawl that was stopped."""
    directory = CrawlDirectory.open(arguments.directory)
    changes = {
        name: getattr(arguments, name)
        for name in RESUMABLE
        if getattr(arguments, name) is not None
    }
    config = dataclasses.replace(directory.config(), **changes)
    retried_reasons = PASSING_REASONS if arguments.retry_failed else ()
    if arguments.deny_private is False:
        retried_reasons += (PRIVATE_ADDRESS,)
    return _run(directory, config, arguments, retried_reasons=retried_reasons)


def status(arguments: argparse.Namespace) -> int:
    """Tell how a crawl stands."""
    directory = CrawlDirectory.open(arguments.directory)
    with contextlib.closing(directory.frontier()) as frontier:
        summary = summarize(frontier)
        comparison = _comparison(directory, frontier)
    kept = directory.kept()
    if arguments.json:
        values = summary.to_json() | kept_to_json(kept)
        values["compared"] = comparison and comparison.to_json()
        print(json.dumps(values, indent=2))
    else:
        print(_text(summary, kept, comparison))
    return OK


def search(arguments: argparse.Namespace) -> int:
    """Find pages by their words."""
    directory = CrawlDirectory.open(arguments.directory)
    with contextlib.closing(directory.index()) as index:
        result = index.search(" ".join(arguments.words), limit=arguments.limit)
    if arguments.json:
        print(json.dumps(to_json(result), indent=2))
    else:
        print(render_hits(result, bold=sys.stdout.isatty()))
    return OK if result.total else FAILED


def export_crawl(arguments: argparse.Namespace) -> int:
    """Write a crawl to standard output."""
    directory = CrawlDirectory.open(arguments.directory)
    with contextlib.closing(directory.frontier()) as frontier:
        if arguments.format == WACZ:
            _export_archive(directory, frontier)
            return OK
        # JSON and URLs are UTF-8, whatever the terminal is.
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
        export(frontier.records(), sys.stdout, arguments.format)
    return OK


def _export_archive(directory: CrawlDirectory, frontier: Frontier) -> None:
    if sys.stdout.isatty():
        raise ConfigError("a WACZ file is no text; send it to a file with '> FILE'")
    if not directory.kept().archive.files:
        raise ConfigError(f"{directory.path} holds no archive")
    title_by_url = {
        record.url: record.outcome.title
        for record in frontier.records()
        if record.outcome is not None and record.outcome.title
    }
    write_wacz(
        directory.path,
        sys.stdout.buffer,
        title_of=title_by_url.get,
        software=directory.config().user_agent,
    )


def demo(arguments: argparse.Namespace) -> int:
    """Crawl a small site on this machine, twice, and search what was found."""
    with tempfile.TemporaryDirectory(prefix="gencrawl-demo-") as temporary:
        into = arguments.into or Path(temporary)
        site = DemoSite()

        @gen.coroutine
        def main() -> Generator[Any, Any, int]:
            site.start()
            try:
                print(f"The demo site is at {site.url}; crawling it.", file=sys.stderr)
                config = CrawlConfig((site.url,), retry_pause_s=DEMO_RETRY_PAUSE_S)
                directory = CrawlDirectory.create(into, config)
                ended: int = yield _crawl_into(directory, config, arguments)
                site.change()
                print("\nThe site has changed a little.  Crawling it again:\n")
                yield _crawl_into(directory, config, arguments, is_recrawl=True)
                return ended
            finally:
                yield site.stop()

        # Nothing to resume: the site goes when we go.
        ended = _interruptible(main, None)
        if ended != INTERRUPTED:
            _show_search(CrawlDirectory.open(into))
        return ended


def _show_search(directory: CrawlDirectory) -> None:
    print()
    with contextlib.closing(directory.index()) as index:
        print(render_hits(index.search(DEMO_QUERY, limit=2), bold=sys.stdout.isatty()))


def _run(
    directory: CrawlDirectory,
    config: CrawlConfig,
    arguments: argparse.Namespace,
    *,
    is_recrawl: bool = False,
    retried_reasons: Collection[str] = (),
) -> int:
    return _interruptible(
        lambda: _crawl_into(
            directory,
            config,
            arguments,
            is_recrawl=is_recrawl,
            retried_reasons=retried_reasons,
        ),
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
    arguments: argparse.Namespace,
    *,
    is_recrawl: bool = False,
    retried_reasons: Collection[str] = (),
) -> Generator[Any, Any, int]:
    """Crawl into a directory, showing progress, and print the summary.

    Args:
        is_recrawl: Whether to begin another crawl of what was crawled already.
        retried_reasons: Of failures that are to be tried again.
    """
    with directory:
        if is_recrawl and not directory.begin_recrawl(config):
            print(
                "The crawl there had not come to its end.  This is another one; "
                "`resume` would have gone on with it.",
                file=sys.stderr,
            )
        if config != directory.config():
            directory.save(config)
        with directory.stores(config) as stores:
            stores.frontier.requeue(retried_reasons)
            crawler = yield _crawl(directory, config, stores, arguments.quiet)
            summary = summarize(stores.frontier)
            comparison = _comparison(directory, stores.frontier)
            if comparison is not None:
                _forget_vanished(stores, comparison)
            ends = final_records(config.seeds, stores.frontier, summary)
            kept = directory.kept()
    print(_text(summary, kept, comparison))
    if crawler.limit_reached:
        print(_advice(crawler.limit_reached, directory.path), file=sys.stderr)
    complaints = [complaint for end in ends if (complaint := _complaint(end))]
    for complaint in complaints:
        print(f"The start URL could not be fetched: {complaint}.", file=sys.stderr)
    return FAILED if complaints else OK


@gen.coroutine
def _crawl(
    directory: CrawlDirectory, config: CrawlConfig, stores: Stores, quiet: bool
) -> Generator[Any, Any, Crawler]:
    with contextlib.ExitStack() as cleanup:
        fetcher = make_fetcher(config)
        cleanup.callback(fetcher.close)
        crawler = Crawler(
            config,
            stores.frontier,
            fetcher,
            archive=stores.archive,
            index=stores.index,
            is_recrawl=directory.is_recrawl,
        )
        if not quiet:
            cleanup.enter_context(Progress(crawler, sys.stderr))
        yield crawler.run()
        return crawler


def _forget_vanished(stores: Stores, comparison: Comparison) -> None:
    """Take out of the index what is no page any more."""
    if stores.index is None:
        return
    if comparison.is_whole:
        stores.index.retain(pages_of(stores.frontier))
    else:
        for page in comparison.vanished:
            if page.reason != "robots":
                stores.index.remove(page.url)
    stores.index.flush()


def _comparison(directory: CrawlDirectory, frontier: Frontier) -> Comparison | None:
    previous = directory.previous()
    if previous is None:
        return None
    with contextlib.closing(previous):
        return compare(previous, frontier)


def _text(summary: Summary, kept: Kept, comparison: Comparison | None) -> str:
    parts = [render_text(summary), render_kept(kept)]
    if comparison is not None:
        parts.append(render_comparison(comparison))
    return "\n".join(part for part in parts if part)


def _advice(limit: str, path: Path) -> str:
    """Say how to go on after a limit; that of pages alone counts earlier runs too."""
    option = "--" + limit.replace("_", "-")
    resume = f"  gencrawl resume {shlex.quote(str(path))}"
    if limit == "max_pages":
        return f"The crawl has reached {option}; go on with more:\n{resume} {option} N"
    return f"This run has reached {option}; go on with another:\n{resume}"


def _complaint(end: UrlRecord | None) -> str:
    """Say why a start URL gave no page, from what it led to; nothing if it gave one."""
    if end is None:
        return "its redirects lead nowhere"
    if end.outcome is None:  # stopped before it was its turn
        return ""
    reason = end.outcome.reason
    if reason in THERE:
        return ""
    if reason == "redirect":
        return f"{printable(end.url)} redirects in a circle"
    if reason == "robots":
        return (
            f"the robots.txt of its host asks not to fetch {printable(end.url)}; "
            "--no-robots if the site is yours"
        )
    return f"{printable(end.url)}: {reason} {printable(end.outcome.error)}".rstrip()
