"""Crawls of one site by several workers, each with its own fetcher, as in production."""

import pytest

from crawler_app.errors import ServerError
from crawler_app.frontier.postgres.install import uninstall
from crawler_app.frontier.postgres.place import Place
from crawler_app.models import State
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


def test_limit_of_pages_ends_all_workers_and_the_last_get_what_they_need(tree, crawl):
    crawls, reader = crawl(2, max_pages=1)

    assert sorted(tree.paths) == ["/0", "/image"]
    assert {each.limit_reached for each in crawls} == {"max_pages"}
    assert reader.count(State.QUEUED) == 2


def test_worker_that_is_stopped_puts_back_what_it_has(tree, crawl):
    @gen.coroutine
    def stop_one(crawls):
        while not (busy := [each for each in crawls if each.stats["fetched"] >= 3]):
            yield gen.moment
        busy[0].stop()

    crawls, reader = crawl(2, during=stop_one)

    assert sorted(tree.paths) == PATHS
    assert reader.is_drained()
    assert max(each.frontier.count(State.DONE) for each in crawls) == PAGES + 1


def test_crawl_that_was_deleted_ends_its_workers(crawl, postgres_url, tree):
    @gen.coroutine
    def delete(crawls):
        while not crawls:
            yield gen.moment
        yield uninstall(Place(postgres_url, "test"))

    with pytest.raises(ServerError, match="refuses a step"):
        crawl(2, during=delete)
