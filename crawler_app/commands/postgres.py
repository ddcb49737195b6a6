"""``gencrawl postgres``: creates, moves, repairs, lists and deletes crawls in PostgreSQL."""

import argparse
import shlex
import sys
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.postgres_driver import postgres_module
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number
from crawler_app.commands.exit_status import OK
from crawler_app.commands.interruptible import run
from crawler_app.commands.stored_crawl import cache_of
from crawler_app.show.terminal.progress_display import Steps

__all__ = ["copy", "drop", "forget", "init", "list_"]

INSTALL, CRAWLS, LOCATION = (
    f"crawler_app.store.frontier.postgres.{name}"
    for name in ("install", "crawls", "location")
)


def _location(arguments: argparse.Namespace) -> Any:
    return postgres_module(LOCATION).CrawlLocation(arguments.url, arguments.crawl_name)


def init(arguments: argparse.Namespace) -> int:
    """Create the tables of a crawl, unless they are there, and say so."""
    location = _location(arguments)
    is_new = run(
        postgres_module(INSTALL).install, location, partitions=arguments.partitions
    )
    print(
        f"made the crawl {location}"
        if is_new
        else f"the crawl {location} exists already"
    )
    return OK


def copy(arguments: argparse.Namespace) -> int:
    """Move the frontier of a crawl in a directory into PostgreSQL."""
    location = _location(arguments)
    with Steps(quiet=arguments.quiet) as steps:
        urls = run(
            postgres_module("crawler_app.run.directory.moving").move_frontier,
            arguments.directory,
            location,
            partitions=arguments.partitions,
            on_step=steps,
        )
    print(
        f"copied {number(urls, 'URL')} to the crawl {location}; continue with:\n"
        f"  gencrawl resume {shlex.quote(arguments.directory)}"
    )
    return OK


def forget(arguments: argparse.Namespace) -> int:
    """Requeue the URLs whose responses were lost with a worker's store."""
    with Steps(quiet=arguments.quiet) as steps:
        done = postgres_module("crawler_app.run.directory.lost_store").forget_lost(
            _location(arguments), arguments.store, cache_of(arguments), steps
        )
    what = "had nothing left" if done.is_gone else "keeps what it has"
    print(
        f"{number(done.urls, 'URL')} to be fetched again; "
        f"{printable(done.store.location)} {what}"
    )
    return OK


def drop(arguments: argparse.Namespace) -> int:
    """Delete the tables of a crawl, and say so; what was archived stays."""
    location = _location(arguments)
    run(postgres_module(INSTALL).uninstall, location)
    print(f"deleted the crawl {location}")
    return OK


def list_(arguments: argparse.Namespace) -> int:
    """List the crawls of a server."""
    found = run(postgres_module(CRAWLS).crawls_of, arguments.url)
    if not found:
        print("There are no crawls that this user can read.", file=sys.stderr)
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        if each.is_foreign:
            what = f"has version {each.version} of the frontier"
        elif each.config is None:
            what = "has not begun"
        else:
            what = (
                f"{number(each.workers, 'worker')}, {number(each.left, 'URL')} left: "
                + " ".join(_seeds(each.config))
            )
        print(f"{each.name:<{width}}  {what}")
    return OK


def _seeds(config: str) -> tuple[str, ...]:
    try:
        return CrawlConfig.from_json(config).seeds
    except ConfigError:  # of a later version with other options
        return ()
