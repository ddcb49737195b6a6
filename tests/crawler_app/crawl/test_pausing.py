"""A crawl that is paused, goes on, and is stopped, while others look on."""

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.crawl import Crawl
from crawler_app.fetcher import HttpFetcher
from crawler_app.frontier.memory import MemoryFrontier
from crawler_app.models import State
from gencoro import gen
from gencoro.ioloop import IOLoop


@pytest.fixture
def steer(site):
    """Run a coroutine that is given a crawl of the site, and its Future; return the crawl."""

    def run(main, **options):
        made = []

        @gen.coroutine
        def body():
            config = CrawlConfig((site.url,), robots=False, **options)
            fetcher = HttpFetcher(config)
            crawl = Crawl(config, MemoryFrontier(), fetcher)
            made.append(crawl)
            try:
                running = crawl.run()
                yield main(crawl, running)
                yield running
            finally:
                fetcher.close()

        loop = IOLoop(make_current=False)
        try:
            loop.run_sync(body, timeout=60)
        finally:
            loop.close()
        return made[0]

    return run


@gen.coroutine
def until(condition):
    """Wait for the crawl's other coroutines to make something true."""
    while not condition():
        yield gen.sleep(0.001)


def test_nothing_is_begun_while_it_is_paused(site, steer):
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    site.hold("/")
    asked_while_paused = []

    @gen.coroutine
    def main(crawl, running):
        yield until(lambda: site.paths == ["/"])
        crawl.pause()
        site.let_go("/")
        yield until(lambda: crawl.frontier.count(State.DONE) == 1)
        for _ in range(10):  # turns in which a worker would begin
            yield gen.moment
        assert crawl.frontier.count(State.CLAIMED) == 0
        asked_while_paused.extend(site.paths)
        assert not crawl.under_way
        crawl.resume()

    crawl = steer(main)

    assert asked_while_paused == ["/"]
    assert sorted(site.paths) == ["/", "/a", "/b"]
    assert crawl.frontier.is_drained()


def test_crawl_that_is_paused_can_be_stopped(site, steer):
    site.page("/", "/a")
    site.hold("/")

    @gen.coroutine
    def main(crawl, running):
        yield until(lambda: site.paths == ["/"])
        crawl.pause()
        site.let_go("/")
        yield until(lambda: crawl.frontier.count(State.DONE) == 1)
        crawl.stop()

    crawl = steer(main)

    assert site.paths == ["/"]
    assert crawl.frontier.count(State.QUEUED) == 1


def test_crawl_that_is_paused_at_its_end_ends(site, steer):
    site.page("/")

    @gen.coroutine
    def main(crawl, running):
        crawl.pause()
        crawl.resume()
        yield until(lambda: crawl.frontier.is_drained())
        crawl.pause()

    assert steer(main).frontier.is_drained()


def test_what_is_under_way_and_what_has_failed_can_be_seen(site, steer):
    site.page("/", "/gone", "/slow")
    site.page("/slow")
    site.hold("/slow")
    seen = []

    @gen.coroutine
    def main(crawl, running):
        yield until(lambda: crawl.last_failures)
        seen.extend(claim.url for claim in crawl.under_way)
        site.let_go("/slow")

    crawl = steer(main)

    assert seen == [f"{site.url}slow"]
    (failure,) = crawl.last_failures
    assert (failure.url, failure.reason) == (f"{site.url}gone", "http_404")
    assert not crawl.under_way
