"""`CrawlWorker`: takes part in a crawl that the workers of many machines share.

The frontier is in PostgreSQL, and has what to crawl too; the worker keeps what it fetches in
a directory of its own.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.config.option import options_of
from crawler_app.crawl.kept_probes import KeptProbes
from crawler_app.crawl.monitor import Watched
from crawler_app.crawl.shared import SharedCrawl
from crawler_app.directory import CrawlDirectory
from crawler_app.directory.losses import requeue_lost
from crawler_app.directory.stores import open_stores
from crawler_app.errors import ConfigError
from crawler_app.fetcher import check_fetcher, make_fetcher
from crawler_app.frontier.postgres.crawls import begin
from crawler_app.frontier.postgres.place import Place, Store
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.frontier.postgres.worker import PostgresFrontier
from crawler_app.models import State
from crawler_app.politeness import least_gap_s
from crawler_app.urls import host_of
from gencoro import gen

__all__ = ["CrawlWorker", "Work", "begin_shared", "retry_failed", "shared_config"]


@dataclass(slots=True, frozen=True)
class Work:
    """What a worker has done.

    Attributes:
        fetched: Exchanges it has made, including robots.txt and retries.
        left: How many URLs of the whole crawl are still to be fetched.
        limit_reached: The name of the option whose limit ended the crawl; empty if none.
        was_stopped: Whether `CrawlWorker.stop` ended the work early.
    """

    fetched: int
    left: int
    limit_reached: str
    was_stopped: bool


@gen.coroutine
def begin_shared(config: CrawlConfig) -> Generator[Any, Any, None]:
    """Begin a crawl on the server that ``config.frontier`` names, unless it has begun.

    Raises:
        ConfigError: the server cannot be used, or it has another crawl of that name.
    """
    place = Place(config.frontier, config.crawl_name)
    gap_s = least_gap_s(map(host_of, config.seeds), config.host_gap_s)
    text = yield begin(
        place,
        config.shared_json(),
        gap_s=gap_s,
        max_pages=config.max_pages,
        max_bytes=config.max_bytes,
    )
    begun = CrawlConfig.from_json(text)
    for option in options_of(CrawlConfig):
        name = option.name
        if not option.is_local and getattr(begun, name) != getattr(config, name):
            raise ConfigError(
                f"the crawl {place} has begun with another value of {option.key}; take "
                "part in it with `gencrawl work`, or choose another name with --crawl"
            )


def shared_config(place: Place, **local: Any) -> CrawlConfig:
    """Return the configuration of a worker of a crawl that has begun.

    Args:
        local: Options of its own.

    Raises:
        ConfigError: the server cannot be used, or the crawl has not begun.
    """
    with contextlib.closing(PostgresReader(place)) as reader:
        members = reader.members()
    if members.config is None:
        raise ConfigError(
            f"the crawl {place} has not begun; begin it with `gencrawl crawl --frontier`"
        )
    common = CrawlConfig.from_json(members.config)
    return replace(common, frontier=place.url, crawl_name=place.crawl, **local)


def retry_failed(config: CrawlConfig, reasons: Collection[str]) -> None:
    """Queue the URLs of a crawl again that failed for one of these reasons.

    Raises:
        ConfigError: the server cannot be used.
    """
    place = Place(config.frontier, config.crawl_name)
    with contextlib.closing(PostgresReader(place)) as reader:
        reader.requeue_failed(reasons)


class CrawlWorker:
    """One worker of a crawl.

    Args:
        config: From `shared_config`, or that of a crawl that `begin_shared` has begun;
            ``into`` is the worker's own directory.
        own: The directory, if it is a part of ``into``.
        watch: As for a `Crawler`.

    Raises:
        ConfigError: the options conflict, or the URL of the frontier is invalid.
    """

    def __init__(
        self,
        config: CrawlConfig,
        own: CrawlDirectory | None = None,
        *,
        watch: Callable[[Watched], AbstractContextManager[object]] | None = None,
    ) -> None:
        if not config.into:
            raise ConfigError("a worker needs a directory; `into` is empty")
        self.config = config
        self._own = own
        self._place = Place(config.frontier, config.crawl_name)
        self._watch = watch or contextlib.nullcontext
        self._crawl: Watched | None = None
        self._is_stopped = False
        check_fetcher(config)

    def stop(self) -> None:
        """Start no further fetch; `run` puts back what is left, and returns."""
        self._is_stopped = True
        if self._crawl is not None:
            self._crawl.stop()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, Work]:
        """Crawl until no worker has anything left.

        Raises:
            ConfigError: the directory or the server cannot be used.
            StorageError: the disk has failed, or the server refuses a step.
        """
        config = self.config
        with contextlib.ExitStack() as cleanup:
            directory = cleanup.enter_context(self._directory())
            make = partial(self._make_frontier, directory)
            stores = cleanup.enter_context(open_stores(directory, config, make))
            frontier = stores.frontier
            assert isinstance(frontier, PostgresFrontier)
            archived = requeue_lost(stores)
            fetcher = cleanup.enter_context(contextlib.closing(make_fetcher(config)))
            kept = KeptProbes.of(config, directory.probes_path)
            cleanup.enter_context(contextlib.closing(kept))
            yield frontier.open()
            self._crawl = crawl = SharedCrawl(
                # The server has these limits for all workers.
                replace(config, max_pages=None, max_bytes=None),
                frontier,
                fetcher,
                archive=stores.archive,
                index=stores.index,
                archived=archived,
                kept_probes=kept,
            )
            if self._is_stopped:
                crawl.stop()
            with self._watch(crawl):
                yield crawl.run()
        yield gen.moment  # in which closed connections leave their descriptors
        return self._done(crawl, crawl.limit_reached)

    def _done(self, crawl: Watched, limit_reached: str) -> Work:
        left = crawl.count(State.QUEUED) + crawl.count(State.CLAIMED)
        was_stopped = self._is_stopped and left > 0
        return Work(crawl.stats["fetched"], left, limit_reached, was_stopped)

    def _directory(self) -> CrawlDirectory:
        """Return the worker's directory, which is new, or its own from before."""
        if self._own is not None:
            return self._own
        path, config = self.config.into, self.config
        if not CrawlDirectory.holds_crawl(path):
            return CrawlDirectory.create(path, config)
        directory = CrawlDirectory.open(path)
        saved = directory.config()
        if (saved.frontier, saved.crawl_name) != (config.frontier, config.crawl_name):
            raise ConfigError(f"{path} holds another crawl; choose another directory")
        return directory

    def _make_frontier(
        self, directory: CrawlDirectory, _path: Path, before_commit: Callable[[], None]
    ) -> PostgresFrontier:
        machine = socket.gethostname()
        key, location = directory.make_store_key(), str(directory.path.resolve())
        return PostgresFrontier(
            self._place,
            f"process {os.getpid()} on {machine}",
            Store(key, machine, location),
            before_commit=before_commit,
        )
