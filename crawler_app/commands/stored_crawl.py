"""Opens the crawl that a command reads: in a directory, or in PostgreSQL."""

import argparse
from pathlib import Path
from typing import Any

from crawler_app.base.config.validators import (
    DEFAULT_CRAWL,
    FRONTIER_SCHEMES,
    require_frontier,
)
from crawler_app.base.errors import ConfigError
from crawler_app.base.postgres_driver import postgres_module
from crawler_app.base.progress import OnStep, no_step
from crawler_app.base.storage.objects import is_url
from crawler_app.base.storage.tables import Cache, cache_home
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.signature import FETCHING_ONLY
from crawler_app.run.directory.stored import StoredCrawl

__all__ = ["cache_of", "opened", "require_archive", "stored_at"]

_ARCHIVE_ENDINGS = (".wacz", ".warc", ".warc.gz")


def cache_of(arguments: argparse.Namespace) -> Cache:
    """Return the cache that the arguments name."""
    return Cache(arguments.cache or cache_home(), arguments.max_cache_bytes)


def opened(arguments: argparse.Namespace, on_step: OnStep = no_step) -> StoredCrawl:
    """Return the crawl that the arguments name.

    Args:
        on_step: Progress callback for downloads.

    Raises:
        ConfigError: it does not exist, or cannot be read.
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


def require_archive(crawl: StoredCrawl) -> None:
    """Raise ConfigError if nothing of a crawl is in an archive on this machine."""
    if not (crawl.archives() and crawl.kept().archive.files):
        if not crawl.config().archive:
            raise ConfigError("the crawl has no archive")
        raise ConfigError("the archive of the crawl is empty")


def stored_at(path: str, **options: Any) -> StoredCrawl:
    """Return the crawl in a directory, or in the WARC or WACZ file of another program.

    The directory of a worker stands for all of them.

    Args:
        options: Of a `crawler_app.run.directory.server_crawl.ServerCrawl`.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    if Path(path).is_file():
        # It reads pages, whose modules other commands do not need.
        from crawler_app.run.directory.foreign import ForeignCrawl  # noqa: PLC0415

        return ForeignCrawl(Path(path), options.get("on_step", no_step))
    if path.endswith(_ARCHIVE_ENDINGS) and is_url(path):
        raise ConfigError(
            "a WARC or WACZ file is read from the disk; download it, and name the copy"
        )
    directory = CrawlDirectory.open(path)
    config = directory.config()
    if not config.frontier:
        return directory
    try:
        directory.require_own(config, FETCHING_ONLY)
    except ConfigError as exc:
        exc.add_note("name the server in place of the directory: URL --crawl NAME")
        raise
    return _on_server(config.frontier, config.crawl_name, path, **options)


def _on_server(url: str, name: str, path: str = "", **options: Any) -> StoredCrawl:
    location = postgres_module(
        "crawler_app.store.frontier.postgres.location"
    ).CrawlLocation(url, name)
    crawl: StoredCrawl = postgres_module(
        "crawler_app.run.directory.server_crawl"
    ).ServerCrawl(location, path, **options)
    return crawl
