"""Limits of a crawl, private addresses, and how hosts share the workers."""

import asyncio
import contextlib
import dataclasses
import itertools

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched, State
from crawler_app.base.urls import host_of
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock

HTML = {"Content-Type": "text/html"}
TEXT = {"Content-Type": "text/plain"}


class Web:
    """A fetcher of made-up hosts, in virtual time.

    Attributes:
        begun: When each URL was asked for.
        most_by_host: The most fetches from a host that were under way at once.
    """

    def __init__(self, loop, links_by_url, took_s_by_host=None, robots_txt=None):
        self.begun = {}
        self.ended = {}
        self.most_by_host = {}
        self._loop = loop
        self._links_by_url = links_by_url
        self._took_s_by_host = took_s_by_host or {}
        self._now_by_host = {}
        self._robots_txt = robots_txt

    @gen.coroutine
    def fetch(self, request):
        url = request.url
        host = host_of(url)
        self.begun[url] = self._loop.time()
        now = self._now_by_host[host] = self._now_by_host.get(host, 0) + 1
        self.most_by_host[host] = max(now, self.most_by_host.get(host, 0))
        took_s = self._took_s_by_host.get(host, 0.01)
        try:
            yield gen.sleep(took_s)
        finally:
            self._now_by_host[host] -= 1
        self.ended[url] = self._loop.time()
        if url.endswith("/robots.txt"):
            return Fetched(url, 200, TEXT, self._robots_txt, took_s)
        links = self._links_by_url.get(url, ())
        body = "".join(f"<a href='{link}'>x</a>" for link in links).encode()
        return Fetched(url, 200, HTML, body, took_s)

    def close(self):
        pass


@pytest.fixture
def crawl_web():
    """Crawl a made-up web in virtual time; return the crawler and its fetcher."""
    loop = VirtualClock().new_event_loop()

    def crawl_web(links_by_url, took_s_by_host=None, robots_txt=None, **options):
        web = Web(loop, links_by_url, took_s_by_host, robots_txt)
        options = {"scope": "any", "robots": robots_txt is not None} | options
        config = CrawlConfig((next(iter(links_by_url)),), **options)
        crawler = Crawl(wire(config, SqliteFrontier(), web, clock=loop.time))
        asyncio.set_event_loop(loop)
        IOLoop.current().run_sync(crawler.run)
        return crawler, web

    with contextlib.closing(loop):
        yield crawl_web
    asyncio.set_event_loop(None)


def pages(host, count):
    return [f"http://{host}/{n}" for n in range(count)]


def gaps(web, host):
    times = sorted(at for url, at in web.begun.items() if host_of(url) == host)
    return [later - at for at, later in itertools.pairwise(times)]


def test_slow_host_does_not_hold_up_the_others(crawl_web):
    links = {"http://start.test/": pages("slow.test", 40) + pages("quick.test", 40)}

    _, web = crawl_web(links, {"slow.test": 30.0}, host_gap_s=0.1, per_host=4)

    assert len(web.begun) == 81
    quick = [web.ended[url] for url in pages("quick.test", 40)]
    assert max(quick) < 10.0
    assert web.most_by_host["slow.test"] == 4


def test_many_hosts_take_their_turns(crawl_web):
    hosts = [f"h{n}.test" for n in range(20)]
    links = {"http://start.test/": [url for host in hosts for url in pages(host, 5)]}

    _, web = crawl_web(links)

    # Five pages a second apart, whatever the number of hosts.
    assert max(web.ended.values()) < 8.0
    for host in hosts:
        assert min(gaps(web, host)) == pytest.approx(1.0)


def test_gap_follows_what_a_slow_host_takes(crawl_web):
    links = {"http://slow.test/": pages("slow.test", 10)}

    _, web = crawl_web(links, {"slow.test": 3.0})

    assert min(gaps(web, "slow.test")[1:]) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("robots_txt", "options", "first_gap_s", "gap_s"),
    [
        (b"", {"host_gap_s": 0.25}, 0.25, 0.25),
        (b"User-agent: *\nCrawl-delay: 5", {}, 1.0, 5.0),
        (b"User-agent: *\nCrawl-delay: 5", {"host_gap_s": 7.0}, 7.0, 7.0),
    ],
)
def test_gap_is_kept_from_robots_txt_on(
    crawl_web, robots_txt, options, first_gap_s, gap_s
):
    links = {"http://a.test/": pages("a.test", 3)}

    _, web = crawl_web(links, robots_txt=robots_txt, **options)

    assert len(web.begun) == 5
    assert gaps(web, "a.test") == pytest.approx([first_gap_s, *[gap_s] * 3])


@pytest.mark.parametrize(
    ("max_time_s", "reached", "begun"), [(10.5, "max_time", 11), (1000.0, "", 101)]
)
def test_time_limit_ends_the_run_and_keeps_the_rest(
    crawl_web, max_time_s, reached, begun
):
    links = {"http://a.test/": pages("a.test", 100)}

    crawler, web = crawl_web(links, max_time_s=max_time_s)

    assert crawler.limit_reached == reached
    assert len(web.begun) == begun
    assert crawler.frontier.count(State.QUEUED) == 101 - begun
    assert crawler.frontier.count(State.CLAIMED) == 0


def test_time_limit_puts_back_what_takes_longer(crawl_web):
    links = {"http://a.test/": ["http://quick.test/", "http://slow.test/"]}

    crawler, web = crawl_web(
        links, {"quick.test": 12.0, "slow.test": 3600.0}, max_time_s=10.0
    )

    assert crawler.limit_reached == "max_time"
    assert [*web.ended] == ["http://a.test/", "http://quick.test/"]
    assert crawler.frontier.count(State.DONE) == 2
    assert crawler.frontier.count(State.QUEUED) == 1
    assert crawler.frontier.count(State.CLAIMED) == 0


def test_byte_limit_ends_the_run(site, crawl):
    site.page("/", *(f"/{n}" for n in range(20)))
    for n in range(20):
        site.answer(f"/{n}", b"x" * 1000)

    crawler = crawl(max_bytes=5_000, concurrency=1)

    assert crawler.limit_reached == "max_bytes"
    assert 5_000 <= crawler.stats["bytes"] < 6_000
    assert crawler.frontier.count(State.QUEUED) > 10


@pytest.mark.parametrize(
    ("max_pages", "reached", "left"), [(5, "max_pages", 16), (21, "", 0)]
)
def test_page_limit_is_never_exceeded(site, crawl, max_pages, reached, left):
    paths = [f"/{i}" for i in range(20)]
    site.page("/", *paths)
    site.pages(*paths)

    crawler = crawl(max_pages=max_pages)

    assert len(site.paths) == max_pages
    assert crawler.limit_reached == reached
    assert crawler.frontier.count(State.QUEUED) == left


# Addresses that are not public.


def test_public_page_cannot_lead_to_a_private_address(site, crawl, record_of):
    site.page("/")

    crawler = crawl(deny_private=True)
    by_name = crawl(deny_private=None)

    assert record_of(crawler, "/").outcome.reason == "private_address"
    assert "--allow-private" in record_of(crawler, "/").outcome.error
    assert record_of(by_name, "/").outcome.reason == "ok"
    assert site.paths == ["/"]
    assert record_of(crawler, "/").tries == 0


def test_redirect_to_a_private_address_is_refused(site, crawl):
    mapped = site.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")
    site.redirect("/", to=f"{mapped}secret")
    site.page("/secret")

    crawler = crawl(deny_private=True, scope="any", fetcher=LetsFirstThrough)

    reasons = [record.outcome.reason for record in crawler.frontier.records()]
    assert reasons == ["redirect", "private_address"]
    assert "/secret" not in site.paths


class LetsFirstThrough:
    """Fetches the first URL as if its address were public."""

    def __init__(self, config):
        self._strict = HttpFetcher(config)
        self._open = HttpFetcher(dataclasses.replace(config, deny_private=False))
        self._seed = config.seeds[0]
        self.policy = self._strict.policy

    def fetch(self, request):
        fetcher = self._open if request.url == self._seed else self._strict
        return fetcher.fetch(request)

    def close(self):
        self._strict.close()
        self._open.close()
