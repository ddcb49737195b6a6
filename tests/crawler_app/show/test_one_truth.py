"""A check and the report of a crawl know the same: what a crawl does not ask for is counted.

One site has a dead URL for each way in which documents refer to others, made from the tables of
the reader, so that a way that is added there is tried here.
"""

import json

import pytest

from crawler_app import CrawlConfig, Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.check.check_config import CheckConfig
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import Output
from crawler_app.show.report import gather
from crawler_app.show.report.verdict import headline, unchecked
from crawler_app.web.documents import named_urls, references
from gencoro.ioloop import IOLoop
from tests.helpers.site import Site

RELS = sorted(references._LINKED_RELS | references._LOADED_RELS)


def _in_body():
    """Return the elements that refer to a dead URL each, by the end of its path."""
    found = {}
    for element, attributes in references._USE_BY_ATTRIBUTE.items():
        for attribute in attributes:
            if element not in ("base", "frame"):
                found[f"{element}-{attribute}"] = (
                    f"<{element} {attribute}=PATH></{element}>"
                )
    for element in references._USE_IN_SVG:
        found[f"svg-{element}"] = f"<svg><{element} href=PATH /></svg>"
    for rel in RELS:
        found[f"rel-{rel}"] = f"<link rel={rel} href=PATH>"
    for element, attribute in references._WITH_SRCSET.items():
        rel = "rel=preload as=image" if element == "link" else ""
        found[f"{element}-{attribute}"] = f'<{element} {rel} {attribute}="PATH 2x">'
    for name in sorted(named_urls._PROPERTIES):
        found[f"meta-{name}"] = f"<meta property={name} content=PATH>"
    for key in sorted(named_urls._KEYS):
        data = json.dumps({key: "PATH"})
        found[f"data-{key}"] = f'<script type="application/ld+json">{data}</script>'
    return found | {
        "script": "<script src=PATH></script>",
        "input": "<input type=image src=PATH>",
        "background": "<table background=PATH></table>",
        "style": "<style>p { background: url(PATH) }</style>",
        "import": "<style>@import 'PATH';</style>",
        "inline-style": '<p style="background: url(PATH)">',
        "import-map": '<script type=importmap>{"imports": {"x": "PATH", "y/": "/y/"}}</script>',
        "form": "<form action=PATH></form>",
        "formaction": "<form action=/good><button formaction=PATH>x</button></form>",
        "cite": "<q cite=PATH>x</q>",
        "microdata-link": "<link itemprop=url href=PATH>",
        "microdata-meta": "<meta itemprop='name image' content=PATH>",
        "longdesc": "<img src=/good.png longdesc=PATH>",
        "noscript": "<noscript><img src=PATH></noscript>",
        "srcdoc": "<iframe srcdoc='<a href=PATH>x</a>'></iframe>",
        "srcdoc-quote": "<iframe srcdoc='<img src=PATH>'></iframe>",
        "shadow": "<div><template shadowrootmode=open><a href=PATH>x</a></template></div>",
    }


IN_BODY = _in_body()
# On pages and in files of their own.
ELSEWHERE = ["refresh", "refresh-header", *(f"header-{rel}" for rel in RELS)]
ELSEWHERE += ["css-url", "manifest-icon", "feed-item", "linked-feed-item", "entry"]
DEAD = [*IN_BODY, *ELSEWHERE]
# Places that are not on their pages: own, of another page, and of a redirect's Location.
PLACES = ("#no-a", "/good#no-b", "/moved", "/moved-twice", "/moved#install")


def dead(name):
    return f"/dead/{name}".replace(":", "-")


def feed_of(url):
    return f"<rss><channel><item><link>{url}</link></item></channel></rss>".encode()


def serve(site):
    """Let a site have all of it."""

    def answer(path, body, content_type="text/html; charset=utf-8", **headers):
        site.answer(path, body, headers={"Content-Type": content_type, **headers})

    for path in ("/good", "/good.png"):
        answer(path, b"<p id=install>" if path == "/good" else b"PNG")
    # A redirect whose Location has a place, and one to it, whose place is kept.
    site.redirect("/moved", "/good#no-c")
    site.redirect("/moved-twice", "/moved")
    body = "".join(
        element.replace("PATH", dead(name)) + "\n" for name, element in IN_BODY.items()
    )
    body += "".join(f'<a href="{href}">x</a>\n' for href in PLACES)
    body += "<a href=/r>x</a><a href=/h>x</a><a href=/linked.xml>x</a>"
    body += "<link rel=stylesheet href=/a.css><link rel=manifest href=/m.json>"
    body += '<link rel=alternate type="application/rss+xml" href=/feed.xml>'
    answer("/", f"<!doctype html><title>x</title>{body}".encode())
    refresh = f'<meta http-equiv=refresh content="60; url={dead("refresh")}">'
    answer("/r", refresh.encode())
    link = ", ".join(f"<{dead(f'header-{rel}')}>; rel={rel}" for rel in RELS)
    answer("/h", b"x", Link=link, Refresh=f"60; url={dead('refresh-header')}")
    answer("/a.css", f"p {{ background: url({dead('css-url')}) }}".encode(), "text/css")
    icons = json.dumps({"icons": [{"src": dead("manifest-icon")}]})
    answer("/m.json", icons.encode(), "application/manifest+json")
    base = site.url[:-1]
    answer("/feed.xml", feed_of(base + dead("feed-item")), "application/rss+xml")
    answer("/linked.xml", feed_of(base + dead("linked-feed-item")), "text/xml")
    rules = f"User-agent: *\nAllow: /\nSitemap: {base}/list.txt\n".encode()
    answer("/robots.txt", rules, "text/plain")
    answer("/list.txt", f"{base}{dead('entry')}\n".encode(), "text/plain")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return the findings of a check, its report, that of a crawl, and what this asked for."""
    site, loop = Site(), IOLoop(make_current=False)
    serve(site)
    values = {"external": True, "assets": "own", "index": False}
    checked, crawled = (str(tmp_path_factory.mktemp("x") / x) for x in "ab")
    output = Output(lambda text: None)
    check = Check([site.url], values | {"into": checked}, CheckConfig(), output)
    try:
        loop.run_sync(check.run, timeout=60)
        site.requests.clear()
        config = CrawlConfig(seeds=(site.url,), into=crawled, **values)
        loop.run_sync(Crawler(config).run, timeout=60)
    finally:
        loop.close()
        site.stop()
    reports = (gather(CrawlDirectory.open(each)) for each in (checked, crawled))
    return check.findings, *reports, set(site.paths)


@pytest.mark.parametrize("name", DEAD)
def test_both_tell_of_the_reference(told, name):
    findings, of_check, of_crawl, asked = told

    assert [each.href for each in findings if each.target.endswith(dead(name))]
    for report, is_asked in ((of_check, True), (of_crawl, dead(name) in asked)):
        listed = any(each.url.endswith(dead(name)) for each in report.broken)
        assert listed == is_asked


def test_what_the_crawl_has_not_asked_for_is_counted(told):
    _, of_check, of_crawl, asked = told
    unasked = {name for name in DEAD if dead(name) not in asked}

    assert of_check.unasked == {}
    # In place of an item of a feed that it has not read, the feed is counted.
    assert sum(of_crawl.unasked.values()) == len(unasked)
    assert of_crawl.unasked["sitemap entry"] == 1
    assert "1 in import map" in unchecked(of_crawl)
    assert "gencrawl check" not in unchecked(of_check)


def test_both_tell_of_the_places(told):
    findings, *reports, _ = told
    missing = {"#no-a", "/good#no-b", "/moved", "/moved-twice", "/moved#install"}

    assert {each.href for each in findings if each.kind == "fragments"} == missing
    for report in reports:
        assert {each.url for each in report.fragments} == missing


def test_headline_of_a_crawl_that_left_something_is_not_a_promise(told):
    report = told[2]
    report.broken.clear()

    assert headline(report) == "No broken links found"
