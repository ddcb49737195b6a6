"""Pausing, continuing and stopping a crawl that others watch, and what they see of it."""

from crawler_app.base.models import State
from gencoro import gen
from tests.helpers.running_crawl import opened, until


@gen.coroutine
def test_nothing_is_begun_while_it_is_paused(site):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")
    site.hold("/")

    with opened(site.url) as crawl:
        running = crawl.run()
        yield until(lambda: site.paths == ["/"])
        crawl.pause()
        site.let_go("/")
        yield until(lambda: crawl.count(State.DONE) == 1)
        for _ in range(10):  # turns in which a worker would begin
            yield gen.moment
        assert crawl.count(State.CLAIMED) == 0
        assert site.paths == ["/"]
        assert not crawl.under_way
        crawl.unpause()
        yield running

        assert sorted(site.paths) == ["/", "/a", "/b"]
        assert crawl.frontier.is_drained()


@gen.coroutine
def test_stopped_crawl_completes_fetches_and_starts_none(site):
    site.page("/", "/slow", "/other")
    site.page("/slow", "/never")
    site.hold("/slow")

    with opened(site.url, concurrency=1) as crawl:
        running = crawl.run()
        yield until(lambda: "/slow" in site.paths)
        crawl.stop()
        site.let_go("/slow")
        yield running

        queued = [f"{site.url}other", f"{site.url}never"]
        assert site.paths == ["/", "/slow"]
        assert crawl.frontier.urls(State.QUEUED) == queued


@gen.coroutine
def test_crawl_that_is_paused_can_be_stopped(site):
    site.page("/", "/a")
    site.hold("/")

    with opened(site.url) as crawl:
        running = crawl.run()
        yield until(lambda: site.paths == ["/"])
        crawl.pause()
        site.let_go("/")
        yield until(lambda: crawl.count(State.DONE) == 1)
        crawl.stop()
        yield running

        assert site.paths == ["/"]
        assert crawl.count(State.QUEUED) == 1


@gen.coroutine
def test_crawl_that_is_paused_at_its_end_ends(site):
    site.page("/")

    with opened(site.url) as crawl:
        running = crawl.run()
        crawl.pause()
        crawl.unpause()
        yield until(crawl.frontier.is_drained)
        crawl.pause()
        yield running

        assert crawl.frontier.is_drained()


@gen.coroutine
def test_what_has_ended_is_committed_while_every_worker_waits(site):
    site.page("/", "/slow")
    site.page("/slow")
    site.hold("/slow")

    with opened(site.url, concurrency=1) as crawl:
        running = crawl.run()
        yield until(lambda: "/slow" in site.paths)
        assert crawl.frontier.has_changes()
        yield until(lambda: not crawl.frontier.has_changes())
        site.let_go("/slow")
        yield running


@gen.coroutine
def test_fetches_under_way_and_failures_can_be_seen(site):
    site.page("/", "/gone", "/slow")
    site.page("/slow")
    site.hold("/slow")

    with opened(site.url) as crawl:
        running = crawl.run()
        yield until(lambda: crawl.last_failures)
        assert [claim.url for claim in crawl.under_way] == [f"{site.url}slow"]
        site.let_go("/slow")
        yield running

        (failure,) = crawl.last_failures
        assert (failure.url, failure.reason) == (f"{site.url}gone", "http_404")
        assert not crawl.under_way
