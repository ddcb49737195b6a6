"""Documents of every cost, read within limits."""

import gzip
import os

import pytest

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.outline import outline_of
from crawler_app.web.documents.reader import Reader
from crawler_app.web.documents.references import Use
from crawler_app.web.documents.sitemap import parse_sitemap
from gencoro import gen
from gencoro.ioloop import IOLoop

LINK = '<a href="/found">x</a>'

# What a tree of each would take: all memory, or minutes.  Functions, because every process of
# the tests imports this.
HOSTILE = {
    "reopened": lambda: "".join(f"<p><font a{number}>" for number in range(4000)),
    "reopened with attributes": lambda: (
        f"<b {'a=1 b=2 c=3 ' * 300}></p>" + "<p>x" * 200_000
    ),
    "deep": lambda: "<div>" * 1_000_000,
    "deep paragraphs": lambda: "<div>" * 150_000 + "<p></p>" * 100_000,
    "attributes": lambda: f"<p {' '.join(f'a{number}' for number in range(100_000))}>",
    "merged attributes": lambda: "".join(
        f"<html {' '.join(f'a{page}-{number}' for number in range(5_000))}>"
        for page in range(20)
    ),
    "options": lambda: "<select>" + "<option>" * 300_000,
    "never closed": lambda: "<!--" * 500_000,
    "quotes": lambda: "<a href='" * 300_000,
}


@pytest.fixture
def read():
    """Read a document in an event loop; the first argument is the name of a method."""
    reader = Reader()
    loop = IOLoop(make_current=False)

    @gen.coroutine
    def read(name, *args, **options):
        return (yield from getattr(reader, name)(*args, **options))

    yield lambda *args, **options: loop.run_sync(lambda: read(*args, **options))
    reader.close()
    loop.close()


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_page_takes_bounded_time(read, hostile):
    body = (LINK + hostile()).encode()
    before = os.times()

    page = read(
        "page", body, "text/html", with_text=True, with_anchors=True, agent="bot"
    )

    assert page.links[0] == page.anchors[0].href == "/found"
    after = os.times()
    assert after.user - before.user < 0.5
    # Two tries, of a second each at the most.
    assert after.children_user - before.children_user < 2.3


def test_page_is_partial_only_if_it_is(read):
    options = {"with_text": False, "agent": "bot"}

    pages = [
        read("page", body, "text/html", **options)
        for body in (
            b"<a href=x>",
            b"<p>x" * 10_000,
            HOSTILE["reopened"]().encode(),
            b"".join(b"<a href=%d>" % number for number in range(100_001)),
        )
    ]

    assert [page.is_partial for page in pages] == [False, False, False, True]
    assert len(pages[-1].links) == 100_000


@pytest.mark.parametrize("times", [1, 20_000])
def test_page_with_everything_is_the_same_wherever_it_is_read(read, times):
    body = b"".join(
        (
            b"<title>t</title><base href=/b/><meta name=robots content=noindex>",
            b"<meta http-equiv=refresh content='5;url=r'><link rel=canonical href=c>",
            b"<link rel=stylesheet href=a.css><h1>H</h1><a href=n rel=nofollow>N</a>",
            b"<p>Text.</p><iframe src=f></iframe><a href=l>\xe2\x82\xac</a>",
            b"<div><p>x</div>" * times,
        )
    )
    options = {
        "with_text": True,
        "with_anchors": True,
        "with_assets": True,
        "agent": "bot",
    }

    page = read("page", body, "text/html", **options)

    assert page == parse_html(body, "text/html", **options)
    assert all([page.refresh, page.anchors, page.assets, page.nofollow_links])
    assert {type(each.use) for each in page.assets} == {Use}


@pytest.mark.parametrize(
    ("content_type", "piece"),
    [
        ("text/html", b"<base href=/><p id=a>\n<img src=b><a href=c#d>e</a>"),
        ("text/css", b"a { background: url(b.png) }\n"),
    ],
)
@pytest.mark.parametrize("times", [1, 3000])
def test_outline_is_the_same_in_the_sandbox(read, times, content_type, piece):
    outline = read("outline", piece * times, content_type)

    assert outline == outline_of(piece * times, content_type)
    assert outline.mentions


def test_beginning_of_a_very_large_page_is_read(read):
    row = b"<p class=row><span>%s</span></p>" % (b"Some words. " * 18)
    body = b"<a href=x>y</a>" + row * 200_000

    page = read("page", body, "text/html", with_text=True, agent="bot")

    assert (page.links, page.is_partial) == (["x"], True)
    assert len(page.text) > 100_000


def test_page_too_large_for_any_reader_is_empty(read):
    # Four bytes a character once it is decoded: more memory than a page may take.
    body = "\N{GRINNING FACE}".encode() + bytes(60_000_000)

    content_type = "text/html; charset=utf-8"
    page = read("page", body, content_type, with_text=True, agent="bot")

    assert (page.links, page.is_partial) == ([], True)


def test_sitemap_is_read_up_to_the_limits(read):
    entries = "".join(
        f"<url><loc>http://a.test/{number}</loc></url>" for number in range(60_000)
    )
    small = b"<urlset><url><loc>http://a.test/</loc></url></urlset>"
    large = gzip.compress(f"<urlset>{entries}</urlset>".encode())

    assert read("sitemap", small, "") == parse_sitemap(small)
    found = read("sitemap", large, "")

    assert found.is_cut
    assert found.pages[0] == "http://a.test/0" and len(found.pages) == 50_000
