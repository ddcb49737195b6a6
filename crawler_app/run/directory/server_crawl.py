"""Reads a crawl whose workers share a frontier on a server.

Rule: a store that cannot be read is reported.  The directory of a worker on another machine is read if it
is reached by the same path, as on a network drive; object storage is read from anywhere.
"""

import contextlib
import logging
import shlex
from pathlib import Path

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError, ObjectStorageError
from crawler_app.base.progress import OnStep, no_step
from crawler_app.base.storage.objects import is_url
from crawler_app.base.storage.tables import Cache, StoredTables, cache_home
from crawler_app.base.text.escaping import printable
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.remote import RemoteDirectory
from crawler_app.run.directory.stored import CrawlSizes, StoredCrawl, resume_command
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation

__all__ = ["ServerCrawl"]

logger = logging.getLogger(__name__)


class ServerCrawl(StoredCrawl):
    """A crawl of many workers.

    Args:
        location: The server and the crawl.
        path: The directory for reports and exports.
        cache: For what is downloaded.
        on_step: Progress callback.

    Raises:
        ConfigError: the server cannot be reached, or the crawl cannot be used.
    """

    def __init__(
        self,
        location: CrawlLocation,
        path: Path | str = "",
        cache: Cache | None = None,
        on_step: OnStep = no_step,
    ) -> None:
        self.path = Path(path)
        self._cache = cache or Cache(cache_home())
        self._on_step = on_step
        self._location = location
        with contextlib.closing(self.frontier()) as frontier:
            self._members = frontier.members()
        self._directories = [
            found
            for store in self._members.stores
            for found in self._directories_of(store)
        ]

    def config(self) -> CrawlConfig:
        if self._members.config is None:
            raise ConfigError(f"the crawl {self._location} has not begun")
        return CrawlConfig.from_json(self._members.config)

    def frontier(self) -> PostgresReader:
        return PostgresReader(self._location)

    def directories(self) -> list[CrawlDirectory]:
        self.config()  # which says so if the crawl has not begun
        if not self._directories and self._members.stores:
            raise ConfigError(
                f"what the workers of {self._location} have fetched is not on this machine; "
                "run this where the directory of a worker is"
            )
        return self._directories

    def kept(self) -> CrawlSizes:
        if self._directories:
            return super().kept()
        return CrawlSizes(ArchiveSummary(0, 0, 0, 0), None)  # they are named already

    def crawlers(self) -> list[str]:
        return self._members.workers

    def how_to_continue(self, *, with_more_pages: bool = False) -> str:
        if self.path != Path() or with_more_pages:
            path = "DIR" if self.path == Path() else self.path
            return resume_command(path, with_more_pages=with_more_pages)
        return (
            f"gencrawl postgres work {shlex.quote(self._location.url)} "
            f"--crawl {self._location.crawl} --into DIR"
        )

    def _directories_of(self, store: StoreLocation) -> list[CrawlDirectory]:
        """Return the directories of a store; none if they cannot be read here."""
        if is_url(store.location):
            return self._in_storage(store)
        directory = CrawlDirectory(store.location)
        if directory.store_key() == store.key:
            return [directory]  # its parts are stores of their own
        logger.warning(
            "%s on %s cannot be read here, and is left out",
            printable(store.location),
            printable(store.machine),
        )
        return []

    def _in_storage(self, store: StoreLocation) -> list[CrawlDirectory]:
        """Return the directories of a store in object storage."""
        try:
            tables = StoredTables(store.location, self._cache, self._on_step)
        except ObjectStorageError as exc:
            logger.warning("%s; it is left out", printable(str(exc)))
            return []
        return [RemoteDirectory(tables)]
