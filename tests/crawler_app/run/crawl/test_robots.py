"""Crawls with robots.txt: what is fetched, and what is not."""

import pytest

from crawler_app.base.models import State
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.robots.cache import RobotsCache

ROBOTS = {"robots": True}
TEXT = {"Content-Type": "text/plain"}
XML = {"Content-Type": "application/xml"}


def robots_txt(site, *lines, **answer):
    site.answer("/robots.txt", "\n".join(lines).encode(), headers=TEXT, **answer)


def reason_of(record):
    return record.outcome.reason


def test_disallowed_url_is_recorded_and_not_fetched(site, crawl, record_of):
    robots_txt(site, "User-agent: *", "Disallow: /private/")
    others = [f"/{n}" for n in range(30)]
    site.page("/", "/private/a", *others)
    for path in others:
        site.page(path)

    crawler = crawl(concurrency=10, **ROBOTS)

    assert sorted(site.paths) == sorted(["/robots.txt", "/", *others])
    assert record_of(crawler, "/private/a").state is State.EXCLUDED
    assert reason_of(record_of(crawler, "/private/a")) == "robots"
    assert crawler.stats["skipped/robots"] == 1


def test_temporarily_broken_robots_txt_is_waited_for(site, crawl):
    robots_txt(site, status=503, times=2)
    robots_txt(site, "User-agent: *", "Disallow: /a")
    site.page("/", "/a")

    crawler = crawl(**ROBOTS)

    assert site.paths == ["/robots.txt"] * 3 + ["/"]
    assert crawler.frontier.count(State.DONE) == 1


def test_robots_txt_that_stays_broken_disallows_everything(site, crawl, record_of):
    robots_txt(site, status=500)
    site.page("/")

    crawler = crawl(retry_pause_s=0.001, **ROBOTS)

    assert set(site.paths) == {"/robots.txt"}
    assert len(site.paths) == 8
    assert reason_of(record_of(crawler, "/")) == "robots_unreachable"
    assert record_of(crawler, "/").state is State.FAILED


def test_host_that_gives_no_answer_fails_as_it_would_without_robots(crawl, site):
    site.stop()

    crawler = crawl(**ROBOTS)

    (record,) = crawler.frontier.records()
    assert reason_of(record) == "refused"
    assert record.outcome.error.startswith("robots.txt: ")
    assert record.tries == 2


def test_without_robots_nothing_is_requested_or_obeyed(site, crawl):
    robots_txt(site, "User-agent: *", "Disallow: /")
    site.answer(
        "/",
        b'<meta name=robots content="noindex,nofollow"><a href=/a rel=nofollow>x</a>',
        headers={"X-Robots-Tag": "none"},
    )
    site.page("/a")

    crawl(robots=False)

    assert site.paths == ["/", "/a"]


def test_uncacheable_rules_are_obeyed(site, crawl, monkeypatch):
    monkeypatch.setattr(RobotsCache, "known", lambda self, url: None)
    robots_txt(site, "User-agent: *", "Disallow: /a")
    site.page("/", "/a", "/b")
    site.page("/b")

    crawler = crawl(**ROBOTS)

    assert [path for path in site.paths if path != "/robots.txt"] == ["/", "/b"]
    assert crawler.stats["skipped/robots"] == 1


# What a page asks for.


WISH = b"<meta name=%s content=nofollow><a href=/a>x</a>"


@pytest.mark.parametrize(
    ("answer", "is_ours"),
    [
        ({"body": b"<a href=/a rel=nofollow>x</a><a href=/b>x</a>"}, True),
        ({"body": WISH % b"robots"}, True),
        ({"body": WISH % b"mybot"}, True),
        ({"body": b"<a href=/a>x</a>", "headers": {"X-Robots-Tag": "nofollow"}}, True),
        (
            {
                "body": WISH % b"otherbot",
                "headers": {"X-Robots-Tag": "otherbot: nofollow"},
            },
            False,
        ),
    ],
)
def test_page_may_ask_us_not_to_follow_its_links(
    site, crawl, record_of, answer, is_ours
):
    site.answer("/", **answer)
    site.page("/a")

    crawler = crawl(user_agent="MyBot/2.0", **ROBOTS)

    assert ("/a" in site.paths) is not is_ours
    assert reason_of(record_of(crawler, "/a")) == ("nofollow" if is_ours else "ok")


def test_canonical_url_of_the_same_site_is_followed(site, crawl, record_of):
    site.answer("/", b'<head><link rel=canonical href="home?x#y"></head><a href=/b>')
    site.answer("/b", b"<head><link rel=canonical href='http://other.test/b'></head>")

    crawler = crawl(**ROBOTS)

    assert record_of(crawler, "/").outcome.canonical == f"{site.url}home?x"
    assert reason_of(record_of(crawler, "/home?x")) == "http_404"
    assert record_of(crawler, "/b").outcome.canonical == "http://other.test/b"
    assert crawler.frontier.total() == 3  # none of the other site


@pytest.mark.parametrize(
    ("body", "content_type", "canonical"),
    [
        (b"<p>", "text/html", "of-header"),
        (b"%PDF-1.7", "application/pdf", "of-header"),
        (b"<head><link rel=canonical href=of-page>", "text/html", "of-page"),
    ],
)
def test_canonical_url_may_be_in_a_header(
    site, crawl, record_of, body, content_type, canonical
):
    link = '</x>; rel=next, </of-header>; rel="canonical"'
    site.answer("/", body, headers={"Content-Type": content_type, "Link": link})

    crawler = crawl(**ROBOTS)

    assert record_of(crawler, "/").outcome.canonical == f"{site.url}{canonical}"


# Sitemaps.


def test_sitemap_that_is_redirected_stays_one(site, crawl):
    robots_txt(site, f"Sitemap: {site.url}sitemap.xml")
    site.page("/")
    site.redirect("/sitemap.xml", to=f"{site.url}list.txt")
    site.answer("/list.txt", f"{site.url}a\n".encode(), headers=TEXT)
    site.page("/a")

    crawl(**ROBOTS)

    assert "/a" in site.paths


def urlset(site, *paths):
    urls = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
    return f"<urlset>{urls}</urlset>".encode()


def test_sitemap_brings_pages_that_nothing_links_to(site, crawl, record_of):
    robots_txt(site, f"Sitemap: {site.url}sitemap.xml")
    site.page("/")
    site.answer("/sitemap.xml", urlset(site, "a", "b?c&amp;d"), headers=XML)
    site.pages("/a", "/b?c&d")

    crawler = crawl(**ROBOTS)

    assert sorted(site.paths) == ["/", "/a", "/b?c&d", "/robots.txt", "/sitemap.xml"]
    assert record_of(crawler, "/a").via == f"{site.url}sitemap.xml"
    assert record_of(crawler, "/a").depth == 1


@pytest.mark.parametrize("is_named", [True, False])
def test_feed_is_read_if_it_is_named_a_sitemap(site, crawl, is_named):
    robots_txt(site, f"Sitemap: {site.url}feed" if is_named else "")
    site.page("/", "/feed")
    feed = (
        "<?xml version='1.0' encoding='Shift_JIS'?><feed><entry>"
        f"<link href='{site.url}日本&b'/></entry></feed>"
    )
    headers = {"Content-Type": "application/atom+xml"}
    site.answer("/feed", feed.encode("shift_jis"), headers=headers)
    site.page("/%E6%97%A5%E6%9C%AC&b")

    crawl(**ROBOTS)

    assert ("/%E6%97%A5%E6%9C%AC&b" in site.paths) is is_named


@pytest.mark.parametrize("is_page", [True, False])
def test_document_in_place_of_a_sitemap_is_recognized(site, crawl, is_page):
    robots_txt(site, f"Sitemap: {site.url}sitemap.xml")
    site.page("/")
    if is_page:
        site.page("/sitemap.xml", "/a")
    else:  # and is said to be HTML
        site.answer("/sitemap.xml", b"<?xml version='1.0'?>" + urlset(site, "a"))
    site.page("/a")

    crawl(**ROBOTS)

    assert "/a" in site.paths


def test_text_sitemap_of_an_index_is_one_after_a_stop_too(site, crawl):
    robots_txt(site, f"Sitemap: {site.url}index.xml")
    site.page("/")
    index = (
        f"<sitemapindex><sitemap><loc>{site.url}s.txt</loc></sitemap></sitemapindex>"
    )
    site.answer("/index.xml", index.encode(), headers=XML)
    site.answer("/s.txt", f"{site.url}a".encode(), headers=TEXT)
    site.page("/a")
    frontier = SqliteFrontier()

    crawl(frontier=frontier, max_pages=2, **ROBOTS)
    assert "/s.txt" not in site.paths
    crawl(frontier=frontier, **ROBOTS)

    assert "/a" in site.paths


def test_entry_of_a_sitemap_is_checked_like_any_link(site, crawl, record_of):
    robots_txt(
        site, f"Sitemap: {site.url}sitemap.xml", "User-agent: *", "Disallow: /no"
    )
    site.page("/")
    site.answer(
        "/sitemap.xml",
        urlset(site, "no", "old")
        + b"<urlset><url><loc>http://elsewhere.test/</loc></url></urlset>",
        headers=XML,
    )

    crawler = crawl(exclude=("/old",), **ROBOTS)

    assert "/no" not in site.paths
    assert reason_of(record_of(crawler, "/no")) == "robots"
    assert reason_of(record_of(crawler, "/old")) == "excluded_by_pattern"


def test_sitemaps_need_not_be_read(site, crawl):
    robots_txt(site, f"Sitemap: {site.url}sitemap.xml")
    site.page("/")

    crawl(sitemaps=False, **ROBOTS)

    assert site.paths == ["/robots.txt", "/"]


def test_unlisted_text_file_is_not_a_sitemap(site, crawl):
    site.page("/", "/list.txt")
    site.answer("/list.txt", f"{site.url}a\n".encode(), headers=TEXT)

    crawl(**ROBOTS)

    assert site.paths == ["/robots.txt", "/", "/list.txt"]


def test_next_run_asks_for_robots_txt_again(site, crawl):
    robots_txt(site, "User-agent: *", "Disallow: /a")
    site.page("/", "/a", "/b")
    site.page("/b")
    frontier = SqliteFrontier()

    crawl(frontier=frontier, max_pages=1, **ROBOTS)
    crawl(frontier=frontier, **ROBOTS)

    assert site.paths == ["/robots.txt", "/", "/robots.txt", "/b"]
