"""``gencrawl status``: the state and the summary of a crawl, also while it runs."""

import argparse
import contextlib
import time
from collections.abc import Sequence
from typing import Any

from crawler_app.base.text.escaping import json_text, printable
from crawler_app.base.text.formatting import number
from crawler_app.commands.exit_status import OK
from crawler_app.commands.stored_crawl import opened
from crawler_app.commands.summary_text import LISTED, render_summary
from crawler_app.run.results.comparison import compare
from crawler_app.run.results.summary import (
    FINISHED,
    RUNNING,
    Summary,
    state_of,
    summarize,
)
from crawler_app.show.check.folder_ports import saved_ports

__all__ = ["render_state", "status"]


def status(arguments: argparse.Namespace) -> int:
    """Print the state and the summary of a crawl."""
    crawl = opened(arguments)
    crawlers = crawl.crawlers()
    with contextlib.closing(crawl.frontier()) as frontier:
        listed = None if arguments.json else LISTED
        summary = summarize(frontier, has_hosts=False, max_failures=listed)
        comparison = compare(frontier)
        config = crawl.config()
        most = config.max_pages
        is_limited = most is not None and frontier.begun_pages() >= most
    kept = crawl.kept()
    folders = [] if config.frontier else list(saved_ports(crawl.path))
    if arguments.json:
        values: dict[str, Any] = {"state": _state(summary, crawlers)}
        values |= {"seeds": config.seeds, "folders": folders}
        values |= {"process": crawl.owner(), "workers": crawlers}
        values |= summary.to_json() | kept.to_json()
        values["compared"] = comparison and comparison.to_json()
        print(json_text(values, indent=2))
    else:
        how = crawl.how_to_continue(with_more_pages=is_limited)
        state = render_state(summary, crawlers, how)
        what = _what(config.seeds, folders)
        is_rendered = config.render != "never"
        text = render_summary(
            summary, kept, comparison, f"{what}\n{state}", is_rendered=is_rendered
        )
        print(text)
    return OK


def _what(seeds: Sequence[str], folders: Sequence[str]) -> str:
    """Return what was crawled, in one line: the folders, or the first start URL."""
    if folders:
        return printable(f"check of {', '.join(folders)}")
    more = f" and {number(len(seeds) - 1, 'other URL')}" if len(seeds) > 1 else ""
    return printable(f"crawl of {seeds[0]}{more}")


def render_state(
    summary: Summary, crawlers: Sequence[str], how_to_continue: str
) -> str:
    """Describe whether a crawl is running, stopped or finished.

    Args:
        crawlers: Who crawls now, as of `StoredCrawl`.
        how_to_continue: The command for it.

    >>> from crawler_app.base.models import State
    >>> counts = {State.QUEUED: 123, State.CLAIMED: 0}
    >>> render_state(Summary(counts), ["process 4711"], "")
    'running: process 4711; 123 URLs left'
    >>> print(render_state(Summary(counts), [], "gencrawl resume docs"))
    stopped: 123 URLs left; continue with:
      gencrawl resume docs
    """
    state = _state(summary, crawlers)
    left = f"{number(summary.left, 'URL')} left"
    if state == RUNNING:
        who = crawlers[0] if len(crawlers) == 1 else number(len(crawlers), "worker")
        return f"running: {who}; {left}"
    when = ""
    if summary.last_at is not None:
        when = time.strftime(
            " on %Y-%m-%d at %H:%M:%S", time.localtime(summary.last_at)
        )
    if state == FINISHED:
        return f"finished{when}"
    return f"stopped{when}: {left}; continue with:\n  {how_to_continue}"


def _state(summary: Summary, crawlers: Sequence[str]) -> str:
    urls = sum(summary.count_by_state.values())
    return state_of(urls, summary.left, is_running=bool(crawlers))
