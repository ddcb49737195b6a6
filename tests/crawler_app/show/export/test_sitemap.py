"""The sitemap that is written of a crawl."""

import gzip
import sqlite3
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from crawler_app.show.export import sitemap

LONG_AGO = "Mon, 06 Jan 2020 10:00:00 GMT"
SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def read(path):
    """Return the kind of a sitemap, and the times of its entries by their URLs."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    root = ElementTree.fromstring(text)
    time_by_url = {
        each.findtext(f"{SPACE}loc"): each.findtext(f"{SPACE}lastmod") for each in root
    }
    return root.tag.removeprefix(SPACE), time_by_url


@pytest.fixture
def crawl(site, cli, directory):
    """A site that was crawled twice, a year apart, and has changed in one place."""

    def put(path, text, times=None, **headers):
        headers = {"Content-Type": "text/html", "ETag": f'"{hash(text)}"', **headers}
        site.answer(path, text.encode(), headers=headers, times=times)

    paths = ("/stays", "/changes?a&b", "/dated", "/hidden", "/unlisted", "/copy", "/x")
    put("/", "".join(f'<a href="{path}">x</a>' for path in paths))
    put("/stays", "As it was")
    put("/changes?a&b", "Before", times=1)
    put("/changes?a&b", "After")
    put("/dated", "Dated", **{"Last-Modified": LONG_AGO})
    put("/hidden", "<meta name=robots content=noindex>Hidden")
    put("/unlisted", "Unlisted", **{"X-Robots-Tag": "none"})
    put("/copy", "<link rel=canonical href=/stays>Copy")
    site.redirect("/x", to="/stays")
    assert cli("crawl")[0] == 0
    with sqlite3.connect(directory / "archive.sqlite3") as table:
        table.execute("UPDATE capture SET at = at - 31536000")
    table.close()
    assert cli("crawl")[0] == 0
    return directory


def test_pages_to_be_listed_and_their_changes(crawl, site, gencrawl, tmp_path):
    output = tmp_path / "sitemap.xml"

    ended = gencrawl("export", crawl, "--format", "sitemap", "--output", output)

    assert ended.status == 0, ended.err
    kind, time_by_url = read(output)
    assert kind == "urlset"
    names = ("", "stays", "changes?a&b", "dated")
    assert list(time_by_url) == [f"{site.url}{name}" for name in names]
    home, stays, changes, dated = time_by_url.values()
    assert (home, stays, dated) == (None, None, "2020-01-06T10:00:00Z")
    ago = datetime.now(UTC) - datetime.fromisoformat(changes)
    assert ago < timedelta(days=180)  # in the second crawl


def test_many_pages_are_in_parts_with_an_index(
    crawl, site, gencrawl, tmp_path, monkeypatch
):
    monkeypatch.setattr(sitemap, "MAX_URLS", 3)
    output = tmp_path / "sitemap.xml.gz"

    ended = gencrawl("export", crawl, "--format", "sitemap", "--output", output)

    assert ended.status == 0, ended.err
    names = ["sitemap-1.xml.gz", "sitemap-2.xml.gz"]
    assert read(output) == (
        "sitemapindex",
        dict.fromkeys(f"{site.url}{name}" for name in names),
    )
    assert [len(read(tmp_path / name)[1]) for name in names] == [3, 1]
    assert {path.name for path in tmp_path.glob("*sitemap*")} == {output.name, *names}


def test_sitemap_without_a_place_or_a_page_is_refused(
    site, cli, directory, gencrawl, tmp_path
):
    site.answer("/", b"<meta name=robots content=noindex>")
    cli("crawl")
    command = ("export", directory, "--format", "sitemap")
    output = tmp_path / "sitemap.xml"
    output.write_text("before")

    assert "name one with --output" in gencrawl(*command).err
    assert "no page of" in gencrawl(*command, "--output", output).err
    assert output.read_text() == "before"
