"""``gencrawl crawl`` and ``gencrawl resume``: run a crawl and show its progress."""

import argparse
import contextlib
import dataclasses
import shlex
import sqlite3
import sys
from collections.abc import Generator, Iterable
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import as_given
from crawler_app.base.errors import LoginError, StorageError
from crawler_app.base.models import State, UrlRecord
from crawler_app.base.reasons import (
    RETRYABLE,
    WALLS,
    AnyReason,
    Reason,
    meaning_of,
    words_of_scripted,
)
from crawler_app.base.safe_files import is_locked
from crawler_app.base.text.formatting import number
from crawler_app.commands.bug_report import ask_for_report
from crawler_app.commands.config_options import config_of, make_absolute, read_options
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK
from crawler_app.commands.interruptible import how_to_resume, run_interruptible
from crawler_app.commands.live_view import LiveView, check_dashboard_address
from crawler_app.commands.scheme_guess import with_schemes
from crawler_app.commands.stored_crawl import stored_at
from crawler_app.commands.summary_text import LISTED, render_summary
from crawler_app.commands.verbose import verbose_log
from crawler_app.commands.work import begin_and_work, resume_work
from crawler_app.run.crawler import Crawler, Result
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.staging import staged
from crawler_app.run.results.start_urls import complaint_about, login_hints
from crawler_app.run.results.summary import Summary, final_records, summarize
from crawler_app.show.check.folder_ports import require_no_folders
from crawler_app.store.database import is_damage
from gencoro import gen

__all__ = ["crawl", "resume", "run_and_show"]

ALREADY_FINISHED = (
    "The crawl had already finished, and nothing was fetched.  Running the same `crawl` "
    "again fetches what has changed."
)


def crawl(arguments: argparse.Namespace) -> int:
    """Crawl a site into a directory, or recrawl it if the directory holds its crawl."""
    check_dashboard_address(
        arguments
    )  # first: --dashboard may have taken the URL as its value
    config = staged(config_of(arguments, with_schemes))
    if config.frontier:
        try:
            status = begin_and_work(arguments, config)
        except LoginError:
            _print_whole_summary(config)
            raise
        return (
            status if status == INTERRUPTED else _print_whole_summary(config) or status
        )
    view = LiveView(arguments, config)
    return _run(arguments, Crawler(config, watch=view.watch), view)


def resume(arguments: argparse.Namespace) -> int:
    """Resume a crawl that was stopped."""
    check_dashboard_address(arguments)
    directory = CrawlDirectory.open(arguments.directory)
    require_no_folders(directory.path)
    given = read_options(arguments)
    saved = directory.config()
    directory.require_own(saved, given)
    make_absolute(given)
    config = dataclasses.replace(saved, **given)
    retried_reasons: set[AnyReason] = (
        set(RETRYABLE) if arguments.retry_failed else set()
    )
    if arguments.deny_private is False:
        retried_reasons.add(Reason.PRIVATE_ADDRESS)
    if config.frontier:
        return resume_work(arguments, config, given, retried_reasons)
    view = LiveView(arguments, config)
    crawler = Crawler(
        config,
        resume=True,
        retried_reasons=retried_reasons,
        watch=view.watch,
    )
    return _run(arguments, crawler, view)


def _print_whole_summary(config: CrawlConfig) -> int:
    """Print the summary of a crawl in PostgreSQL; return its exit status."""
    stored = stored_at(config.into)
    with contextlib.closing(stored.frontier()) as frontier:
        summary = summarize(frontier, has_hosts=False, max_failures=LISTED)
        seed_ends = final_records(config.seeds, frontier, summary)
    is_rendered = config.render != "never"
    print(render_summary(summary, stored.kept(), is_rendered=is_rendered))
    _print_lines(f"{hint}." for hint in login_hints(config, seed_ends))
    status = _print_seed_errors(config.seeds, seed_ends)
    return _print_emptiness(summary, config) or status


def _print_seed_errors(seeds: Iterable[str], ends: Iterable[UrlRecord | None]) -> int:
    """Print why start URLs gave no page; return the exit status."""
    complaints = list(filter(None, map(complaint_about, seeds, ends)))
    for complaint in complaints:
        print(f"The start URL could not be fetched: {complaint}.", file=sys.stderr)
    return FAILED if complaints else OK


def _print_emptiness(summary: Summary, config: CrawlConfig) -> int:
    """Print why nothing was read of a site that scripts make; return the exit status."""
    if not summary.is_shell:
        return OK
    words = words_of_scripted(is_rendered=config.render != "never")
    print(f"Nothing was read: {words}.", file=sys.stderr)
    return FAILED


def _run(arguments: argparse.Namespace, crawler: Crawler, view: LiveView) -> int:
    path = crawler.config.into
    try:
        with verbose_log(arguments):
            return run_interruptible(
                lambda: run_and_show(crawler, view, quiet=arguments.quiet), path
            )
    except (StorageError, sqlite3.Error) as exc:
        if CrawlDirectory.holds_crawl(path) and not is_damage(exc):
            resume = f"gencrawl resume {shlex.quote(path)}"
            cause = "file is free" if is_locked(exc) else "disk is writable"
            exc.add_note(f"once the {cause}, continue with `{resume}`")
        raise


@gen.coroutine
def run_and_show(
    crawler: Crawler, view: LiveView, *, quiet: bool
) -> Generator[Any, Any, int]:
    """Run a crawler, print the summary, and return the exit status.

    Args:
        view: Where the crawl is shown.
        quiet: Do not suggest the report at the end.
    """
    with view:
        error = None
        try:
            result: Result = yield crawler.run()
        except LoginError as exc:  # there may be pages of before
            if crawler.result is None:
                raise
            result, error = crawler.result, exc
        summary = render_summary(
            result.summary,
            result.kept,
            result.comparison,
            rendering=result.rendering,
            is_rendered=crawler.config.render != "never",
        )
        print(summary)
        status = _print_hints(result, crawler.config, quiet=quiet)
        yield view.end(summary)
    if error is not None:
        raise error
    return status


def _print_hints(result: Result, config: CrawlConfig, *, quiet: bool) -> int:
    """Print how to continue after a crawl; return its exit status."""
    if result.limit_reached:
        print(_advice(result.limit_reached, config), file=sys.stderr)
    if result.had_finished:
        print(ALREADY_FINISHED, file=sys.stderr)
    _print_cures(result.summary)
    _print_lines(f"{hint}." for hint in login_hints(config, result.seed_ends))
    status = _print_seed_errors(config.seeds, result.seed_ends)
    status = _print_emptiness(result.summary, config) or status
    if result.was_stopped:
        print(how_to_resume(config.into), file=sys.stderr)
    elif not quiet and (result.summary.failures or result.summary.loops):
        shown = shlex.quote(config.into)
        print(f"To see what is broken:\n  gencrawl report {shown}", file=sys.stderr)
    if ask_for_report(result.summary.internal_errors):
        status = FAILED
    return INTERRUPTED if result.was_stopped else status


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _print_cures(summary: Summary) -> None:
    """Print what to do about the URLs that a wall or a login stands before."""
    for reason in (*WALLS, Reason.LOGIN_REQUIRED):
        if count := summary.count_by_reason[State.FAILED][reason]:
            print(f"{number(count, 'URL')}: {meaning_of(reason)}.", file=sys.stderr)


def _advice(limit: str, config: CrawlConfig) -> str:
    """Return how to continue after a limit; only --max-pages counts earlier runs."""
    reached = as_given(config, limit)
    flag, _, _ = reached.partition(" ")
    resume = f"  gencrawl resume {shlex.quote(config.into)}"
    if limit == "max_pages":
        return (
            f"The crawl has reached {reached}, which includes earlier runs; to continue, "
            f"raise it:\n{resume} {flag} N"
        )
    return (
        f"This run has reached {reached}, which later runs keep; to continue, start another, "
        f"with another limit if you like:\n{resume} {flag} N"
    )
