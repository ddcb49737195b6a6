"""``gencrawl status``: how a crawl stands, also while it runs."""

import argparse
import contextlib
import json
import shlex
import time
from functools import partial
from pathlib import Path
from typing import Any

from crawler_app.commands.arguments import Subparsers, add_directory, add_quiet
from crawler_app.commands.exit_status import OK
from crawler_app.directory import CrawlDirectory
from crawler_app.models import State
from crawler_app.progress import Steps
from crawler_app.summary import Summary, summarize
from crawler_app.summary_text import kept_to_json, render_summary

__all__ = ["add_status", "render_state", "state_of", "status"]


def add_status(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("status", help="tell how a crawl stands")
    add_directory(parser)
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(command=status)


def status(arguments: argparse.Namespace) -> int:
    """Tell how a crawl stands."""
    directory = CrawlDirectory.open(arguments.directory)
    owner = directory.owner()
    with (
        contextlib.closing(directory.frontier()) as frontier,
        Steps(quiet=arguments.quiet) as steps,
    ):
        total = sum(map(frontier.count, State))
        summary = summarize(frontier, partial(steps.of, "reading URLs", total=total))
        comparison = directory.comparison(frontier)
    kept = directory.kept()
    if arguments.json:
        values: dict[str, Any] = {"state": state_of(summary, owner), "process": owner}
        values |= summary.to_json() | kept_to_json(kept)
        values["compared"] = comparison and comparison.to_json()
        print(json.dumps(values, indent=2))
    else:
        print(render_state(summary, owner, directory.path))
        print(render_summary(summary, kept, comparison))
    return OK


def state_of(summary: Summary, owner: int | None) -> str:
    """Return whether a crawl is ``running``, or has ``stopped`` or ``finished``.

    Args:
        owner: The process that crawls; None if none does.
    """
    if owner is not None:
        return "running"
    # One that was killed before its first URL knows none at all.
    is_finished = any(summary.count_by_state.values()) and not summary.left
    return "finished" if is_finished else "stopped"


def render_state(summary: Summary, owner: int | None, path: Path) -> str:
    """Return the same in a line for a person.

    >>> counts = {State.QUEUED: 123, State.CLAIMED: 0}
    >>> render_state(Summary(counts), 4711, Path("docs"))
    'running: process 4711 crawls; 123 URLs left'
    >>> render_state(Summary(counts), None, Path("docs"))
    'stopped: 123 URLs left; go on with `gencrawl resume docs`'
    """
    state = state_of(summary, owner)
    left = f"{summary.left:,} URLs left"
    if state == "running":
        return f"running: process {owner} crawls; {left}"
    when = ""
    if summary.last_at is not None:
        when = time.strftime(
            " on %Y-%m-%d at %H:%M:%S", time.localtime(summary.last_at)
        )
    if state == "finished":
        return f"finished{when}"
    resume = f"gencrawl resume {shlex.quote(str(path))}"
    return f"stopped{when}: {left}; go on with `{resume}`"
