"""Arguments and modules of the commands that use a crawl in PostgreSQL."""

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from crawler_app.base.config.units import BYTES
from crawler_app.base.config.validators import (
    DEFAULT_CRAWL,
    FRONTIER_EXAMPLE,
    FRONTIER_SCHEMES,
    require_frontier,
)
from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep, no_step
from crawler_app.base.storage.tables import MAX_CACHE_BYTES, Cache, cache_home
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stored import StoredCrawl
from gencoro.ioloop import IOLoop

__all__ = [
    "add_cache",
    "add_crawl_name",
    "add_server",
    "add_stored",
    "cache_of",
    "driven",
    "opened",
    "run",
    "stored_at",
]


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
        default=DEFAULT_CRAWL,
        dest="crawl_name",
        help=f"name of the crawl in PostgreSQL (default {DEFAULT_CRAWL})",
    )


def add_stored(parser: argparse.ArgumentParser) -> None:
    """Add the crawl that is read: DIR, or the URL of a server with ``--crawl``."""
    parser.add_argument(
        "stored",
        metavar="DIR",
        help="directory of a crawl (crawl --into), or the URL of its frontier in "
        "PostgreSQL",
    )
    add_crawl_name(parser)
    add_cache(parser)


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add ``--cache`` and ``--max-cache-bytes``."""
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=Path,
        help="where tables from object storage are kept (default ~/.cache/gencrawl)",
    )
    parser.add_argument(
        "--max-cache-bytes",
        metavar=BYTES.metavar,
        type=_size,
        default=MAX_CACHE_BYTES,
        help="delete those that were not used for longest when there is more "
        f"(default {BYTES.render(MAX_CACHE_BYTES)})",
    )


def _size(text: str) -> int:
    try:
        return int(BYTES.parse(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"is {text!r}; it must be {BYTES.noun}"
        ) from None


def cache_of(arguments: argparse.Namespace) -> Cache:
    """Return the cache that the arguments name."""
    return Cache(arguments.cache or cache_home(), arguments.max_cache_bytes)


def opened(arguments: argparse.Namespace, on_step: OnStep = no_step) -> StoredCrawl:
    """Return the crawl that the arguments name.

    Args:
        on_step: Progress callback, for what is downloaded.

    Raises:
        ConfigError: it is not there, or cannot be read.
    """
    where = arguments.stored
    options: dict[str, Any] = {"cache": cache_of(arguments), "on_step": on_step}
    if not where.startswith(FRONTIER_SCHEMES):
        if arguments.crawl_name != DEFAULT_CRAWL:
            raise ConfigError(
                "--crawl is the name of a crawl in PostgreSQL; give the URL of its server "
                "in place of the directory"
            )
        return stored_at(where, **options)
    require_frontier("URL", where)
    return _on_server(where, arguments.crawl_name, **options)


def stored_at(path: str, **options: Any) -> StoredCrawl:
    """Return the crawl in a directory; the directory of a worker stands for all of them.

    Args:
        options: Of a `crawler_app.run.directory.server_crawl.ServerCrawl`.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    directory = CrawlDirectory.open(path)
    config = directory.config()
    if not config.frontier:
        return directory
    return _on_server(config.frontier, config.crawl_name, path, **options)


def _on_server(url: str, name: str, path: str = "", **options: Any) -> StoredCrawl:
    place = driven("crawler_app.store.frontier.postgres.location").CrawlLocation(
        url, name
    )
    crawl: StoredCrawl = driven("crawler_app.run.directory.server_crawl").ServerCrawl(
        place, path, **options
    )
    return crawl


def driven(name: str) -> Any:
    """Import a module that needs the PostgreSQL driver.

    Raises:
        ConfigError: the driver is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as exc:
        if exc.name != "asyncpg":
            raise
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
