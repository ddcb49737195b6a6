"""PDF files: what is read of them, and hostile ones."""

import zlib

import pytest

from crawler_app.web.documents.html import Page
from crawler_app.web.documents.reader import Reader
from gencoro import gen
from tests.helpers.pdf import pdf_file

PAGES = pdf_file(
    "Hello",
    "There is more",
    title="A report",
    uris=[(2, "http://a.test/b#c"), (1, "../d")],
)


@pytest.fixture
def read(run_sync):
    reader = Reader()
    yield lambda body: run_sync(gen.coroutine(lambda: reader.pdf(body)))
    reader.close()


def test_title_text_and_links_with_their_pages(read):
    page = read(PAGES)

    assert (page.title, page.text) == ("A report", "Hello There is more")
    assert page.links == ["../d", "http://a.test/b"]
    found = [(each.value, each.line, each.text) for each in page.outline.mentions]
    assert found == [("../d", 1, "Hello"), ("http://a.test/b#c", 2, "There is more")]
    assert not page.is_partial


@pytest.mark.parametrize("size", [9, 40, len(PAGES) // 2, len(PAGES) - 200])
def test_truncated_file_is_read_as_far_as_possible(read, size):
    page = read(PAGES[:size])

    assert page.text in ("", "Hello", "Hello There is more")


def test_file_of_ten_thousand_pages_is_read_in_part(read):
    page = read(pdf_file(*map(str, range(10_000))))

    assert page.is_partial
    assert page.text.startswith("0 1 2 3 ") and " 9999" not in page.text


def test_file_that_unpacks_to_much_ends_at_the_limits(read):
    packed = zlib.compress(b"q " * 150_000_000, 1)
    drawn = b"<</Length %d/Filter/FlateDecode>>stream\n" % len(packed)
    plain = b"<</Length 31>>stream\n"
    bomb = pdf_file("xx").replace(
        plain, drawn + packed + b"\nendstream endobj\n9 0 obj\n"
    )

    page = read(bomb)

    assert isinstance(page, Page) and not page.links


def test_links_of_a_pdf_are_checked_and_crawled(site, gencrawl, directory):
    site.page("/", "a.pdf#page=2")
    site.page("/there")
    body = pdf_file("One", "Two", uris=[(1, "/there"), (2, "/gone")])
    site.answer("/a.pdf", body, headers={"Content-Type": "application/pdf"})

    ended = gencrawl("check", site.url, "--into", directory, "--retry-pause", "0")

    assert ended.status == 3
    assert f'{site.url}a.pdf page 2: "Two"' in ended.out
    assert "1 finding" in ended.out and "Not checked: form" in ended.out
    assert "/there" in site.paths
    assert f"{site.url}a.pdf" in gencrawl("search", directory, "two").out


def test_without_the_library_it_is_said_once(
    site, gencrawl, monkeypatch, directory, caplog
):
    monkeypatch.setattr("crawler_app.run.crawl.interpreting.can_read_pdf", bool)
    site.page("/", "a.pdf", "b.pdf")
    for path in ("/a.pdf", "/b.pdf"):
        body = pdf_file("x", uris=[(1, "/gone")])
        site.answer(path, body, headers={"Content-Type": "application/pdf"})

    gencrawl("crawl", site.url, "--into", directory, "--quiet")

    assert caplog.text.count("gencoro[pdf]") == 1
    assert "/gone" not in site.paths
