"""A crawler of the `site`."""

import contextlib

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen


@pytest.fixture
def crawl(site, run_sync):
    """Crawl the site in this process, to the end; return the crawler.

    Without asking for robots.txt, unless the test is about that.
    """
    frontiers = []

    def run(path="/", *, frontier=None, fetcher=HttpFetcher, stores=None, **options):
        options = {"retry_pause_s": 0.01, "robots": False} | options
        config = CrawlConfig(seeds=(site.url.rstrip("/") + path,), **options)
        frontier = SqliteFrontier() if frontier is None else frontier
        frontiers.append(frontier)
        made = []

        @gen.coroutine
        def main():
            with contextlib.closing(fetcher(config)) as opened:
                made.append(Crawl(wire(config, frontier, opened, **(stores or {}))))
                yield made[0].run()

        run_sync(main)
        return made[0]

    yield run
    for frontier in set(frontiers):
        frontier.close()


@pytest.fixture
def record_of(site):
    """Look up what a crawler's frontier knows of a path of the site."""

    def look_up(crawler, path):
        url = site.url.rstrip("/") + path
        found = [r for r in crawler.frontier.records() if r.url == url]
        assert len(found) <= 1, "a URL is met once"
        return found[0] if found else None

    return look_up
