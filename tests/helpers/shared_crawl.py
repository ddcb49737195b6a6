"""Crawls of one site by several workers of a frontier in PostgreSQL, in this process."""

import contextlib
from dataclasses import dataclass

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.host_updates import HostUpdates
from crawler_app.run.crawl.wiring import wire
from crawler_app.run.crawl.worker_crawl import WorkerCrawl
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from crawler_app.web.fetcher import HttpFetcher, make_fetcher
from gencoro import gen
from tests.helpers.postgres import empty_crawl

__all__ = ["PAGES", "PATHS", "crawl", "crawl_shared", "tree", "until_fetched"]

PAGES = 60
PATHS = sorted([*(f"/{n}" for n in range(PAGES)), "/image"])


class Crawls(list):
    """The crawls of workers.

    Attributes:
        join: Starts another worker, which reaches the server by a URL; returns a Future.
    """


@pytest.fixture
def tree(site):
    """The site has pages with two links each, and an image."""
    site.page("/image")
    for number in range(PAGES):
        below = [n for n in (2 * number + 1, 2 * number + 2) if n < PAGES]
        links = "".join(f"<a href=/{n}>x</a>" for n in below)
        site.answer(f"/{number}", f"<title>x</title><img src=/image>{links}".encode())
    return site


@pytest.fixture
def crawl(tree, postgres_url, run_sync):
    """Crawl the site by several workers; return their crawls and what they have found.

    With ``urls``, each of which is one worker's way to the server.  The first makes the crawl,
    unless it ``continues``.
    """
    readers = []

    def crawl(
        workers=0,
        urls=(),
        buffered=10,
        during=lambda crawls: None,
        continues=False,
        **limits,
    ):
        urls = urls or [postgres_url] * workers
        location = (
            CrawlLocation(urls[0], "test")
            if continues
            else empty_crawl(urls[0], **limits)
        )
        seeds = (f"{tree.url}0",)
        config = CrawlConfig(seeds, robots=False, retry_pause_s=0.01)
        crawls = Crawls()

        @gen.coroutine
        def work(url):
            frontier = PostgresFrontier(
                CrawlLocation(url, location.crawl),
                LeaseRules.of(config),
                buffered=buffered,
            )
            updates = HostUpdates(frontier)
            with (
                contextlib.closing(frontier),
                contextlib.closing(
                    make_fetcher(config, updates.cookies_set)
                ) as fetcher,
            ):
                yield frontier.open()
                parts = wire(config, frontier, fetcher, host_observer=updates)
                crawls.append(one := WorkerCrawl(parts))
                # What is to befall them while they crawl comes when all have begun.
                while len(crawls) < len(urls):
                    yield gen.moment
                yield one.run()

        crawls.join = work
        run_sync(lambda: [during(crawls), *map(work, urls)])
        readers.append(PostgresReader(location))
        return crawls, readers[-1]

    yield crawl
    for reader in readers:
        reader.close()


def until_fetched(crawls, pages):
    """Wait until all workers together have fetched a number of pages."""
    while sum(each.stats["fetched"] for each in crawls) < pages:
        yield gen.sleep(0.001)  # where the server is away, it takes seconds


@dataclass
class Shared:
    """A crawl by several workers: those, and what they have found."""

    crawls: list[WorkerCrawl]
    reader: PostgresReader

    def total(self, name):
        """Return what all have counted."""
        return sum(each.stats[name] for each in self.crawls)


class Stopping(HttpFetcher):
    """Stops its crawl with the first fetch."""

    has_fetched = False

    @gen.coroutine
    def fetch(self, request):
        self.has_fetched = True
        self.crawl.stop()
        return (yield super().fetch(request))


@pytest.fixture
def crawl_shared(postgres_url, run_sync):
    """Crawl from a seed by several workers, each with its own fetcher, as in production.

    They work at once; or one after the other, each until its first fetch, so that all of what
    one learns comes to the others from the server.
    """
    readers = []

    def run(
        seed,
        workers=None,
        *,
        buffered=10,
        during=lambda crawls: None,
        url=None,
        gap_s=0.0,
        limits=(),
        fetcher=None,
        **options,
    ):
        location = empty_crawl(url or postgres_url, gap_s=gap_s, **dict(limits))
        options = {"retry_pause_s": 0.01, "robots": False} | options
        config = CrawlConfig((seed,), **options)
        crawls = []

        @gen.coroutine
        def work(fetcher_class):
            frontier = PostgresFrontier(
                location, LeaseRules.of(config), buffered=buffered
            )
            updates = HostUpdates(frontier)
            with (
                contextlib.closing(frontier),
                contextlib.closing(
                    fetcher_class(config, updates.cookies_set)
                ) as opened,
            ):
                yield frontier.open()
                parts = wire(config, frontier, opened, host_observer=updates)
                crawl = opened.crawl = WorkerCrawl(parts)
                crawls.append(crawl)
                yield crawl.run()
                return opened

        @gen.coroutine
        def relay():
            bases = (Stopping,) if fetcher is None else (Stopping, fetcher)
            stopping = type("StoppingFetcher", bases, {})
            while (yield work(stopping)).has_fetched:
                pass

        if workers is None:
            run_sync(relay)
        else:
            run_sync(
                lambda: [
                    during(crawls),
                    *(work(fetcher or HttpFetcher) for _ in range(workers)),
                ]
            )
        readers.append(PostgresReader(location))
        return Shared(crawls, readers[-1])

    yield run
    for reader in readers:
        reader.close()
