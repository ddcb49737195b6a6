"""``gencrawl frontier``, ``crawls`` and ``drop``: the crawls in PostgreSQL."""

import argparse
import sys

from crawler_app.commands.arguments import count
from crawler_app.commands.exit_status import OK
from crawler_app.commands.server import add_crawl_name, add_server, driven, run
from crawler_app.config import CrawlConfig
from crawler_app.errors import ConfigError
from crawler_app.text.formatting import number

__all__ = ["add_crawls", "add_drop", "add_frontier", "crawls", "drop", "frontier"]

INSTALL, CRAWLS, PLACE = (
    f"frontier.postgres.{name}" for name in ("install", "crawls", "place")
)


def add_frontier(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `frontier`."""
    parser.description = (
        "Make the tables of a crawl in PostgreSQL, whose frontier the workers of many "
        "machines share.  `crawl --frontier` makes them too, if its user may."
    )
    parser.add_argument(
        "action", choices=["init"], help="init: make them, unless they are there"
    )
    add_server(parser)
    add_crawl_name(parser)
    parser.add_argument(
        "--partitions",
        type=count,
        default=8,
        metavar="N",
        help="partitions of the large tables, up to 1024 (default 8)",
    )
    parser.set_defaults(command=frontier)


def frontier(arguments: argparse.Namespace) -> int:
    """Make the tables of a crawl, and say so."""
    install = driven(INSTALL).install
    place = driven(PLACE).Place(arguments.url, arguments.crawl_name)
    is_new = run(install, place, partitions=arguments.partitions)
    print(
        f"made the crawl {place}" if is_new else f"the crawl {place} is there already"
    )
    return OK


def add_drop(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `drop`."""
    add_server(parser)
    add_crawl_name(parser)
    parser.set_defaults(command=drop)


def drop(arguments: argparse.Namespace) -> int:
    """Delete the tables of a crawl, and say so; what was archived stays."""
    place = driven(PLACE).Place(arguments.url, arguments.crawl_name)
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
        print("There are no crawls.", file=sys.stderr)
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
