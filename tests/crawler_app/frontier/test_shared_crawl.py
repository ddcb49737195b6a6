"""Crawls of one site by several workers, each with its own fetcher, as in production."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.crawl.shared import SharedCrawl
from crawler_app.errors import FrontierError
from crawler_app.fetcher import make_fetcher
from crawler_app.frontier.postgres.install import uninstall
from crawler_app.frontier.postgres.place import Place
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.frontier.postgres.worker import PostgresFrontier
from crawler_app.models import State
from gencoro import gen
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.postgres import (
    kill_server,
    make_crawl,
    newest_binaries,
    start,
    url_of,
)

PAGES = 60
PATHS = sorted([*(f"/{n}" for n in range(PAGES)), "/image"])


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
    """Crawl the site by several workers; return their crawls and what they have found."""
    readers = []

    def crawl(workers, buffered=10, during=lambda crawls: None, url=None, **limits):
        place = make_crawl(url or postgres_url, **limits)
        seeds = (f"{tree.url}0",)
        config = CrawlConfig(seeds, robots=False, retry_pause_s=0.01)
        crawls = []

        @gen.coroutine
        def work():
            frontier = PostgresFrontier(place, buffered=buffered)
            with (
                contextlib.closing(frontier),
                contextlib.closing(make_fetcher(config)) as fetcher,
            ):
                yield frontier.open()
                crawls.append(SharedCrawl(config, frontier, fetcher))
                yield crawls[-1].run()

        run_sync(lambda: [during(crawls), *(work() for _ in range(workers))])
        readers.append(PostgresReader(place))
        return crawls, readers[-1]

    yield crawl
    for reader in readers:
        reader.close()


@pytest.mark.parametrize("buffered", [0, 10])
def test_workers_fetch_each_page_of_a_site_once(tree, crawl, buffered):
    crawls, reader = crawl(3, buffered)

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

    with pytest.raises(FrontierError, match="refuses a step"):
        crawl(2, during=delete)


def test_server_that_is_killed_and_started_again_loses_nothing(crawl, tree):
    directory = Path(tempfile.mkdtemp(prefix="gencrawl-postgres-"))
    servers = [start(newest_binaries(), directory)]

    @gen.coroutine
    def kill(crawls):
        for fetched in (5, 20, 40):
            while sum(each.stats["fetched"] for each in crawls) < fetched:
                yield gen.moment
            kill_server(servers[-1])
            servers.append(start(newest_binaries(), directory))

    try:
        _, reader = crawl(2, during=kill, url=url_of(directory))

        assert reader.urls(State.DONE) == reader.urls()
        assert sorted(tree.paths) == PATHS
        counts_are_those_of_the_records(reader)
    finally:
        kill_server(servers[-1])
        shutil.rmtree(directory)
