"""Changes of a running crawl's pace: immediate, in both directions, and within limits."""

import asyncio
import itertools

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import State
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.pace import read_pace, with_pace
from gencoro import gen
from tests.helpers.running_crawl import opened, until

PAGES = 12


@pytest.fixture
def pages(site):
    """Make the start page link to pages that are held; return their paths."""
    paths = [f"/{number}" for number in range(PAGES)]
    site.page("/", *paths)
    site.pages(*paths)
    for path in paths:
        site.hold(path)
    return paths


@pytest.mark.parametrize("client", ["pooled", "simple"])
@gen.coroutine
def test_number_of_fetches_changes_at_once(site, pages, client):
    with opened(site.url, tries=1, concurrency=2, client=client) as crawl:
        running = crawl.run()
        yield until(lambda: len(site.paths) == 3)

        crawl.change_pace({"concurrency": 6})
        yield until(lambda: len(site.paths) == 7)
        assert len(crawl.under_way) == 6

        crawl.change_pace({"concurrency": 1})
        for path in site.paths[1:6]:
            site.let_go(path)
        yield until(lambda: len(crawl.under_way) == 1)
        for path in pages:
            site.let_go(path)
        least = PAGES
        while not running.done():
            least = min(least, PAGES + 1 - len(site.paths))
            assert len(crawl.under_way) <= 1
            yield gen.moment
        yield running

        assert least == 0
        assert crawl.count(State.DONE) == PAGES + 1


@gen.coroutine
def test_limit_of_one_host_changes_at_once(site, pages):
    with opened(site.url, tries=1, concurrency=6, per_host=1) as crawl:
        running = crawl.run()
        yield until(lambda: len(site.paths) == 2)

        crawl.change_pace({"per-host": 4})
        yield until(lambda: len(site.paths) == 5)

        for path in pages:
            site.let_go(path)
        yield running


@gen.coroutine
def test_shorter_gap_ends_a_wait(site, pages):
    for path in pages:
        site.let_go(path)
    with opened(site.url, tries=1, host_gap_s=3600.0) as crawl:
        running = crawl.run()
        yield until(lambda: crawl.count(State.DONE) == 1)

        crawl.change_pace({"host-gap": 0.0})
        yield running

    assert len(site.paths) == PAGES + 1


@gen.coroutine
def test_longer_gap_holds_from_the_last_fetch_on(site, pages):
    with opened(site.url, tries=1, host_gap_s=3600.0) as crawl:
        running = crawl.run()
        yield until(lambda: crawl.count(State.DONE) == 1)
        before = crawl.next_at(0.0)

        crawl.change_pace({"host-gap": 7200.0})
        assert crawl.next_at(0.0) == before + 3600.0

        crawl.change_pace({"host-gap": None})
        for path in pages:
            site.let_go(path)
        yield running


@gen.coroutine
def test_cancelled_crawl_puts_back_the_claims_of_added_workers(site, pages):
    with opened(site.url, tries=1, concurrency=1) as crawl:
        running = crawl.run()
        yield until(lambda: len(site.paths) == 2)
        crawl.change_pace({"concurrency": 5})
        yield until(lambda: len(site.paths) == 6)

        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            yield running

        assert crawl.count(State.CLAIMED) == 0
        assert crawl.count(State.QUEUED) == PAGES


@gen.coroutine
def test_pace_of_a_crawl_that_has_ended_starts_nothing(site):
    site.page("/")
    with opened(site.url, tries=1, concurrency=1) as crawl:
        yield crawl.run()
        crawl.change_pace({"concurrency": 5})

    assert site.paths == ["/"]


def test_gap_of_robots_txt_is_kept():
    config = CrawlConfig(("http://a.test/",), host_gap_s=60.0)
    hosts = HostStates(config)
    hosts.note_crawl_delay("a.test", 5.0)
    assert hosts.begin_fetch("a.test", now=100.0) == (100.0, 160.0)
    hosts.begin_fetch("b.test", now=100.0)
    changed = with_pace(config, {"host-gap": 0.0}, config)

    assert list(hosts.change(changed, now=101.0)) == [
        ("a.test", 160.0, 105.0),
        ("b.test", 160.0, 100.0),
    ]
    assert list(hosts.change(config, now=161.0)) == []


@pytest.mark.parametrize(("gap_s", "wait_s"), [(0.0, 0.0), (5.0, 4.0), (500.0, 60.0)])
def test_fetch_that_no_claim_waited_for_waits_for_the_gap(gap_s, wait_s):
    hosts = HostStates(CrawlConfig(("http://a.test/",), host_gap_s=gap_s))
    hosts.begin_fetch("a.test", now=100.0)

    begins_at, held_to = hosts.begin_fetch("a.test", now=101.0)

    assert (begins_at, held_to) == (101.0 + wait_s, 101.0 + wait_s + gap_s)
    assert hosts.begin_fetch("a.test", now=2000.0)[0] == 2000.0


@pytest.mark.parametrize(
    ("text_by_key", "complaint"),
    [
        (
            {"concurrency": "0"},
            "concurrency is 0; it must be a whole number, at least 1",
        ),
        ({"concurrency": "1001"}, "concurrency is 1001; it must be .* at most 1000"),
        ({"concurrency": "many"}, "concurrency is 'many'; it must be a whole number"),
        ({"per-host": "1.5"}, "per-host is '1.5'; it must be a whole number"),
        ({"host-gap": "-1"}, "host-gap is -1s; it must be a duration .* 0 or more"),
        ({"host-gap": "nan"}, "host-gap is 'nan'; it must be a duration such as 250ms"),
        ({"host-gap": "86401"}, "host-gap is 1d1s; it must be .* at most a day"),
        (
            {"tries": "3"},
            "the pace has no 'tries'; it has concurrency, per-host, host-gap",
        ),
    ],
)
def test_pace_that_is_not_allowed_is_refused(text_by_key, complaint):
    config = CrawlConfig(("http://a.test/",))
    with pytest.raises(ConfigError, match=complaint):
        with_pace(config, read_pace(text_by_key), config)


@pytest.mark.parametrize("client", ["curl", "requests"])
def test_concurrency_of_a_fixed_size_client_cannot_grow(client):
    first = CrawlConfig(("http://a.test/",), client=client)
    slower = with_pace(first, {"concurrency": 5}, first)

    assert with_pace(slower, {"concurrency": 10}, first).concurrency == 10
    with pytest.raises(ConfigError, match=f"'{client}' was started for 10, and cannot"):
        with_pace(slower, {"concurrency": 11}, first)


@pytest.fixture
def begun_at(monkeypatch):
    """Return the times at which fetches begin."""
    times = []
    begin = HostStates.begin_fetch

    def note(self, host, now):
        begins_at, held_to = begin(self, host, now)
        times.append(begins_at)
        return begins_at, held_to

    monkeypatch.setattr(HostStates, "begin_fetch", note)
    return times


def test_every_request_to_a_host_keeps_its_gap(site, crawl, record_of, begun_at):
    left = ["/a"]
    site.resets = lambda path: bool(left and path == left[0] and left.pop())
    site.redirect("/robots.txt", to=f"{site.url}rules")
    site.answer("/rules", b"User-agent: *\nDisallow: /c")
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")

    crawler = crawl(robots=True, host_gap_s=0.05, concurrency=2, tries=1)

    assert sorted(site.paths) == ["/", "/a", "/a", "/b", "/robots.txt", "/rules"]
    assert record_of(crawler, "/a").tries == 0
    gaps = [after - before for before, after in itertools.pairwise(begun_at)]
    assert len(gaps) == 5 and min(gaps) > 0.0499
