"""``gencrawl frontier``: make or delete a crawl in PostgreSQL."""

import argparse
import contextlib
import math
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit

from crawler_app.commands.arguments import count
from crawler_app.commands.exit_status import OK
from crawler_app.config.units import parse_duration, parse_size
from crawler_app.errors import ConfigError
from gencoro.ioloop import IOLoop

__all__ = ["add_frontier", "frontier"]


def add_frontier(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `frontier`."""
    parser.description = (
        "Make the tables of a crawl in PostgreSQL, whose frontier the workers of many "
        "machines share, or delete them."
    )
    parser.add_argument(
        "action",
        choices=["init", "drop"],
        help="init: make them, unless they are there; drop: delete them with all URLs",
    )
    parser.add_argument(
        "url",
        metavar="URL",
        help="postgresql://USER@HOST:PORT/DATABASE; the password is read from PGPASSWORD "
        "or ~/.pgpass",
    )
    parser.add_argument(
        "--crawl", metavar="NAME", default="default", help="(default: default)"
    )
    group = parser.add_argument_group("a new crawl, for all workers together")
    group.add_argument(
        "--partitions",
        type=count,
        default=8,
        metavar="N",
        help="partitions of the large tables, up to 1024 (default 8)",
    )
    group.add_argument(
        "--host-gap",
        type=_duration,
        default=1.0,
        metavar="DURATION",
        help="minimum time between two fetches from one host (default 1s)",
    )
    group.add_argument(
        "--max-pages", type=count, metavar="N", help="maximum number of fetched URLs"
    )
    group.add_argument(
        "--max-bytes",
        type=_size,
        metavar="SIZE",
        help="maximum size of what is fetched",
    )
    parser.set_defaults(command=frontier)


def frontier(arguments: argparse.Namespace) -> int:
    """Make or delete the tables of a crawl, and say so."""
    _require_no_password(arguments.url)
    module = _install_module()
    place = module.Place(arguments.url, arguments.crawl)
    loop = IOLoop(make_current=False)
    try:
        if arguments.action == "drop":
            loop.run_sync(lambda: module.uninstall(place))
            print(f"deleted the crawl {place}")
            return OK
        is_new = loop.run_sync(
            lambda: module.install(
                place,
                partitions=arguments.partitions,
                gap_s=arguments.host_gap,
                max_pages=arguments.max_pages,
                max_bytes=arguments.max_bytes,
            )
        )
    finally:
        loop.close()
    print(
        f"made the crawl {place}" if is_new else f"the crawl {place} is there already"
    )
    return OK


def _duration(text: str) -> float:
    with contextlib.suppress(ValueError):
        duration_s = parse_duration(text)
        if 0 <= duration_s < math.inf:
            return duration_s
    raise argparse.ArgumentTypeError(
        f"is {text!r}; it must be a duration, such as 500ms or 2s"
    )


def _size(text: str) -> int:
    with contextlib.suppress(ValueError):
        size_bytes = parse_size(text)
        if size_bytes > 0:
            return size_bytes
    raise argparse.ArgumentTypeError(f"is {text!r}; it must be a size, such as 10GB")


def _require_no_password(url: str) -> None:
    """Refuse a password among the arguments.

    Raises:
        ConfigError: there is one, or the URL is invalid.
    """
    try:
        parts = urlsplit(url)
        has_password = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        has_password = "@" in url  # an error would show the URL
    if has_password:
        raise ConfigError(
            "other users of this machine can see a password among the arguments; leave it "
            "out of the URL, and set PGPASSWORD or write it to ~/.pgpass"
        )


def _install_module() -> Any:
    try:
        return import_module("crawler_app.frontier.postgres.install")
    except ImportError as exc:
        raise ConfigError(
            f"a frontier in PostgreSQL needs asyncpg ({exc}); "
            "pip install 'gencoro[postgres]'"
        ) from None
