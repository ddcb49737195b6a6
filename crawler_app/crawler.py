"""The front door: from a configuration to a whole crawl, with all that is kept of it.

The command line goes through it like any other program.  The path of a URL is in
`crawler_app.crawl`; what lies in a directory, in `crawler_app.directory`.
"""

import contextlib
import logging
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.crawl import Crawl
from crawler_app.crawl.hooks import Hooks
from crawler_app.directory import CrawlDirectory, Kept
from crawler_app.directory.stores import Stores, begin_recrawl, open_stores
from crawler_app.errors import ConfigError
from crawler_app.fetcher import check_fetcher, make_fetcher
from crawler_app.frontier.memory import MemoryFrontier
from crawler_app.models import CrawledPage, Link, UrlRecord
from crawler_app.reasons import AnyReason, Reason
from crawler_app.results.comparison import Comparison
from crawler_app.results.summary import Summary, final_records, pages_of, summarize
from crawler_app.subgenerator import Subgenerator
from gencoro import gen

__all__ = ["Crawler", "Result"]

logger = logging.getLogger(__name__)


@dataclass(slots=True, frozen=True)
class Result:
    """What came of a run.

    Attributes:
        summary: The crawl in numbers, earlier runs included.
        seed_ends: What became of each seed in the end; None if nobody knows.
        limit_reached: The limit that has ended the run, as its field is called; empty if
            none has.
        was_stopped: Whether `Crawler.stop` was called before its end.
        kept: What is kept besides; None if nothing is.
        comparison: With the crawl before; None if there was none.
    """

    summary: Summary
    seed_ends: list[UrlRecord | None]
    limit_reached: str
    was_stopped: bool
    kept: Kept | None = None
    comparison: Comparison | None = None


class Crawler:
    """Crawls what a configuration says.

    Where ``config.into`` names a directory, all is kept there, and a crawl of the same
    seeds that it holds already is crawled again and compared; else all is in memory, and
    gone at the end.

    Args:
        config: What to crawl, and how.
        on_page: Called with each page: a function, a ``@gen.coroutine`` or an ``async
            def``, as the other two.
        on_link: Called with each link of each page.
        should_fetch: Called with each URL before it is fetched; False leaves it out.
        resume: Whether to go on with the crawl in the directory, rather than begin anew.
        retried_reasons: Of failures that are to be tried again.
        watch: Called with the `Crawl` when all is ready; what it returns is entered while
            that runs.

    Raises:
        ConfigError: the options cannot be used together, or a hook is none.

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
        watch: Callable[[Crawl], AbstractContextManager[object]] | None = None,
    ) -> None:
        if resume and not config.into:
            raise ConfigError("resume needs the directory of a crawl; `into` is empty")
        self.config = config
        self._hooks = Hooks(on_page, on_link, should_fetch)
        self._resumes = resume
        self._retried_reasons = retried_reasons
        self._watch = watch or contextlib.nullcontext
        self._crawl: Crawl | None = None
        self._is_stopped = False
        check_fetcher(config)

    def stop(self) -> None:
        """Let the fetches under way end, and begin no others; `run` then returns.

        To end at once, cancel what `run` has returned: no URL is lost either way.
        """
        self._is_stopped = True
        if self._crawl is not None:
            self._crawl.stop()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, Result]:
        """Crawl to the end.

        Raises:
            ConfigError: the directory is in use, or of another crawl, or cannot be written.
            StorageError: the disk has failed.
            RuntimeError: it runs already.
        """
        if self._crawl is not None:
            raise RuntimeError("this Crawler runs already; make another one")
        with contextlib.ExitStack() as cleanup:
            directory = self._enter_directory(cleanup)
            if directory is None:
                stores = Stores(MemoryFrontier(), None, None)
            else:
                stores = cleanup.enter_context(open_stores(directory, self.config))
            yield from self._run_with(stores, directory)
            return self._result(stores, directory)

    def _enter_directory(self, cleanup: contextlib.ExitStack) -> CrawlDirectory | None:
        """Lock the directory, and make it ready for what is to come."""
        config = self.config
        if not config.into:
            return None
        if not self._resumes and not CrawlDirectory.holds_crawl(config.into):
            return cleanup.enter_context(CrawlDirectory.create(config.into, config))
        directory = CrawlDirectory.open(config.into)
        self._require_same_seeds(directory.config().seeds)
        cleanup.enter_context(directory)
        if not self._resumes and not begin_recrawl(directory, config):
            logger.warning(
                "The crawl there had not come to its end.  This is another one; "
                "`resume` would have gone on with it."
            )
        directory.save(config)
        return directory

    def _require_same_seeds(self, seeds: Collection[str]) -> None:
        if set(seeds) != set(self.config.seeds):
            raise ConfigError(
                f"{self.config.into} holds a crawl of {' '.join(seeds)}; choose another "
                "directory"
            )

    def _run_with(
        self, stores: Stores, directory: CrawlDirectory | None
    ) -> Subgenerator[None]:
        stores.frontier.requeue(self._retried_reasons)
        with contextlib.closing(make_fetcher(self.config)) as fetcher:
            crawl = self._crawl = Crawl(
                self.config,
                stores.frontier,
                fetcher,
                archive=stores.archive,
                index=stores.index,
                is_recrawl=directory is not None and directory.is_recrawl,
                hooks=self._hooks,
            )
            if self._is_stopped:
                crawl.stop()
            with self._watch(crawl):
                yield crawl.run()

    def _result(self, stores: Stores, directory: CrawlDirectory | None) -> Result:
        assert self._crawl is not None
        frontier = stores.frontier
        summary = summarize(frontier)
        comparison = None if directory is None else directory.comparison(frontier)
        if comparison is not None:
            _forget_vanished(stores, comparison)
        limit_reached = self._crawl.limit_reached
        return Result(
            summary,
            final_records(self.config.seeds, frontier, summary),
            limit_reached,
            self._crawl.is_stopping and not limit_reached and summary.left > 0,
            None if directory is None else directory.kept(),
            comparison,
        )


def _forget_vanished(stores: Stores, comparison: Comparison) -> None:
    """Take out of the index what is no page any more."""
    if stores.index is None:
        return
    if comparison.is_whole:
        stores.index.retain(pages_of(stores.frontier))
    else:
        for page in comparison.vanished:
            if page.reason != Reason.ROBOTS:
                stores.index.remove(page.url)
    stores.index.flush()
