"""Moves the frontier of a crawl from its directory into PostgreSQL.

Rule: the archive and the index stay where they are.  The directory becomes that of a worker when
everything is on the server; before that it is as it was.
"""

import dataclasses
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep, no_step
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store.database import is_created
from crawler_app.store.frontier.postgres.copying import copy_frontier
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from gencoro import gen

__all__ = ["move_frontier"]


@gen.coroutine
def move_frontier(
    path: Path | str,
    location: CrawlLocation,
    *,
    partitions: int = 8,
    on_step: OnStep = no_step,
) -> Generator[Any, Any, int]:
    """Copy the frontier of a crawl to a server, where workers go on; return how many URLs.

    Args:
        path: The directory of the crawl.
        partitions: Of the tables, unless these were made before.

    Raises:
        ConfigError: the crawl is running, or has not begun, or is on a server already, or the
            server cannot be used, or has another crawl of that name.
        ServerError: the connection was lost, or the server refuses something.
    """
    directory = CrawlDirectory.open(path)
    config = directory.config()
    if config.frontier or config.processes > 1:
        raise ConfigError(f"the frontier of {path} is in PostgreSQL already")
    moved = dataclasses.replace(
        config, frontier=location.url, crawl_name=location.crawl
    )
    with directory:
        if not is_created(directory.frontier_path):
            raise ConfigError(f"the crawl in {path} has not begun yet")
        own = str(directory.path.resolve())
        store = StoreLocation(directory.make_store_key(), socket.gethostname(), own)
        urls: int = yield copy_frontier(
            location,
            directory.frontier_path,
            store,
            config,
            partitions=partitions,
            on_step=on_step,
        )
        directory.save(moved)
    return urls
