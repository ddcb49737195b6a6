"""``gencrawl status``: the state and the summary of a crawl, also while it runs."""

import argparse
import contextlib
import json
import shlex
import time
from pathlib import Path
from typing import Any

from crawler_app.commands.arguments import add_directory
from crawler_app.commands.exit_status import OK
from crawler_app.commands.summary_text import render_summary
from crawler_app.directory import CrawlDirectory
from crawler_app.results.comparison import compare
from crawler_app.results.summary import FINISHED, RUNNING, Summary, state_of, summarize
from crawler_app.text.formatting import number

__all__ = ["add_status", "render_state", "status"]


def add_status(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `status`."""
    add_directory(parser)
    parser.add_argument(
        "--json", action="store_true", help="write JSON, with complete lists"
    )
    parser.set_defaults(command=status)


def status(arguments: argparse.Namespace) -> int:
    """Print the state and the summary of a crawl."""
    directory = CrawlDirectory.open(arguments.directory)
    owner = directory.owner()
    with contextlib.closing(directory.frontier()) as frontier:
        summary = summarize(frontier)
        comparison = compare(frontier)
    kept = directory.kept()
    if arguments.json:
        values: dict[str, Any] = {"state": _state(summary, owner), "process": owner}
        values |= summary.to_json() | kept.to_json()
        values["compared"] = comparison and comparison.to_json()
        print(json.dumps(values, indent=2))
    else:
        state = render_state(summary, owner, directory.path)
        print(render_summary(summary, kept, comparison, state))
    return OK


def render_state(summary: Summary, owner: int | None, path: Path) -> str:
    """Describe whether a crawl is running, stopped or finished.

    Args:
        owner: ID of the process that is crawling; None if there is none.

    >>> from crawler_app.models import State
    >>> counts = {State.QUEUED: 123, State.CLAIMED: 0}
    >>> render_state(Summary(counts), 4711, Path("docs"))
    'running: process 4711 crawls; 123 URLs left'
    >>> print(render_state(Summary(counts), None, Path("docs")))
    stopped: 123 URLs left; continue with:
      gencrawl resume docs
    """
    state = _state(summary, owner)
    left = f"{number(summary.left, 'URL')} left"
    if state == RUNNING:
        return f"running: process {owner} crawls; {left}"
    when = ""
    if summary.last_at is not None:
        when = time.strftime(
            " on %Y-%m-%d at %H:%M:%S", time.localtime(summary.last_at)
        )
    if state == FINISHED:
        return f"finished{when}"
    resume = f"gencrawl resume {shlex.quote(str(path))}"
    return f"stopped{when}: {left}; continue with:\n  {resume}"


def _state(summary: Summary, owner: int | None) -> str:
    urls = sum(summary.count_by_state.values())
    return state_of(urls, summary.left, owner)
