"""Bodies that another archive has become revisits of it."""

import gzip
import io
import json
import zipfile

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.errors import ConfigError
from crawler_app.store.archive.known_payloads import KnownPayloads

EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
BODY = b"<p>" + b"the same " * 100


@pytest.fixture
def crawl(site, gencrawl, tmp_path):
    """Return a function that crawls the site into a directory; it returns the directory."""
    site.answer("/", BODY + b"<a href=/new>new</a>")
    site.answer("/new", b"<p>" + b"first " * 100, times=1)
    site.answer("/new", b"<p>" + b"then " * 100)

    def crawl(name, *options):
        command = ("crawl", site.url, "--into", tmp_path / name, "-q", *options)
        ended = gencrawl(*command)
        assert ended.status == 0, ended.err
        return tmp_path / name

    return crawl


@pytest.mark.parametrize("kind", ["directory", "wacz", "cdxj", "cdxj.gz"])
def test_known_bodies_are_revisits_and_others_are_written(
    site, crawl, gencrawl, tmp_path, kind
):
    old = crawl("old")
    if kind != "directory":
        suffix = kind.removesuffix(".gz")
        output = tmp_path / f"old.{suffix}"
        assert gencrawl("export", old, "--output", output).status == 0
        old = output
    if kind == "cdxj.gz":
        old.write_bytes(gzip.compress(old.read_bytes()))

    new = crawl("new", "--dedupe-against", old)

    assert (
        gencrawl("resume", new, "-q").status == 0
    )  # nothing is lost, or fetched again
    assert len(site.paths) == 6  # with robots.txt
    records = _records(new)
    home, other = records[site.url], records[f"{site.url}new"]
    assert other.rec_type == "response" and home.rec_type == "revisit"
    assert home.rec_headers["WARC-Refers-To-Target-URI"] == site.url
    assert home.rec_headers["WARC-Refers-To-Date"]
    about = _described(gencrawl, new, tmp_path)
    assert about["relation"] == {"requires": [{"filename": old.name}]}


@pytest.mark.parametrize("kind", ["folder", "markdown", "llms"])
def test_exports_say_which_archive_has_what_they_lack(
    site, crawl, gencrawl, tmp_path, caplog, kind
):
    new = crawl("new", "--dedupe-against", crawl("old"))

    ended = gencrawl("export", new, "--format", kind, "--output", tmp_path / "out")

    noun = "file" if kind == "folder" else "page"
    assert ended.status == 0 and f"the content of 1 {noun} is missing" in caplog.text
    assert f"{tmp_path / 'old'}, which the crawl refers to" in caplog.text


def test_table_that_is_rebuilt_knows_what_is_elsewhere(site, crawl, gencrawl):
    new = crawl("new", "--dedupe-against", crawl("old"))
    before = len(site.paths)
    (new / "archive.sqlite3").unlink()

    assert gencrawl("resume", new, "-q").status == 0

    assert len(site.paths) == before


def test_archive_that_needs_no_other_names_none(crawl, gencrawl, tmp_path):
    assert "relation" not in _described(gencrawl, crawl("old"), tmp_path)


@pytest.mark.parametrize(
    "content",
    [None, b"PK\x03\x04 damaged", b"\x1f\x8b damaged", b"PK encrypted", b"url,state\n"],
)
def test_unusable_archive_is_refused(tmp_path, content):
    source = tmp_path / "source"
    if content is None:
        source.mkdir()
    elif content.startswith(b"PK"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as package:
            package.writestr("indexes/index.cdx.gz", b"\x1f\x8b damaged")
        package = bytearray(file.getvalue())
        if b"encrypted" in content:
            package[package.index(b"PK\1\2") + 8] |= 1
        source.write_bytes(package)
    else:
        source.write_bytes(content)

    with pytest.raises(ConfigError, match="--dedupe-against"):
        KnownPayloads(source)


def test_lines_of_other_programs_and_broken_lines(tmp_path):
    digest = "a591a6d40bf420404a011733cfb7b190d62c65bf0bcda32b57b277d9ad9f146e"
    lines = [
        "test,a)/ 20260101000000 "
        + json.dumps({"url": "u", "digest": f"sha256:{digest}"}),
        "test,a)/b 20260101000000 {",
        'test,a)/c nodate {"url": "x", "digest": "sha1:x"}',
        "!meta 0 []",
        "test,a)/d 20260101000000 " + "[" * 100_000,
        *(
            f"test,a)/e {digits} {json.dumps({'url': url, 'digest': 'sha1:' + EMPTY})}"
            for digits, url in (
                ("20260101000000", "http://a.test/\r\nWARC-Type: x"),
                ("20260101000000", "http://a.test/\ud800"),
                ("20260101000000", "http://a.test/" + "x" * 10_000),
                ("00010101000000", "http://a.test/"),
            )
        ),
    ]
    (tmp_path / "index.cdxj").write_text("\n".join(lines))

    with KnownPayloads(tmp_path / "index.cdxj") as known:
        found = known.find(b"b\r\nHello World\r\n0\r\n\r\n", b"Hello World")
        assert (found.url, found.at, found.record_id) == ("u", 1767225600, b"")
        assert known.find(b"other", b"other") is None
        assert known.find(b"", b"") is None


def _records(directory):
    """Return the captures of an archive by URL; their digests are right."""
    found = {}
    for path in sorted(directory.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type in ("response", "revisit"):
                    found[record.rec_headers["WARC-Target-URI"]] = record
    return found


def _described(gencrawl, directory, tmp_path):
    output = tmp_path / "described.wacz"
    assert gencrawl("export", directory, "--output", output).status == 0
    with zipfile.ZipFile(output) as package:
        return json.loads(package.read("datapackage.json"))
