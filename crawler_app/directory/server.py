"""Reads a crawl whose workers share a frontier on a server.

Rule: what cannot be read is named.  The directory of a worker on another machine is read if it
is reached by the same path, as on a network drive.
"""

import contextlib
import logging
import shlex
import socket
from pathlib import Path

from crawler_app.config import CrawlConfig
from crawler_app.directory import CrawlDirectory
from crawler_app.directory.stored import StoredCrawl
from crawler_app.errors import ConfigError
from crawler_app.frontier.postgres.place import Place, Store
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.text.escaping import printable

__all__ = ["ServerCrawl", "store_of"]

logger = logging.getLogger(__name__)


def store_of(directory: CrawlDirectory) -> Store:
    """Return what a server knows of the directory of a worker, which gets a key.

    Raises:
        ConfigError: it cannot be written.
        StorageError: the disk is full, or has failed.
    """
    key = directory.make_store_key()
    return Store(key, socket.gethostname(), str(directory.path.resolve()))


class ServerCrawl(StoredCrawl):
    """A crawl of many workers.

    Args:
        place: The server and the crawl.
        path: The directory for what is made of it.

    Raises:
        ConfigError: the server cannot be reached, or the crawl cannot be used.
    """

    def __init__(self, place: Place, path: Path | str = "") -> None:
        self.path = Path(path)
        self._place = place
        with contextlib.closing(self.frontier()) as frontier:
            self._members = frontier.members()
        self._directories = [
            directory
            for store in self._members.stores
            if (directory := self._directory_of(store)) is not None
        ]

    def config(self) -> CrawlConfig:
        if self._members.config is None:
            raise ConfigError(f"the crawl {self._place} has not begun")
        return CrawlConfig.from_json(self._members.config)

    def frontier(self) -> PostgresReader:
        return PostgresReader(self._place)

    def directories(self) -> list[CrawlDirectory]:
        if not self._directories and self._members.stores:
            raise ConfigError(
                f"what the workers of {self._place} have fetched is not on this machine; "
                "run this where the directory of a worker is"
            )
        return self._directories

    def crawlers(self) -> list[str]:
        return self._members.workers

    def how_to_continue(self) -> str:
        return (
            f"gencrawl work {shlex.quote(self._place.url)} --crawl {self._place.crawl} "
            "--into DIR"
        )

    def _directory_of(self, store: Store) -> CrawlDirectory | None:
        """Return the directory of a store; None if it cannot be read here."""
        directory = CrawlDirectory(store.location)
        if directory.store_key() == store.key:
            return directory
        logger.warning(
            "%s on %s cannot be read here, and is left out",
            printable(store.location),
            printable(store.machine),
        )
        return None
