"""Passwords and cookies: kept private, and left out of what is shared."""

import gzip
import io
import json
import stat
import zipfile
from collections import Counter

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.errors import ArchiveError
from crawler_app.store.archive.secrets import SECRET_HEADERS, SharedFile

NAMES = ("cookie", "set-cookie", "authorization", "proxy-authorization", "x-key")


@pytest.fixture
def shared(site, gencrawl, tmp_path, caplog):
    """Crawl a site that needs a cookie and a password; return how to export its archive."""
    cookie = {"Set-Cookie": "session=hidden-1; Path=/"}
    site.answer("/", b'<a href="/b">b</a>' + b"words " * 100, headers=cookie)
    site.answer("/b", b"<p>" + b"words " * 2000)
    command = ("crawl", site.url, "--into", tmp_path / "crawl", "-q")
    assert (
        gencrawl(*command, "--auth", "me:hidden-2", "--header", "X-Key: 3").status == 0
    )

    def shared(*options):
        output = tmp_path / "crawl.wacz"
        ended = gencrawl("export", tmp_path / "crawl", "--output", output, *options)
        assert ended.status == 0, ended.err
        return zipfile.ZipFile(output), caplog.text

    return shared


def test_they_are_left_out_of_a_wacz_whose_digests_and_index_are_right(shared):
    package, said = shared()

    (name,) = [name for name in package.namelist() if name.startswith("archive/")]
    data = package.read(name)
    heads = []
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        record.content_stream().read()
        heads += record.http_headers.headers if record.http_headers else []
    names = {name.lower() for name, _ in heads}
    assert names.isdisjoint(NAMES) and {"host", "content-type"} <= names
    assert "Set-Cookie" in said and "Authorization" in said and "--with-secrets" in said
    lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    for line in lines:
        place = json.loads(line.split(" ", 2)[2])
        start, length = int(place["offset"]), int(place["length"])
        record = gzip.decompress(data[start : start + length])
        assert b"WARC-Target-URI: %b\r\n" % place["url"].encode() in record
    assert len(lines) == 3  # with robots.txt


def test_they_are_kept_if_that_is_wanted(shared, tmp_path):
    package, said = shared("--with-secrets")

    (archive,) = (tmp_path / "crawl").glob("*.warc.gz")
    assert package.read(f"archive/{archive.name}") == archive.read_bytes()
    assert "secret" not in said
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_headers_in_continued_lines_are_left_out_and_bodies_stay():
    head = b"HTTP/1.1 200 OK\r\nSET-COOKIE : a=b;\r\n\tPath=/\r\nX: Cookie: c\r\n\r\n"
    body = b"Cookie: in the body\r\n"
    fields = b"WARC/1.1\r\nContent-Type: application/http; msgtype=response\r\n"
    record = b"%bContent-Length: %d\r\n\r\n%b%b\r\n\r\n"
    stored = gzip.compress(record % (fields, len(head + body), head, body))
    other = gzip.compress(b"WARC/1.1\r\n\r\nCookie: of a warcinfo\r\n\r\n")
    removed = Counter()

    pieces = SharedFile(SECRET_HEADERS, removed).pieces(
        [(stored + other)[:70], (stored + other)[70:]]
    )
    shared, same = map(gzip.decompress, pieces)

    kept = b"HTTP/1.1 200 OK\r\nX: Cookie: c\r\n\r\n"
    assert shared == record % (fields, len(kept + body), kept, body)
    assert same == gzip.decompress(other)
    assert removed == {"Set-Cookie": 1}


@pytest.mark.parametrize(
    "data",
    [gzip.compress(b"WARC/1.1")[:-3], b"no gzip at all"],
    ids=["cut_short", "no_gzip"],
)
def test_damaged_archive_is_not_shared(data):
    with pytest.raises(ArchiveError):
        list(SharedFile(SECRET_HEADERS, Counter()).pieces([data]))
