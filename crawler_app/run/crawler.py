"""`Crawler`, the public entry point: runs a crawl from a configuration.

The command line uses it like any other program.  The path of a URL is in
`crawler_app.run.crawl`, the files of a crawl directory in `crawler_app.run.directory`.
"""

import asyncio
import contextlib
import functools
import logging
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from crawler_app.base.config import SCOPE, CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.errors import ConfigError, LoginError
from crawler_app.base.models import CrawledPage, Link, UrlRecord
from crawler_app.base.postgres_driver import postgres_module
from crawler_app.base.reasons import AnyReason
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.external_cache import ExternalCache
from crawler_app.run.crawl.hooks import Hooks
from crawler_app.run.crawl.monitor import Watched
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.wiring import check_parts, wire
from crawler_app.run.directory import CrawlDirectory, CrawlSizes
from crawler_app.run.directory.kept_cookies import KeptCookies
from crawler_app.run.directory.losses import requeue_lost
from crawler_app.run.directory.stores import Stores, begin_recrawl, open_stores
from crawler_app.run.processes.workers_run import WorkersRun
from crawler_app.run.results.comparison import Comparison, compare
from crawler_app.run.results.summary import Summary, final_records, summarize
from crawler_app.store.database import is_created
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import make_fetcher
from gencoro import gen

__all__ = ["Crawler", "Result"]

logger = logging.getLogger(__name__)

# Of the names of the counters of `crawler_app.run.crawl.rendering`.
RENDER_STATS = "render/"


@dataclass(slots=True, frozen=True, repr=False)
class Result:
    """The result of a run.

    Attributes:
        summary: The crawl in numbers, including earlier runs.
        seed_ends: The final record of each seed, redirects followed; None if unknown.
        limit_reached: The name of the option whose limit ended the run; empty if none.
        was_stopped: Whether `Crawler.stop` ended the run early.
        kept: The contents of the directory besides the frontier; None without one.
        comparison: The comparison with the previous crawl; None if there was none.
        rendering: What rendering pages has found and cost in this run, by name; empty if none
            was rendered.
        had_finished: Whether nothing was left to do, as when a finished crawl is resumed.
        soft_404s: URLs that do not exist, but were answered with a page.
        closed_hosts: A sentence about each host that refused everything at the end.
    """

    summary: Summary
    seed_ends: list[UrlRecord | None]
    limit_reached: str
    was_stopped: bool
    kept: CrawlSizes | None = None
    comparison: Comparison | None = None
    had_finished: bool = False
    soft_404s: list[str] = field(default_factory=list)
    closed_hosts: list[str] = field(default_factory=list)
    rendering: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        end = f", reached {self.limit_reached}" if self.limit_reached else ""
        return f"<Result: {self.summary}{end}{', stopped' * self.was_stopped}>"


class Crawler:
    """Runs a crawl.

    If ``config.into`` names a directory, everything is stored there; if it already holds a
    crawl of the same seeds, the site is crawled again and compared.  Otherwise everything is
    in memory, and lost at the end.

    Args:
        config: What to crawl, and how.
        on_page: Called with each page.  Like the other callbacks: a function, a
            ``@gen.coroutine`` or an ``async def``.
        on_link: Called with each link of each page.
        should_fetch: Called with each URL before it is fetched; False skips it.
        resume: Whether to continue the crawl in the directory instead of starting a new one.
        retried_reasons: Failures with these reasons are retried.
        watch: Called before the run with what a `Monitor` watches: the `Crawl`, or its
            equivalent for several processes; returns a context manager that is entered during
            the run.
        observer: Notified of each document and each finished URL, for a check.
        own_hosts: Private hosts, each with its port, that are allowed in any case.

    Raises:
        ConfigError: options conflict, a callback is invalid, or a file cannot be used.

    Attributes:
        result: What `run` returns, also after a LoginError; None before its end.

    >>> from crawler_app.commands.demo_site import DemoSite
    >>> from gencoro.ioloop import IOLoop
    >>> titles = []
    >>> @gen.coroutine
    ... def main():
    ...     site = DemoSite()
    ...     site.start()
    ...     config = CrawlConfig((f"{site.url}sky/",), max_pages=3)
    ...     crawler = Crawler(config, on_page=lambda page: titles.append(page.title))
    ...     result = yield crawler.run()
    ...     yield site.stop()
    ...     return result.limit_reached
    >>> loop = IOLoop(make_current=False)
    >>> loop.run_sync(main)
    'max_pages'
    >>> titles[0]
    'Sky | Pinewood Observatory'
    >>> loop.close()
    """

    def __init__(
        self,
        config: CrawlConfig,
        *,
        on_page: Callable[[CrawledPage], object] | None = None,
        on_link: Callable[[Link], object] | None = None,
        should_fetch: Callable[[str], object] | None = None,
        resume: bool = False,
        retried_reasons: Collection[AnyReason] = (),
        watch: Callable[[Watched], AbstractContextManager[object]] | None = None,
        observer: CrawlObserver | None = None,
        own_hosts: Collection[str] = (),
    ) -> None:
        if resume and not config.into:
            raise ConfigError("resume needs the directory of a crawl; `into` is empty")
        self.config = config
        self._hooks = Hooks(on_page, on_link, should_fetch)
        self._resumes = resume
        self._retried_reasons = retried_reasons
        self._watch = watch or contextlib.nullcontext
        self._observer = observer
        self._own_hosts = own_hosts
        self._crawl: Crawl | WorkersRun | None = None
        self.result: Result | None = None
        self._login_error: LoginError | None = None
        self._is_stopped = False
        # Whether to begin anew on the server of several processes.
        self._is_recrawl = False
        check_parts(config)
        if config.frontier:
            raise ConfigError("a crawl with a shared frontier is run by a CrawlWorker")
        if config.processes > 1:
            self._require_one_process()

    def _require_one_process(self) -> None:
        """Raise ConfigError if something is wanted that several processes cannot do."""
        if not self.config.into:
            raise ConfigError("several processes need a directory; `into` is empty")
        callbacks = {
            "on_page": self._hooks.on_page,
            "on_link": self._hooks.on_link,
            "should_fetch": self._hooks.should_fetch,
            "observer": self._observer,
        }
        for name, callback in callbacks.items():
            if callback is not None:
                raise ConfigError(
                    f"{name} cannot be called if processes is {self.config.processes}: "
                    "the pages are in other processes; leave out one of the two"
                )

    def stop(self) -> None:
        """Start no further fetch; `run` returns when those under way are completed.

        To end immediately, cancel the Future of `run`.  No URL is lost either way.
        """
        self._is_stopped = True
        if self._crawl is not None:
            self._crawl.stop()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, Result]:
        """Crawl to the end.

        Raises:
            ConfigError: the directory is in use, or holds another crawl, or cannot be
                written.
            StorageError: the disk has failed.
            LoginError: the crawl cannot log in, or not again; ``resume`` continues it.
            RuntimeError: `run` was called before.
        """
        if self._crawl is not None:
            raise RuntimeError("this Crawler has already been run; create another one")
        with contextlib.ExitStack() as cleanup:
            directory = self._enter_directory(cleanup)
            if directory is not None and self.config.processes > 1:
                self.result = yield from self._run_processes(directory)
            else:
                if directory is None:
                    frontier = contextlib.closing(SqliteFrontier())
                    stores = Stores(cleanup.enter_context(frontier), None, None)
                else:
                    stores = cleanup.enter_context(open_stores(directory, self.config))
                yield from self._run_with(stores, directory)
                forget = functools.partial(_forget_vanished, stores)
                self.result = self._result(stores.frontier, directory, forget)
        if self._login_error is not None:
            raise self._login_error
        return self.result

    def _run_processes(self, directory: CrawlDirectory) -> Subgenerator[Result]:
        """Crawl with several processes, which share a frontier on a server of their own."""
        shared = postgres_module("crawler_app.run.crawl_worker")
        config = self.config
        # It takes a second to make the data of a server.
        location = yield asyncio.get_running_loop().run_in_executor(
            None, shared.location_of, config
        )
        with contextlib.closing(location):
            if self._is_recrawl:
                begin = shared.begin_private_recrawl
                is_finished: bool = yield begin(directory, location)
                self._note_last(is_finished=is_finished)
            yield shared.begin_private(config, location)
            if self._retried_reasons:
                shared.retry_failed(location, self._retried_reasons)
            directory.make_parts(config.processes)
            run = self._crawl = WorkersRun(config, location.keep_running)
            if self._is_stopped:
                run.stop()
            with self._watch(run):
                try:
                    yield run.run()
                except LoginError as exc:
                    self._login_error = exc
            yield gen.moment  # as for a single process
            with contextlib.closing(directory.frontier()) as frontier:
                left = postgres_module("crawler_app.run.directory.left_pages")
                forget = functools.partial(left.remove_left_pages, directory, frontier)
                return self._result(frontier, directory, forget)

    def _enter_directory(self, cleanup: contextlib.ExitStack) -> CrawlDirectory | None:
        """Lock the directory, and prepare it for the run."""
        config = self.config
        if not config.into:
            return None
        if not self._resumes and not CrawlDirectory.holds_crawl(config.into):
            return cleanup.enter_context(CrawlDirectory.create(config.into, config))
        directory = CrawlDirectory.open(config.into)
        saved = directory.config()
        if saved.frontier:
            raise ConfigError(
                f"{config.into} is the directory of a worker whose frontier is in PostgreSQL; "
                "continue with `gencrawl resume`, or choose another directory"
            )
        directory.require_current()
        if saved.processes > 1 or not _has_nothing(directory):
            self._require_same_seeds(
                saved.seeds
            )  # a mistyped start URL spends no directory
        self._require_same_processes(saved.processes)
        if not self._resumes:
            self._note_other_options(saved)
        cleanup.enter_context(directory)
        if config.processes > 1:
            self._is_recrawl = not self._resumes
        elif not self._resumes:
            self._note_last(is_finished=begin_recrawl(directory, config))
        directory.save(config)
        return directory

    def _note_last(self, *, is_finished: bool) -> None:
        """Warn if the last crawl in the directory could have been continued."""
        if not is_finished and self._observer is None:
            logger.warning(
                "The crawl in that directory is unfinished.  Starting a new one; `resume` "
                "would have continued it."
            )

    def _note_other_options(self, last: CrawlConfig) -> None:
        """Warn if the last crawl in the directory was to fetch other URLs than this one."""
        options = (each for each in options_of(CrawlConfig) if each.group == SCOPE)
        values = (
            (each.key, getattr(last, each.name), getattr(self.config, each.name))
            for each in options
        )
        other = [
            f"{key} ({_shown(a)}, now {_shown(b)})" for key, a, b in values if a != b
        ]
        if other and self._observer is None:
            logger.warning(
                "The last crawl in that directory had other options, which a new crawl does "
                "not take over: %s.",
                ", ".join(other),
            )

    def _require_same_seeds(self, seeds: Collection[str]) -> None:
        if set(seeds) != set(self.config.seeds):
            raise ConfigError(
                f"{self.config.into} holds a crawl of {' '.join(seeds)}; choose another "
                "directory"
            )

    def _require_same_processes(self, processes: int) -> None:
        if (processes > 1) is not (self.config.processes > 1):
            raise ConfigError(
                f"the crawl in {self.config.into} was begun with --processes {processes}, and "
                "its frontier is in another place with one process than with several; choose "
                "another directory"
            )

    def _run_with(
        self, stores: Stores, directory: CrawlDirectory | None
    ) -> Subgenerator[None]:
        stores.frontier.requeue_failed(self._retried_reasons)
        archived = requeue_lost(stores)
        with contextlib.ExitStack() as cleanup:
            cookies = KeptCookies(None if directory is None else directory.cookies_path)
            fetcher = cleanup.enter_context(
                contextlib.closing(make_fetcher(self.config, cookies.note))
            )
            cookies.begin(fetcher.policy.cookies, resumes=self._resumes)
            cleanup.callback(cookies.close)
            if self._own_hosts:
                fetcher.policy.own_hosts = self._own_hosts
            path = None if directory is None else directory.external_cache_path
            kept = ExternalCache.of(self.config, path)
            cleanup.enter_context(contextlib.closing(kept))
            cleanup.callback(self._hooks.log_repeated)
            parts = wire(
                self.config,
                stores.frontier,
                fetcher,
                archive=stores.archive,
                index=stores.index,
                is_recrawl=stores.frontier.previous.exists,
                archived=archived,
                hooks=self._hooks,
                external_cache=kept,
                observer=self._observer,
            )
            crawl = self._crawl = Crawl(parts)
            if self._is_stopped:
                crawl.stop()
            with self._watch(crawl):
                yield crawl.run()
        # Closed connections leave their descriptors in the next turn of the loop, and what
        # follows opens files.
        yield gen.moment
        self._login_error = crawl.login_error

    def _result(
        self,
        frontier: FrontierReader,
        directory: CrawlDirectory | None,
        forget: Callable[[Comparison], None],
    ) -> Result:
        assert self._crawl is not None
        summary = summarize(frontier)
        comparison = compare(frontier)
        if comparison is not None:
            forget(comparison)
        limit_reached = self._crawl.limit_reached
        return Result(
            summary,
            final_records(self.config.seeds, frontier, summary),
            limit_reached,
            self._crawl.is_stopping and not limit_reached and summary.left > 0,
            None if directory is None else directory.kept(),
            comparison,
            summary.left == 0 and not any(self._crawl.stats),
            frontier.soft_404s(),
            self._crawl.closed_hosts(),
            {
                name.removeprefix(RENDER_STATS): count
                for name, count in sorted(self._crawl.stats.items())
                if name.startswith(RENDER_STATS)
            },
        )


def _shown(value: object) -> str:
    """Return the value of an option as it is given.

    >>> _shown(None), _shown(("a", "b")), _shown(False)
    ('not given', 'a b', 'no')
    """
    if isinstance(value, tuple):
        value = " ".join(value)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return "not given" if value in (None, "") else str(value)


def _has_nothing(directory: CrawlDirectory) -> bool:
    """Return whether no URL of the crawl in a directory got a response."""
    if not is_created(directory.frontier_path):
        return True
    with contextlib.closing(directory.frontier()) as frontier:
        return all(kind.status is None for kind in frontier.outcome_counts())


def _forget_vanished(stores: Stores, comparison: Comparison) -> None:
    """Remove pages that no longer exist from the index."""
    frontier, index = stores.frontier, stores.index
    if index is None:
        return
    assert isinstance(frontier, SqliteFrontier)
    for url in frontier.previous.gone(is_whole=comparison.is_whole):
        index.remove(url)
    index.flush()
    if comparison.is_whole:
        frontier.forget_earlier()
