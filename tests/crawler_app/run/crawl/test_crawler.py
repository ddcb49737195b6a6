"""`Crawler`: a whole crawl from a configuration, in memory or in a directory."""

import asyncio
import contextlib
import dataclasses
import pathlib
import sqlite3
import subprocess
import sys

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError, FrontierError
from crawler_app.base.models import State
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store import database
from gencoro import gen

EXAMPLE = pathlib.Path(__file__).parents[4] / "docs/examples/long_pages.py"


@pytest.fixture
def config(site):
    site.page("/", "/a", "/gone", title="Home")
    site.page("/a", title="A")
    return CrawlConfig((site.url,), robots=False)


@pytest.fixture
def run(run_sync):
    """Run a crawler to its end."""
    return lambda crawler: run_sync(crawler.run)


@pytest.fixture
def kept(config, tmp_path):
    """The configuration, with a directory."""
    return dataclasses.replace(config, into=str(tmp_path / "crawl"))


def test_crawl_without_directory_leaves_nothing(config, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = run(Crawler(config))

    assert (result.summary.pages, result.summary.left) == (2, 0)
    assert result.kept is None and result.comparison is None
    assert [end.url for end in result.seed_ends] == list(config.seeds)
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_awaited_under_asyncio(config):
    async def main():
        return await Crawler(config).run()

    assert asyncio.run(main()).summary.pages == 2


def test_crawl_into_a_directory_is_kept_there(kept, run):
    result = run(Crawler(kept))

    assert result.kept.pages == 2
    assert result.kept.archive.captures == 3
    directory = CrawlDirectory.open(kept.into)
    assert directory.config() == kept
    with directory:  # it is locked no longer
        frontier = directory.frontier()
        assert frontier.count(State.DONE) == 2
        frontier.close()


def test_crawl_that_reached_a_limit_is_resumed(kept, run, site):
    config = dataclasses.replace(kept, max_pages=1)
    result = run(Crawler(config))
    assert (result.limit_reached, result.summary.left) == ("max_pages", 2)

    result = run(Crawler(dataclasses.replace(config, max_pages=None), resume=True))

    assert result.limit_reached == ""
    assert result.summary.left == 0
    assert sorted(site.paths) == ["/", "/a", "/gone"]
    assert CrawlDirectory.open(config.into).config().max_pages is None


def test_lock_that_another_process_keeps_ends_the_crawl_and_loses_no_link(
    kept, run, site, monkeypatch
):
    monkeypatch.setattr(database, "PATIENCE_S", 0.01)
    path = CrawlDirectory(kept.into).frontier_path

    @gen.coroutine
    def lock(page):
        other = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        others.callback(other.close)
        while page.url == site.url and not other.in_transaction:
            with contextlib.suppress(sqlite3.OperationalError):
                other.execute("BEGIN IMMEDIATE")
            yield gen.sleep(0.001)  # the crawl commits in the meantime

    with contextlib.ExitStack() as others, pytest.raises(FrontierError, match="locked"):
        run(Crawler(kept, on_page=lock))
    result = run(Crawler(kept, resume=True))

    assert (result.summary.left, result.summary.pages) == (0, 2)
    assert set(site.paths) == {"/", "/a", "/gone"}


def test_stopped_crawl_has_a_result(config, run, site):
    def stop_at_once(page):
        crawler.stop()

    crawler = Crawler(dataclasses.replace(config, concurrency=1), on_page=stop_at_once)

    result = run(crawler)

    assert result.was_stopped
    assert site.paths == ["/"]


def test_crawl_can_be_stopped_before_it_runs(config, run, site):
    crawler = Crawler(config)
    crawler.stop()

    assert run(crawler).was_stopped
    assert site.paths == []


def test_stop_at_the_end_has_stopped_nothing(config, run):
    def stop_at_the_last(page):
        if page.title == "A":
            crawler.stop()

    crawler = Crawler(
        dataclasses.replace(config, exclude=("gone",)), on_page=stop_at_the_last
    )

    assert not run(crawler).was_stopped


def test_cancelled_run_puts_all_claims_back(kept, run_sync, site):
    site.hold("/")

    @gen.coroutine
    def main():
        running = Crawler(kept).run()
        while not site.paths:
            yield gen.sleep(0.001)
        running.cancel()
        try:
            yield running
        except asyncio.CancelledError:
            return "cancelled"

    assert run_sync(main) == "cancelled"
    frontier = CrawlDirectory.open(kept.into).frontier()
    assert frontier.count(State.QUEUED) == 1
    frontier.close()


def test_watch_is_entered_during_the_run(config, run):
    seen = []

    class Watch:
        def __init__(self, crawl):
            self.crawl = crawl

        def __enter__(self):
            seen.append(self.crawl.frontier.count(State.DONE))

        def __exit__(self, *exc_info):
            seen.append(self.crawl.frontier.count(State.DONE))

    run(Crawler(config, watch=Watch))

    assert seen == [0, 2]


def test_crawler_runs_once(config, run):
    crawler = Crawler(config)
    run(crawler)

    with pytest.raises(RuntimeError, match="create another one"):
        run(crawler)


def test_directory_of_another_crawl_is_refused_before_anything(kept, run, site):
    run(Crawler(kept))
    before = list(site.paths)

    with pytest.raises(ConfigError, match="holds a crawl of"):
        run(Crawler(dataclasses.replace(kept, seeds=(f"{site.url}a",))))

    assert site.paths == before


def test_mistyped_start_url_does_not_spend_the_directory(kept, run, site):
    wrong = dataclasses.replace(kept, seeds=("http://127.0.0.1:1/",), tries=1)
    run(Crawler(wrong))

    result = run(Crawler(kept))

    assert [end.url for end in result.seed_ends] == [site.url]
    assert result.summary.pages == 2


def test_resuming_needs_a_directory(config, tmp_path, run):
    with pytest.raises(ConfigError, match="resume needs the directory"):
        Crawler(config, resume=True)
    with pytest.raises(ConfigError, match="is not a crawl directory"):
        run(Crawler(dataclasses.replace(config, into=str(tmp_path)), resume=True))


def test_example_runs_and_has_24_lines(site):
    site.answer("/", b"<p>one two three <a href=/a>A</a><a href=//b.test/>B</a>")
    site.answer("/a", b"<p>one")

    ran = subprocess.run(
        [sys.executable, EXAMPLE, site.url],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )

    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "out of it: B -> http://b.test/",
        f"(4, '{site.url}')",
        f"(1, '{site.url}a')",
    ]
    assert len(EXAMPLE.read_text().splitlines()) == 24


def test_result_is_shown_in_one_line(config, run):
    result = run(Crawler(dataclasses.replace(config, max_pages=1)))

    shown = "1 page, 0 files, 0 failed, 0 skipped, 2 left"
    assert repr(result) == f"<Result: {shown}, reached max_pages>"
    assert repr(result.summary) == f"<Summary: {shown}>"
