"""Reads a crawl whose workers share a frontier on a server.

Rule: what cannot be read is named.  The directory of a worker on another machine is read if it
is reached by the same path, as on a network drive.
"""

import contextlib
import logging
import shlex
from pathlib import Path

from crawler_app.config import CrawlConfig
from crawler_app.directory import CrawlDirectory
from crawler_app.directory.stored import StoredCrawl
from crawler_app.errors import ConfigError
from crawler_app.frontier.postgres.place import Place, Store
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.text.escaping import printable

__all__ = ["ServerCrawl"]

logger = logging.getLogger(__name__)


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
            found
            for store in self._members.stores
            for found in self._directories_of(store)
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

    def _directories_of(self, store: Store) -> list[CrawlDirectory]:
        """Return the directories of a store; none if they cannot be read here."""
        directory = CrawlDirectory(store.location)
        if directory.store_key() == store.key:
            return [directory]  # its parts are stores of their own
        logger.warning(
            "%s on %s cannot be read here, and is left out",
            printable(store.location),
            printable(store.machine),
        )
        return []
