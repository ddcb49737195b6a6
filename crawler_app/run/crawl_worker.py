"""`CrawlWorker`: takes part in a crawl that the workers of many machines share.

The frontier and the configuration are in PostgreSQL; the worker stores what it fetches in its own
directory.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import State
from crawler_app.base.progress import OnStep, no_step
from crawler_app.base.reasons import Reason
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from crawler_app.run.crawl.external_cache import ExternalCache
from crawler_app.run.crawl.host_updates import HostUpdates
from crawler_app.run.crawl.monitor import Watched
from crawler_app.run.crawl.wiring import check_parts, wire
from crawler_app.run.crawl.worker_crawl import WorkerCrawl
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.losses import requeue_lost
from crawler_app.run.directory.staging import staged, storage_url
from crawler_app.run.directory.stores import open_stores
from crawler_app.run.directory.uploading import Uploader, warn_of_rest
from crawler_app.run.results.redirects import Redirects
from crawler_app.store.archive.reading import open_readers
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.crawls import begin, set_limits
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.previous_schema import begin_anew
from crawler_app.store.frontier.postgres.private_server import PrivateLocation
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from crawler_app.web.fetcher import make_fetcher
from crawler_app.web.politeness import least_gap_s
from gencoro import gen

__all__ = [
    "CrawlWorker",
    "WorkerResult",
    "begin_private",
    "begin_private_recrawl",
    "begin_shared",
    "limit_shared",
    "location_of",
    "retry_failed",
    "shared_config",
]


# Claims that a worker has in reserve.
MAX_BUFFERED = 10


@dataclass(slots=True, frozen=True)
class WorkerResult:
    """The result of `CrawlWorker.run`.

    Attributes:
        fetched: Exchanges it has made, including robots.txt and retries.
        internal_errors: How many URLs it has failed on by a bug.
        left: How many URLs of the whole crawl are still to be fetched.
        limit_reached: The name of the option whose limit ended the crawl; empty if none.
        was_stopped: Whether `CrawlWorker.stop` ended the work early.
    """

    fetched: int
    internal_errors: int
    left: int
    limit_reached: str
    was_stopped: bool


def location_of(config: CrawlConfig) -> CrawlLocation:
    """Return where the frontier of a crawl is; without ``frontier``, its own server is started.

    Raises:
        ConfigError: the URL is invalid, or the server cannot be started.
    """
    if config.frontier:
        return CrawlLocation(config.frontier, config.crawl_name)
    return PrivateLocation(Path(config.into))


@gen.coroutine
def begin_shared(config: CrawlConfig) -> Generator[Any, Any, None]:
    """Begin a crawl on the server that ``config.frontier`` names, unless it has begun.

    Raises:
        ConfigError: the server cannot be used, or it has another crawl of that name, or an
            option is not possible there, or the directory is not for this crawl.
    """
    if config.soft_404:
        raise ConfigError("--soft-404 is not possible with a frontier in PostgreSQL")
    # Before the crawl begins, which would stay there without any worker.
    _check(config)
    location = CrawlLocation(config.frontier, config.crawl_name)
    gap_s = least_gap_s(map(host_of, config.seeds), config.host_gap_s)
    text = yield begin(
        location,
        config.shared_json(),
        gap_s=gap_s,
        max_pages=config.max_pages,
        max_bytes=config.max_bytes,
    )
    begun = CrawlConfig.from_json(text)
    for option in options_of(CrawlConfig):
        name = option.name
        if not option.is_local and getattr(begun, name) != getattr(config, name):
            flag = option.flag or option.off_flag
            what = f"another value of {flag}" if flag else "other start URLs"
            raise ConfigError(
                f"the crawl {location} has begun with {what}; take part in it with "
                "`gencrawl postgres work`, or choose another name with --crawl"
            )


@gen.coroutine
def begin_private(
    config: CrawlConfig, location: CrawlLocation
) -> Generator[Any, Any, None]:
    """Begin or continue a crawl of several processes on its own server.

    Its options may be others than when it began, and each run may receive ``max_bytes``.

    Raises:
        ConfigError: the server cannot be used.
    """
    text = config.shared_json()
    gap_s = least_gap_s(map(host_of, config.seeds), config.host_gap_s)
    yield begin(location, text, gap_s=gap_s)
    yield set_limits(location, text, config.max_pages, None, gap_s=gap_s)
    if config.soft_404:
        with contextlib.closing(PostgresReader(location)) as reader:
            reader.begin_soft_404s()


@gen.coroutine
def begin_private_recrawl(
    directory: CrawlDirectory, location: CrawlLocation
) -> Generator[Any, Any, bool]:
    """Make the last crawl of several processes the previous one; return whether it had finished.

    Raises:
        ConfigError: the server cannot be used.
    """

    def loops() -> list[str]:
        with contextlib.closing(PostgresReader(location)) as reader:
            found = Redirects(reader.redirects()).loop_by_key.values()
        return [url for loop in found for url in loop]

    # First: without it, a part joins whatever crawl there is.
    for part in directory.parts():
        part.leave_crawl()
    return bool((yield begin_anew(location, loops)))


def shared_config(location: CrawlLocation, **local: Any) -> CrawlConfig:
    """Return the configuration of a worker of a crawl that has begun.

    Args:
        local: Options of its own.

    Raises:
        ConfigError: the server cannot be used, or the crawl has not begun.
    """
    with contextlib.closing(PostgresReader(location)) as reader:
        members = reader.members()
    if members.config is None:
        raise ConfigError(
            f"the crawl {location} has not begun; begin it with `gencrawl crawl --frontier`"
        )
    common = CrawlConfig.from_json(members.config)
    return replace(common, frontier=location.url, crawl_name=location.crawl, **local)


@gen.coroutine
def limit_shared(config: CrawlConfig) -> Generator[Any, Any, None]:
    """Set the limits of a crawl, for all its workers.

    Raises:
        ConfigError: the server cannot be used.
    """
    location = CrawlLocation(config.frontier, config.crawl_name)
    yield set_limits(location, config.shared_json(), config.max_pages, config.max_bytes)


def retry_failed(location: CrawlLocation, reasons: Collection[str]) -> None:
    """Queue the URLs of a crawl again that failed for one of these reasons.

    Raises:
        ConfigError: the server cannot be used.
    """
    with contextlib.closing(PostgresReader(location)) as reader:
        reader.requeue_failed(reasons)


def _check(config: CrawlConfig) -> None:
    """Check what does not need the server: the options, and the directory.

    Raises:
        ConfigError: a worker cannot use them.
    """
    path = config.into
    if not path:
        raise ConfigError("a worker needs a directory; `into` is empty")
    if CrawlDirectory.holds_crawl(path):
        saved = CrawlDirectory.open(path).config()
        if (saved.frontier, saved.crawl_name) != (config.frontier, config.crawl_name):
            raise ConfigError(f"{path} holds another crawl; choose another directory")
    if storage_url(path):
        _check_storage(config)
    check_parts(config)


def _check_storage(config: CrawlConfig) -> None:
    if not config.archive:
        raise ConfigError("object storage needs an archive, which is turned off")
    if config.max_staging_bytes < 2 * config.max_archive_file_bytes:
        raise ConfigError(
            "max-staging-bytes must be at least twice max-archive-file-bytes: a WARC "
            "file is uploaded when it is full, and the next is written meanwhile"
        )


class CrawlWorker:
    """One worker of a crawl.

    Args:
        config: From `shared_config`, or that of a crawl that `begin_shared` has begun;
            ``into`` is the worker's own directory, or the URL of object storage.
        own: The directory, if it is a part of ``into``.
        watch: As for a `Crawler`.
        on_step: Progress callback, for what is uploaded at the end.

    Raises:
        ConfigError: the options conflict, or the URL of the frontier is invalid.
    """

    def __init__(
        self,
        config: CrawlConfig,
        own: CrawlDirectory | None = None,
        *,
        watch: Callable[[Watched], AbstractContextManager[object]] | None = None,
        on_step: OnStep = no_step,
    ) -> None:
        self.config = config = staged(config)
        self._own = own
        self._location = location_of(config)
        self._watch = watch or contextlib.nullcontext
        self._on_step = on_step
        self._crawl: Watched | None = None
        self._is_stopped = False
        _check(config)

    def stop(self) -> None:
        """Start no further fetch; `run` puts back what is left, and returns."""
        self._is_stopped = True
        if self._crawl is not None:
            self._crawl.stop()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, WorkerResult]:
        """Crawl until no worker has anything left, and everything is uploaded.

        Raises:
            ConfigError: the directory, the object storage or the server cannot be used.
            StorageError: the disk has failed, or the server refuses a step.
        """
        with contextlib.ExitStack() as cleanup:
            directory = cleanup.enter_context(self._directory())
            if self._own is None:
                cleanup.callback(warn_of_rest, directory)
            uploader = self._make_uploader(directory)
            if uploader is None:
                return (yield from self._crawl_into(directory))
            cleanup.enter_context(uploader)
            try:
                done = yield from self._crawl_into(directory, uploader)
            except asyncio.CancelledError:
                yield uploader.end(is_patient=False)
                raise
            has_ended = not done.left or bool(done.limit_reached)
            yield uploader.end(is_patient=has_ended, on_step=self._on_step)
            return done

    def _make_uploader(self, directory: CrawlDirectory) -> Uploader | None:
        """Return the uploader; None without object storage."""
        config = self.config
        if not storage_url(config.into):
            return None
        store_location = self._store_location(directory)
        return Uploader(directory.path, store_location, config.max_staging_bytes)

    def _crawl_into(
        self, directory: CrawlDirectory, uploader: Uploader | None = None
    ) -> Subgenerator[WorkerResult]:
        config = self.config
        with contextlib.ExitStack() as cleanup:
            make = partial(self._make_frontier, directory)
            stores = cleanup.enter_context(open_stores(directory, config, make))
            frontier = stores.frontier
            assert isinstance(frontier, PostgresFrontier)
            # Before anything is requeued: the server may have another crawl of this name now.
            directory.belong_to(frontier.made_at())
            archived = requeue_lost(stores)
            if uploader is not None:
                uploader.start()
            # Before the fetcher, whose cookies it passes on.
            updates = HostUpdates(frontier)
            fetcher = make_fetcher(config, updates.cookies_set)
            cleanup.enter_context(contextlib.closing(fetcher))
            kept = ExternalCache.of(config, directory.external_cache_path)
            cleanup.enter_context(contextlib.closing(kept))
            is_recrawl = frontier.previous.exists
            others = self._other_archives(directory) if is_recrawl else []
            archives = cleanup.enter_context(open_readers(others))
            yield frontier.open()
            parts = wire(
                # The server has these limits for all workers.
                replace(config, max_pages=None, max_bytes=None),
                frontier,
                fetcher,
                archive=stores.archive,
                index=stores.index,
                is_recrawl=is_recrawl,
                archived=archived,
                others=archives,
                external_cache=kept,
                host_observer=updates,
            )
            self._crawl = crawl = WorkerCrawl(parts)
            if self._is_stopped:
                crawl.stop()
            if uploader is not None:
                holding = uploader.hold_while_full(crawl.hold, crawl.stop)
                cleanup.callback(holding.cancel)
            with self._watch(crawl):
                yield crawl.run()
        yield gen.moment  # in which closed connections leave their descriptors
        if crawl.login_error is not None:
            raise crawl.login_error
        return self._done(crawl, crawl.limit_reached)

    def _other_archives(self, directory: CrawlDirectory) -> list[Path]:
        """Return the directories of the other processes of the crawl."""
        parts = CrawlDirectory(self.config.into).parts()
        return [part.path for part in parts if part.path != directory.path]

    def _done(self, crawl: Watched, limit_reached: str) -> WorkerResult:
        left = crawl.count(State.QUEUED) + crawl.count(State.CLAIMED)
        was_stopped = self._is_stopped and left > 0
        stats = crawl.stats
        bugs = stats[f"failed/{Reason.INTERNAL_ERROR}"]
        return WorkerResult(stats["fetched"], bugs, left, limit_reached, was_stopped)

    def _directory(self) -> CrawlDirectory:
        """Return the directory of the worker; create it if it does not exist."""
        if self._own is not None:
            return self._own
        path = self.config.into
        if CrawlDirectory.holds_crawl(path):
            return CrawlDirectory.open(path)
        return CrawlDirectory.create(path, self.config)

    def _store_location(self, directory: CrawlDirectory) -> str:
        """Return where others can read what this worker stores."""
        url = storage_url(self.config.into)
        if not url:
            return str(directory.path.resolve())
        return f"{url}/{directory.make_store_key()}"

    def _make_frontier(
        self, directory: CrawlDirectory, _path: Path, before_commit: Callable[[], None]
    ) -> PostgresFrontier:
        machine = socket.gethostname()
        return PostgresFrontier(
            self._location,
            LeaseRules.of(self.config),
            f"process {os.getpid()} on {machine}",
            StoreLocation(
                directory.make_store_key(), machine, self._store_location(directory)
            ),
            # More would be kept from the other workers.
            buffered=min(MAX_BUFFERED, self.config.concurrency),
            before_commit=before_commit,
        )
