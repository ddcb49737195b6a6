"""A host that has a page for every URL is detected with one request."""

import asyncio

import pytest

from crawler_app.run.crawl import Crawl
from crawler_app.store.frontier.sqlite import SqliteFrontier
from gencoro import gen
from tests.helpers.running_crawl import opened
from tests.helpers.site import Answer


@pytest.mark.parametrize(
    ("answer", "is_soft"),
    [
        (None, False),
        (Answer(status=410), False),
        (Answer(status=500), False),
        (Answer(status=202, headers={"x-amzn-waf-action": "challenge"}), False),
        (Answer(b"No such page"), True),
        (Answer(status=302, headers={"Location": "/"}), True),
        (Answer(status=302, headers={"Location": "/gone"}), False),
        (Answer(status=302, headers={"Location": "again"}), False),
        (Answer(status=302, headers={"Location": "http://b.test/"}), False),
        (Answer(status=302), False),
    ],
)
def test_each_host_gets_one_request_for_a_nonexistent_url(site, crawl, answer, is_soft):
    site.page("/", "a")
    site.page("/a")
    site.answer("/gone", status=404)
    site.otherwise = [answer] if answer else []
    frontier = SqliteFrontier(":memory:")

    crawl(frontier=frontier, soft_404=True)

    made_up = [path for path in site.paths if len(path) > 30]
    if answer is None or answer.headers.get("Location") != "again":
        assert len(made_up) == 1
    assert frontier.soft_404s() == ([site.url + made_up[0][1:]] if is_soft else [])
    assert frontier.total() == 2


@pytest.mark.parametrize(
    ("options", "robots"),
    [
        ({}, ""),
        ({"soft_404": True, "max_pages": 1}, ""),
        ({"soft_404": True, "robots": True}, "User-agent: *\nDisallow: /\nAllow: /$\n"),
    ],
)
def test_host_is_not_asked(site, crawl, options, robots):
    site.page("/", "a")
    site.page("/a")
    site.answer("/robots.txt", robots.encode())

    crawl(**options)

    assert set(site.paths) <= {"/robots.txt", "/", "/a"}


def test_later_crawl_replaces_earlier_soft_404s(site, crawl):
    site.page("/")
    site.otherwise = [Answer(b"No such page")]
    frontier = SqliteFrontier(":memory:")
    crawl(frontier=frontier, soft_404=True)
    assert frontier.soft_404s()

    frontier.begin_anew(is_compared=True)

    assert frontier.soft_404s() == []


def test_soft_404_of_an_unreachable_host_is_kept(site, crawl):
    site.page("/")
    site.answer("/robots.txt", b"User-agent: *\nAllow: /")
    site.otherwise = [Answer(b"No such page")]
    frontier = SqliteFrontier(":memory:")
    crawl(frontier=frontier, soft_404=True, robots=True)
    found = frontier.soft_404s()

    # Nothing is left to fetch, so that the robots.txt is not read again.
    crawl(frontier=frontier, soft_404=True, robots=True)

    assert len(found) == 1
    assert frontier.soft_404s() == found


def reach_time_limit(crawl):
    loop = asyncio.get_running_loop()
    (timer,) = (each for each in loop._scheduled if each.when() > loop.time() + 10_000)
    timer._run()


@pytest.mark.parametrize("stop", [Crawl.stop, reach_time_limit])
@gen.coroutine
def test_host_is_not_asked_once_the_crawl_is_stopped(site, stop):
    site.page("/")

    with opened(site.url, soft_404=True, max_time_s=20_000) as crawl:
        hosts = crawl.frontier.hosts

        def hosts_of_a_stopped_crawl():
            stop(crawl)
            return hosts()

        crawl.frontier.hosts = hosts_of_a_stopped_crawl
        yield crawl.run()

    assert site.paths == ["/"]
    assert (crawl.is_stopping, crawl.limit_reached) == (True, "")
