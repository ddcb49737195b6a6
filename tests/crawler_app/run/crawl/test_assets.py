"""Assets: fetched from the crawled hosts, and not counted as pages."""

import pytest

from crawler_app.base.models import Role, State
from crawler_app.run.results.summary import summarize

CSS = {"Content-Type": "text/css"}
JSON = {"Content-Type": "application/manifest+json"}
PNG = {"Content-Type": "image/png"}

PAGE = b"""<link rel=stylesheet href=/style/a.css><link rel=manifest href=/app.json>
<img src=a.png srcset='b.png 2x'><img src=http://elsewhere.test/c.png>
<iframe src=frame.html></iframe><a href=/deep/>x</a>"""


@pytest.fixture
def rich_site(site):
    """Return the site with a page that has many assets."""
    site.answer("/docs/", PAGE)
    site.answer("/style/a.css", b"@import 'b.css'; p { x: url(p.png) }", headers=CSS)
    site.answer("/style/b.css", b"p { x: url(../docs/a.png) url(q.png) }", headers=CSS)
    site.answer("/app.json", b'{"icons": [{"src": "icon.png"}, 7]}', headers=JSON)
    site.answer("/docs/frame.html", b"<img src=d.png>")
    for path in ("docs/a", "docs/b", "docs/d", "style/p", "style/q", "icon"):
        site.answer(f"/{path}.png", b"PNG", headers=PNG)
    site.page("/deep/")
    return site


NEEDED = [
    *("/style/a.css", "/app.json", "/docs/a.png", "/docs/b.png", "/style/b.css"),
    *("/style/p.png", "/style/q.png", "/icon.png"),
]


def test_assets_are_fetched_once(rich_site, crawl, record_of):
    crawler = crawl("/docs/")

    pages = ["/docs/", "/deep/", "/docs/frame.html", "/docs/d.png"]
    assert sorted(rich_site.paths) == sorted([*NEEDED, *pages])
    roles = {path: record_of(crawler, path).role for path in (*NEEDED, *pages)}
    assert [path for path in roles if roles[path] is Role.ASSET] == [
        *NEEDED,
        "/docs/d.png",
    ]


@pytest.mark.parametrize("options", [{"assets": "none"}, {"archive": False}])
def test_assets_are_not_fetched_if_not_wanted(rich_site, crawl, options):
    crawl("/docs/", **options)

    assert sorted(rich_site.paths) == ["/deep/", "/docs/"]


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"scope": "prefix"}, {"/deep/"}),
        ({"max_depth": 0}, {"/deep/"}),
        ({"include": ("/docs/$",)}, {"/deep/", "/docs/frame.html", "/docs/d.png"}),
        ({"exclude": ("png", "frame")}, {path for path in NEEDED if "png" in path}),
        ({"max_pages": 1}, {"/deep/", "/docs/frame.html", "/docs/d.png"}),
    ],
)
def test_limits_hold_for_pages_and_exclude_for_all(rich_site, crawl, options, missing):
    crawler = crawl("/docs/", **options)

    everything = {*NEEDED, "/docs/", "/deep/", "/docs/frame.html", "/docs/d.png"}
    if "exclude" in options:
        missing = missing | {"/docs/frame.html", "/docs/d.png"}
    assert set(rich_site.paths) == everything - missing
    assert crawler.limit_reached == ("max_pages" if "max_pages" in options else "")


def test_assets_come_first(rich_site, crawl):
    crawl("/docs/", concurrency=1)

    assert set(rich_site.paths[-3:]) == {"/deep/", "/docs/frame.html", "/docs/d.png"}


def test_robots_txt_is_obeyed_for_assets(rich_site, crawl, record_of):
    rich_site.answer("/robots.txt", b"User-agent: *\nDisallow: /style/")

    crawler = crawl("/docs/", robots=True)

    assert not [path for path in rich_site.paths if path.startswith("/style/")]
    assert record_of(crawler, "/style/a.css").state is State.EXCLUDED


def test_failure_is_recorded_and_counted(site, crawl, record_of):
    site.answer("/", b"<img src=no.png>")

    crawler = crawl("/")

    assert record_of(crawler, "/no.png").outcome.reason == "http_404"
    assert summarize(crawler.frontier).broken == 1


def test_page_that_is_embedded_is_a_page_with_links(site, crawl):
    site.answer("/", b"<object data=page.html></object>")
    site.page("/page.html", "next.html")
    site.page("/next.html")

    crawl("/")

    assert site.paths == ["/", "/page.html", "/next.html"]


def test_redirect_of_an_asset_leads_to_an_asset(site, crawl, record_of):
    site.answer("/docs/", b"<img src=a.png>")
    site.redirect("/docs/a.png", "/static//b.png")
    site.redirect("/static//b.png", "/static/b.png")
    site.answer("/static/b.png", b"PNG", headers=PNG)

    crawler = crawl("/docs/", scope="prefix", max_pages=1, include=("docs/$",))

    assert site.paths == ["/docs/", "/docs/a.png", "/static//b.png", "/static/b.png"]
    assert record_of(crawler, "/static/b.png").role is Role.ASSET


def test_assets_of_any_host_are_fetched_and_their_links_are_not_followed(
    site, other, crawl
):
    cdn = other.url
    site.answer(
        "/",
        f"<link rel=stylesheet href={cdn}a.css><iframe src={cdn}frame></iframe>"
        f"<a href={cdn}page>x</a><img src={cdn}moved.png>".encode(),
    )
    other.answer("/a.css", b"@import 'b.css'", headers=CSS)
    other.answer("/b.css", b"p { x: url(p.png) }", headers=CSS)
    other.answer("/frame", b"<title>F</title><a href=/page>x</a><img src=f.png>")
    other.redirect("/moved.png", to="/p.png")
    for path in ("/p.png", "/f.png"):
        other.answer(path, b"PNG", headers=PNG)

    crawler = crawl("/", assets="any")

    files = ["/a.css", "/b.css", "/f.png", "/frame", "/moved.png", "/p.png"]
    assert sorted(other.paths) == files
    summary = summarize(crawler.frontier)
    assert (summary.pages, summary.files, summary.external_assets) == (1, 0, 5)
    refused = {record.url for record in crawler.frontier.records(State.EXCLUDED)}
    assert refused == {f"{cdn}page"}
