"""Pausing, continuing and stopping a crawl that others watch, and what they see of it."""

import contextlib

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen


@pytest.fixture
def steer(site, run_sync):
    """Run a coroutine that is given a crawl of the site, and its Future; return the crawl."""

    def run(main, **options):
        made = []

        @gen.coroutine
        def body():
            config = CrawlConfig((site.url,), robots=False, **options)
            with contextlib.closing(HttpFetcher(config)) as fetcher:
                crawl = Crawl(wire(config, SqliteFrontier(), fetcher))
                made.append(crawl)
                running = crawl.run()
                yield main(crawl, running)
                yield running

        run_sync(body)
        return made[0]

    return run


@gen.coroutine
def until(condition):
    """Wait for the crawl's other coroutines to make something true."""
    while not condition():
        yield gen.sleep(0.001)


def test_nothing_is_begun_while_it_is_paused(site, steer):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")
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
        crawl.unpause()

    crawl = steer(main)

    assert asked_while_paused == ["/"]
    assert sorted(site.paths) == ["/", "/a", "/b"]
    assert crawl.frontier.is_drained()


def test_stopped_crawl_completes_fetches_and_starts_none(site, steer):
    site.page("/", "/slow", "/other")
    site.page("/slow", "/never")
    site.hold("/slow")

    @gen.coroutine
    def main(crawl, running):
        yield until(lambda: "/slow" in site.paths)
        crawl.stop()
        site.let_go("/slow")

    crawl = steer(main, concurrency=1)

    assert site.paths == ["/", "/slow"]
    assert crawl.frontier.urls(State.QUEUED) == [f"{site.url}other", f"{site.url}never"]


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
        crawl.unpause()
        yield until(lambda: crawl.frontier.is_drained())
        crawl.pause()

    assert steer(main).frontier.is_drained()


def test_what_has_ended_is_committed_while_every_worker_waits(site, steer):
    site.page("/", "/slow")
    site.page("/slow")
    site.hold("/slow")

    @gen.coroutine
    def main(crawl, running):
        yield until(lambda: "/slow" in site.paths)
        assert crawl.frontier.has_changes()
        yield until(lambda: not crawl.frontier.has_changes())
        site.let_go("/slow")

    steer(main, concurrency=1)


def test_fetches_under_way_and_failures_can_be_seen(site, steer):
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
