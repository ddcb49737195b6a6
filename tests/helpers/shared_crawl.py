"""Crawls of one site by several workers of a frontier in PostgreSQL, in this process."""

import contextlib

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.crawl.shared import SharedCrawl
from crawler_app.fetcher import make_fetcher
from crawler_app.frontier.postgres.place import Place
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.frontier.postgres.worker import PostgresFrontier
from gencoro import gen
from tests.helpers.postgres import make_crawl

__all__ = ["PAGES", "PATHS", "crawl", "tree", "until_fetched"]

PAGES = 60
PATHS = sorted([*(f"/{n}" for n in range(PAGES)), "/image"])


class Crawls(list):
    """The crawls of workers.

    Attributes:
        join: Starts another worker, which goes to the server by a URL; returns a Future.
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
        place = Place(urls[0], "test") if continues else make_crawl(urls[0], **limits)
        seeds = (f"{tree.url}0",)
        config = CrawlConfig(seeds, robots=False, retry_pause_s=0.01)
        crawls = Crawls()

        @gen.coroutine
        def work(url):
            frontier = PostgresFrontier(Place(url, place.crawl), buffered=buffered)
            with (
                contextlib.closing(frontier),
                contextlib.closing(make_fetcher(config)) as fetcher,
            ):
                yield frontier.open()
                crawls.append(SharedCrawl(config, frontier, fetcher))
                yield crawls[-1].run()

        crawls.join = work
        run_sync(lambda: [during(crawls), *map(work, urls)])
        readers.append(PostgresReader(place))
        return crawls, readers[-1]

    yield crawl
    for reader in readers:
        reader.close()


def until_fetched(crawls, pages):
    """Wait until so many pages were fetched, by all together."""
    while sum(each.stats["fetched"] for each in crawls) < pages:
        yield gen.moment
