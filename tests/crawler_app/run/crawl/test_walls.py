"""Bot walls: they are not broken links, and are asked again at the end."""

import logging

import pytest
from tornado.httputil import HTTPHeaders

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawler import Crawler
from crawler_app.run.results.summary import summarize
from crawler_app.web.fetcher import make_fetcher
from crawler_app.web.walls import is_wall

# As (status, headers, body).
WALLS = {
    "cloudflare": (403, {"cf-mitigated": "challenge"}, b""),
    "cloudflare 503": (503, {}, b"<title>Just a moment...</title>"),
    "aws challenge": (202, {"x-amzn-waf-action": "challenge"}, b""),
    "aws captcha": (405, {"x-amzn-waf-action": "captcha"}, b""),
    "akamai": (403, {"Server": "AkamaiGHost"}, b"Access Denied"),
    "datadome": (403, {"X-DataDome": "protected"}, b""),
    "perimeterx": (403, {}, b"<div id=px-captcha></div>"),
    "linkedin": (999, {}, b""),
    "imperva": (200, {}, b"<iframe src=/_Incapsula_Resource?x></iframe>"),
    "429": (429, {}, b""),
}
PAGES = {
    "own 403": (403, {"Server": "nginx"}, b"Forbidden"),
    "protected page": (200, {"X-DataDome": "protected"}, b"<p>Welcome"),
    "missing page": (404, {"Server": "AkamaiGHost", "x-iinfo": "1"}, b"g-recaptcha"),
    "origin down": (503, {"Server": "AkamaiGHost", "x-datadome": "1"}, b""),
    "accepted": (202, {}, b"queued"),
}


@pytest.fixture
def reasons(crawl):
    """Crawl, and return the reasons by URL."""

    def reasons(**options):
        options = {"retry_pause_s": 0.0} | options
        crawler = crawl("/", external=True, fetcher=make_fetcher, **options)
        assert summarize(crawler.frontier).broken == 0
        return {each.url: each.outcome.reason for each in crawler.frontier.records()}

    return reasons


@pytest.mark.parametrize("name", [name for name in WALLS if name != "429"])
def test_wall_is_recognized(name):
    status, headers, body = WALLS[name]
    assert is_wall(Fetched("http://a.test/", status, HTTPHeaders(headers), body, 0.1))


@pytest.mark.parametrize("name", PAGES)
def test_other_response_is_no_wall(name):
    status, headers, body = PAGES[name]
    assert not is_wall(
        Fetched("http://a.test/", status, HTTPHeaders(headers), body, 0.1)
    )


@pytest.mark.parametrize("place", ["own", "external"])
@pytest.mark.parametrize("name", WALLS)
def test_wall_is_not_broken(site, other, reasons, name, place):
    status, headers, body = WALLS[name]
    walled = site if place == "own" else other
    site.page("/", walled.url + "wall")
    walled.answer("/wall", body, status=status, headers=headers)

    found = reasons()

    expected = "rate_limited" if status == 429 else "blocked"
    if (name, place) == ("imperva", "external"):
        expected = "exists"  # HEAD has no body
    assert found[walled.url + "wall"] == expected


def test_wall_that_goes_away_is_asked_again_at_the_end(site, reasons):
    site.page("/", "/wall", *map(str, range(20)))
    site.pages(*(f"/{n}" for n in range(20)))
    site.answer("/wall", status=403, headers={"cf-mitigated": "challenge"}, times=1)
    site.answer("/wall", b"<a href=behind>x</a>")
    site.page("/behind")

    found = reasons()

    assert found[site.url + "wall"] == found[site.url + "behind"] == "ok"
    assert site.paths[-2:] == ["/wall", "/behind"]


@pytest.mark.parametrize("status", [403, 429, 503])
def test_host_that_begins_to_refuse_everything_is_named_once(
    site, reasons, caplog, status
):
    pages = [f"/{n}" for n in range(60)]
    site.page("/", *pages, times=1)
    for page in pages[:5]:
        site.page(page, times=1)
    for page in ("/", *pages):
        site.answer(page, status=status)

    with caplog.at_level(logging.WARNING):
        found = reasons(concurrency=1)

    refused = {"blocked", "rate_limited"} if status == 429 else {"blocked"}
    assert set(found.values()) == {"ok"} | refused
    assert caplog.text.count("refuses every request now") == 1
    assert len(site.paths) < 40


def test_refusal_of_a_host_that_answers_others_is_broken(site, crawl):
    site.page("/", "/private", "/a")
    site.answer("/private", status=403)
    site.page("/a")

    crawler = crawl("/")

    assert summarize(crawler.frontier).broken == 1
    assert sorted(site.paths) == ["/", "/", "/a", "/private"]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("path", ["/a", "/robots.txt"])
def test_external_host_holds_nothing_for_long(site, other, crawl, status, path):
    site.page("/", other.url + "a")
    other.page("/a")
    other.otherwise = []
    robots = status if path == "/robots.txt" else 404
    other.answer("/robots.txt", status=robots, headers={"Retry-After": "3600"})
    if path == "/a":
        other._answers.pop("/a")
        other.answer("/a", status=status, headers={"Retry-After": "3600"})

    crawler = crawl("/", external=True, robots=True, fetcher=make_fetcher)

    (found,) = (r for r in crawler.frontier.records() if r.url == other.url + "a")
    robots_reason = "robots_unreachable"
    assert found.outcome.reason == ("rate_limited" if path == "/a" else robots_reason)
    assert len(other.paths) <= 3


def test_host_that_is_waited_for_is_named(site, run_sync):
    site.answer("/", status=429, headers={"Retry-After": "3600"})
    seen = []

    def look(sample):
        if sample.waiting_for:
            seen.append(sample.waiting_for)
            crawler.stop()

    def watch(crawl):
        monitor = Monitor(crawl)
        monitor.listen(look)
        return monitor

    crawler = Crawler(CrawlConfig((site.url,), robots=False), watch=watch)
    run_sync(crawler.run)

    assert seen == [f"{site.url[7:-1]} (429)"]
