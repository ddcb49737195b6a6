"""Arguments and modules of the commands that use a crawl in PostgreSQL."""

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from crawler_app.config.validators import FRONTIER_EXAMPLE, require_frontier
from crawler_app.errors import ConfigError
from gencoro.ioloop import IOLoop

__all__ = ["add_crawl_name", "add_server", "driven", "is_server", "run"]


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the URL of a server."""
    parser.add_argument(
        "url",
        metavar="URL",
        type=_url,
        help=f"{FRONTIER_EXAMPLE}; the password is read from PGPASSWORD or ~/.pgpass",
    )


def _url(text: str) -> str:
    require_frontier("URL", text)
    return text


def add_crawl_name(parser: argparse.ArgumentParser) -> None:
    """Add ``--crawl``."""
    parser.add_argument(
        "--crawl",
        metavar="NAME",
        default="default",
        dest="crawl_name",
        help="name of the crawl in PostgreSQL (default: default)",
    )


def is_server(where: str) -> bool:
    """Return whether an argument names a server, not a directory.

    >>> is_server("postgresql://db.test/crawls"), is_server("docs-crawl")
    (True, False)
    """
    return where.startswith(("postgresql://", "postgres://"))


def driven(name: str) -> Any:
    """Return a module of `crawler_app` that needs the driver.

    Raises:
        ConfigError: the driver is not installed.
    """
    try:
        return import_module(f"crawler_app.{name}")
    except ImportError as exc:
        raise ConfigError(
            f"a frontier in PostgreSQL needs asyncpg ({exc}); "
            "pip install 'gencoro[postgres]'"
        ) from None


def run(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a coroutine on a loop of its own; return its result."""
    loop = IOLoop(make_current=False)
    try:
        return loop.run_sync(partial(function, *args, **options))
    finally:
        loop.close()
