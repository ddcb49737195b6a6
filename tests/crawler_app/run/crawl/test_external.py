"""External URLs: with --external each is checked once, and never crawled."""

import contextlib
import socket

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Role, State
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.results.summary import summarize
from crawler_app.web.fetcher import make_fetcher


def outcome_of(crawler, url):
    (record,) = (each for each in crawler.frontier.records() if each.url == url)
    return record.outcome


def test_external_url_is_checked_once_and_not_read(site, other, crawl):
    site.page("/", other.url + "a", other.url + "no", "/b")
    site.answer("/b", f"<img src={other.url}a><a href={other.url}a#x>x</a>".encode())
    other.page("/a", "/deeper", site.url + "hidden")

    crawler = crawl("/", external=True)

    assert sorted(zip(other.methods, other.paths, strict=True)) == [
        ("GET", "/no"),
        ("HEAD", "/a"),
        ("HEAD", "/no"),
    ]
    assert sorted(site.paths) == ["/", "/b"]
    assert outcome_of(crawler, other.url + "a").reason == "exists"
    assert outcome_of(crawler, other.url + "no").reason == "http_404"
    summary = summarize(crawler.frontier)
    assert (summary.pages, summary.files, summary.external) == (2, 0, 1)


def test_external_url_is_skipped_by_default(site, other, crawl):
    site.page("/", other.url + "a")

    crawler = crawl("/")

    assert other.paths == []
    assert outcome_of(crawler, other.url + "a").reason == "out_of_scope"


@pytest.mark.parametrize("status", [400, 403, 404, 405, 429, 500, 501, 503])
@pytest.mark.parametrize("client", ["pooled", "simple", "curl", "requests"])
def test_host_that_refuses_head_is_asked_with_get(site, other, crawl, status, client):
    other.head_status = status
    site.page("/", other.url + "a", other.url + "b")
    other.pages("/a", "/b")

    crawler = crawl(
        "/", fetcher=make_fetcher, external=True, concurrency=1, client=client
    )

    assert outcome_of(crawler, other.url + "a").state is State.DONE
    heads = other.methods.count("HEAD")
    assert (heads, other.methods.count("GET")) == (1 if status in (405, 501) else 2, 2)


@pytest.fixture
def lookups(monkeypatch):
    """The names that were looked up; none ending in .test exists."""
    names = []
    look_up = socket.getaddrinfo

    def getaddrinfo(host, *args, **kwargs):
        names.append(host)
        if host.endswith(".test"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def test_host_with_an_unknown_name_is_looked_up_no_more_often_than_one_url(
    site, crawl, lookups
):
    urls = [f"http://gone.test/{number}" for number in range(20)]
    site.page("/", *urls)

    crawler = crawl("/", external=True, tries=3, concurrency=1)

    assert {outcome_of(crawler, url).reason for url in urls} == {"dns"}
    assert 1 <= lookups.count("gone.test") <= 3


@pytest.mark.parametrize("status", [401, 403, 406, 418, 451])
def test_status_that_many_hosts_give_to_programs_is_not_broken(
    site, other, crawl, status
):
    site.page("/", other.url)
    other.answer("/", status=status)

    crawler = crawl("/", external=True)

    assert outcome_of(crawler, other.url).reason == "refused_to_us"
    assert summarize(crawler.frontier).not_checked == 1


def test_external_redirects_are_followed_back_into_the_scope(site, other, crawl):
    site.page("/", other.url + "a")
    other.redirect("/a", other.url + "b")
    other.redirect("/b", site.url + "home")
    site.page("/home", "next")

    crawler = crawl("/", external=True)

    assert other.methods == ["HEAD", "HEAD"]
    assert sorted(site.paths) == ["/", "/home", "/next"]
    assert outcome_of(crawler, other.url + "a").redirect_to == other.url + "b"


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"exclude": ("a$",)}, {"HEAD /b"}),
        ({"max_pages": 1}, {"HEAD /a", "HEAD /b"}),
        ({"robots": True}, {"GET /robots.txt", "HEAD /b"}),
    ],
)
def test_exclude_and_robots_txt_apply_to_external_urls(
    site, other, crawl, options, asked
):
    site.page("/", other.url + "a", other.url + "b")
    other.pages("/a", "/b")
    other.answer("/robots.txt", b"User-agent: *\nDisallow: /a")

    crawl("/", external=True, **options)

    pairs = zip(other.methods, other.paths, strict=True)
    assert {" ".join(pair) for pair in pairs} == asked


def test_too_deep_and_not_included_urls_are_checked(site, crawl):
    site.page("/docs/", "a", "/x")
    site.pages("/docs/a", "/x")

    crawl("/docs/", external=True, include=("/docs/",), max_depth=0)

    assert sorted(zip(site.methods, site.paths, strict=True)) == [
        ("GET", "/docs/"),
        ("HEAD", "/docs/a"),
        ("HEAD", "/x"),
    ]


def test_existing_external_url_is_not_checked_again_for_a_while(
    site, other, run_sync, tmp_path
):
    site.page("/", other.url + "a", other.url + "no", other.url + "r")
    other.page("/a")
    other.redirect("/r", other.url + "a")
    into = str(tmp_path / "crawl")

    def crawl(**options):
        config = CrawlConfig((site.url,), into=into, external=True, **options)
        return run_sync(Crawler(config).run)

    crawl()
    first, other.methods[:] = sorted(set(other.paths)), []
    result = crawl()
    again = [
        path for path in other.paths[-len(other.methods) :] if path != "/robots.txt"
    ]
    other.methods.clear()
    crawl(external_max_age_s=0.0)
    at_last = sorted(set(other.paths[-len(other.methods) :]) - {"/robots.txt"})

    assert first == ["/a", "/no", "/r", "/robots.txt"]
    assert again == ["/no", "/no"]
    assert at_last == ["/a", "/no", "/r"]
    assert (result.summary.external, result.summary.broken) == (1, 1)
    with contextlib.closing(CrawlDirectory.open(into).frontier()) as frontier:
        external = [r.url for r in frontier.records() if r.role is Role.EXTERNAL]
    assert sorted(external) == [other.url + path for path in ("a", "no", "r")]
