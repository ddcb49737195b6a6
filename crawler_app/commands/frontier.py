"""``gencrawl frontier``, ``crawls`` and ``drop``: the crawls in PostgreSQL."""

import argparse
import shlex
import sys
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.validators import FRONTIER_EXAMPLE, require_frontier
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number
from crawler_app.commands.arguments import add_quiet, count
from crawler_app.commands.exit_status import OK
from crawler_app.commands.server import (
    add_cache,
    add_crawl_name,
    add_server,
    cache_of,
    driven,
    run,
)
from crawler_app.show.terminal.steps import Steps

__all__ = ["add_crawls", "add_drop", "add_frontier", "crawls", "drop", "frontier"]

INIT, COPY, FORGET = "init", "copy", "forget"

INSTALL, CRAWLS, PLACE = (
    f"crawler_app.store.frontier.postgres.{name}"
    for name in ("install", "crawls", "location")
)
MOVING = "crawler_app.run.directory.moving"


def add_frontier(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `frontier`."""
    parser.description = (
        "Make a crawl in PostgreSQL, which the workers of many machines share, move one "
        "there from a directory, or queue again what was lost with a machine."
    )
    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=[INIT, COPY, FORGET],
        help="init: make the tables of a crawl, as `crawl --frontier` does too if its user "
        "may; copy: move the frontier of the crawl in a directory there, so that `work` and "
        "`resume` continue it; forget: queue again what is gone with the store of a worker",
    )
    parser.add_argument(
        "where",
        metavar="[DIR] URL",
        nargs="*",
        help=f"the directory to copy, and the server: {FRONTIER_EXAMPLE}; the password is "
        "read from PGPASSWORD or ~/.pgpass",
    )
    add_crawl_name(parser)
    add_quiet(parser)
    parser.add_argument(
        "--partitions",
        type=count,
        default=8,
        metavar="N",
        help="partitions of the large tables, up to 1024 (default 8)",
    )
    parser.add_argument(
        "--store",
        metavar="STORE",
        help="forget: UUID or location of the directory, or object storage, of a worker "
        "whose machine is lost",
    )
    add_cache(parser)
    parser.set_defaults(command=frontier)


def frontier(arguments: argparse.Namespace) -> int:
    """Make the tables of a crawl, move a crawl there, or forget a store; say so."""
    action, where = arguments.action, arguments.where
    wanted = 2 if action == COPY else 1
    if len(where) != wanted:
        words = "DIR URL" if action == COPY else "URL"
        raise ConfigError(f"give `gencrawl frontier {action} {words}`")
    require_frontier("URL", where[-1])
    place = driven(PLACE).CrawlLocation(where[-1], arguments.crawl_name)
    do = {INIT: _init, COPY: _copy, FORGET: _forget}[action]
    return do(arguments, place)


def _copy(arguments: argparse.Namespace, place: Any) -> int:
    path = arguments.where[0]
    with Steps(quiet=arguments.quiet) as steps:
        urls = run(
            driven(MOVING).move_frontier,
            path,
            place,
            partitions=arguments.partitions,
            on_step=steps,
        )
    print(
        f"copied {number(urls, 'URL')} to the crawl {place}; to go on:\n"
        f"  gencrawl resume {shlex.quote(path)}"
    )
    return OK


def _init(arguments: argparse.Namespace, place: Any) -> int:
    install = driven(INSTALL).install
    is_new = run(install, place, partitions=arguments.partitions)
    print(
        f"made the crawl {place}" if is_new else f"the crawl {place} is there already"
    )
    return OK


def _forget(arguments: argparse.Namespace, place: Any) -> int:
    if not arguments.store:
        raise ConfigError(
            "say what is gone: --store UUID, or the location of the store"
        )
    with Steps(quiet=arguments.quiet) as steps:
        done = driven("crawler_app.run.directory.lost_store").forget_lost(
            place, arguments.store, cache_of(arguments), steps
        )
    what = "had nothing left" if done.is_gone else "keeps what it has"
    print(
        f"{number(done.urls, 'URL')} to be fetched again; "
        f"{printable(done.store.location)} {what}"
    )
    return OK


def add_drop(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `drop`."""
    add_server(parser)
    add_crawl_name(parser)
    parser.set_defaults(command=drop)


def drop(arguments: argparse.Namespace) -> int:
    """Delete the tables of a crawl, and say so; what was archived stays."""
    place = driven(PLACE).CrawlLocation(arguments.url, arguments.crawl_name)
    run(driven(INSTALL).uninstall, place)
    print(f"deleted the crawl {place}")
    return OK


def add_crawls(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `crawls`."""
    add_server(parser)
    parser.set_defaults(command=crawls)


def crawls(arguments: argparse.Namespace) -> int:
    """List the crawls of a server."""
    found = run(driven(CRAWLS).crawls_of, arguments.url)
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
