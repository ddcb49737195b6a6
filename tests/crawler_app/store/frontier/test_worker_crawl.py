"""Crawls of one site by several workers with one frontier."""

import contextlib
import time

import pytest

from crawler_app.base.errors import ServerError
from crawler_app.base.models import Candidate, State
from crawler_app.base.urls import host_of
from crawler_app.store.frontier.postgres import step_sender
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.install import uninstall
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from gencoro import gen
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.shared_crawl import PAGES, PATHS


@pytest.mark.parametrize("buffered", [0, 10])
def test_workers_fetch_each_page_of_a_site_once(tree, crawl, buffered):
    crawls, reader = crawl(3, buffered=buffered)

    assert sorted(tree.paths) == PATHS
    assert reader.count(State.DONE) == PAGES + 1 and reader.is_drained()
    assert [each.limit_reached for each in crawls] == [""] * 3
    counts_are_those_of_the_records(reader)


def test_limit_of_pages_ends_all_workers_and_assets_are_fetched(tree, crawl):
    crawls, reader = crawl(2, max_pages=1)

    assert sorted(tree.paths) == ["/0", "/image"]
    assert {each.limit_reached for each in crawls} == {"max_pages"}
    assert reader.count(State.QUEUED) == 2


def test_limit_of_pages_counts_leases_of_a_dead_worker(
    tree, crawl_shared, postgres_url, monkeypatch
):
    monkeypatch.setattr(step_sender.StepSender, "alive_s", 1.0)

    @gen.coroutine
    def claim_and_die(crawls):
        dead = PostgresFrontier(CrawlLocation(postgres_url, "test"), LeaseRules())
        yield dead.open()
        dead.add([Candidate(f"{tree.url}59", host_of(tree.url))])
        dead.flush()
        while dead.claim(time.time(), 60.0) is None and not dead.limit_reached:
            yield dead.exchange()
        dead.close()

    shared = crawl_shared(
        f"{tree.url}0",
        2,
        during=claim_and_die,
        limits={"max_pages": 20},
        concurrency=1,
    )

    assert shared.reader.count(State.DONE) == 20 + 1
    assert shared.reader.count(State.CLAIMED) == 0
    assert {each.limit_reached for each in shared.crawls} == {"max_pages"}


def test_stopped_worker_puts_its_claims_back(tree, crawl):
    @gen.coroutine
    def stop_one(crawls):
        while not (busy := [each for each in crawls if each.stats["fetched"] >= 3]):
            yield gen.moment
        busy[0].stop()

    crawls, reader = crawl(2, during=stop_one)

    assert sorted(tree.paths) == PATHS
    assert reader.is_drained()
    assert max(each.frontier.count(State.DONE) for each in crawls) == PAGES + 1


def test_paused_workers_put_back_what_they_have_not_begun_and_count_it(
    tree, crawl_shared, postgres_url, monkeypatch
):
    monkeypatch.setattr(step_sender.StepSender, "alive_s", 3600.0)
    tree.hold("/2")

    @gen.coroutine
    def pause(crawls):
        while "/2" not in tree.paths or len(crawls) < 2:
            yield gen.moment
        for each in crawls:
            each.pause()
        with contextlib.closing(
            PostgresReader(CrawlLocation(postgres_url, "test"))
        ) as reader:
            while reader.count(State.CLAIMED) > 1:
                yield gen.sleep(0.001)
        while latest_of(crawls).count(State.CLAIMED) > 1:
            yield gen.sleep(0.001)
        tree.let_go("/2")
        for each in crawls:
            each.unpause()

    shared = crawl_shared(f"{tree.url}0", 2, during=pause, concurrency=2)

    assert sorted(tree.paths) == PATHS
    assert shared.reader.is_drained()


def latest_of(crawls):
    """Return the crawl that was told the counts last."""
    return max(crawls, key=lambda crawl: crawl.frontier.counted_at)


def test_idle_worker_goes_on_at_the_level_that_another_has_reached(site, crawl_shared):
    for number in range(5):
        site.page(f"/{number}", f"/{number + 1}")
    site.page("/5")

    @gen.coroutine
    def stop_the_busy(crawls):
        while not (busy := [each for each in crawls if each.stats["fetched"] >= 2]):
            yield gen.sleep(0.001)  # it takes seconds
        busy[0].stop()

    shared = crawl_shared(f"{site.url}0", 2, during=stop_the_busy, max_depth=20)

    assert shared.reader.count(State.DONE) == 6


def test_worker_waiting_for_another_does_not_report_its_lease_end(site, crawl_shared):
    site.page("/0")
    site.hold("/0")
    times = []

    @gen.coroutine
    def ask_the_idle(crawls):
        while not (idle := [each for each in crawls if each.frontier.next_at(0.0)]):
            yield gen.moment
        times.append(idle[0].next_at(0.0))
        site.let_go("/0")

    crawl_shared(f"{site.url}0", 2, during=ask_the_idle)

    assert times == [None]


def test_crawl_that_was_deleted_ends_its_workers(crawl, postgres_url, tree):
    @gen.coroutine
    def delete(crawls):
        while len(crawls) < 2:
            yield gen.moment
        yield uninstall(CrawlLocation(postgres_url, "test"))

    with pytest.raises(ServerError, match="test at .* was deleted: "):
        crawl(2, during=delete)
