"""The indexes of other tools: CDXJ, and WACZ with everything in one file."""

import gzip
import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
import zipfile

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.errors import ArchiveError
from crawler_app.store.archive.cdxj import write_cdxj
from crawler_app.store.archive.wacz import write_wacz

STAGES = ("copying megabytes", "indexing captures", "listing pages of captures")

# Asks pywb, in a process of its own (it patches the standard library), for pages.
REPLAY = """
import io, json, sys
from pywb.apps.frontendapp import FrontEndApp
app = FrontEndApp()
answers = []
for path in sys.argv[1:]:
    environ = {
        "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": path,
        "QUERY_STRING": "", "REQUEST_URI": path, "SERVER_NAME": "localhost",
        "SERVER_PORT": "80", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr,
        "SERVER_PROTOCOL": "HTTP/1.1",
    }
    status = []
    body = b"".join(app(environ, lambda line, fields, exc=None: status.append(line)))
    answers.append([status[0][:3], body.decode("latin-1")])
print("answers", json.dumps(answers))
"""


@pytest.fixture
def archived(archive_of, exchange):
    pages = [exchange(f"http://www.a.test/{n}", b"page %d" % n) for n in range(700)]
    return archive_of(
        *pages,
        exchange("http://a.test/z", is_chunked=True, is_gzipped=True),
        exchange("http://b.test/z", is_chunked=True, is_gzipped=True),
        exchange("http://a.test/z", b"", status=304),
        exchange("http://a.test/image", os.urandom(9000), mime="image/png"),
        exchange("http://a.test/gone", b"gone", status=404, mime=""),
        max_file_bytes=200_000,
    )


def index_of(directory):
    file = io.StringIO()
    write_cdxj(directory, file)
    return file.getvalue()


def split(line):
    key, digits, fields = line.rstrip("\n").split(" ", 2)
    return key, digits, json.loads(fields)


def test_a_line_leads_to_its_record(archived, read_records):
    record_by_place = {
        (record.path.name, *record.place): record for record in read_records()
    }
    lines = index_of(archived).splitlines()

    for line in lines:
        _, digits, fields = split(line)
        place = fields["filename"], int(fields["offset"]), int(fields["length"])
        record = record_by_place[place]
        assert fields["url"] == record.field("WARC-Target-URI")
        assert fields["digest"] == record.field("WARC-Payload-Digest")
        assert fields["status"] == record.http_headers.get_statuscode()
        date = record.field("WARC-Date")
        assert digits == "".join(filter(str.isdecimal, date))
        assert all(isinstance(value, str) for value in fields.values())
    assert len(lines) == 704
    assert lines == sorted(lines)


def test_urls_of_one_key_and_time_are_in_order_too(
    open_archive, exchange, now, tmp_path
):
    archive = open_archive()
    for url in ("https://a.test/", "http://www.a.test/", "http://a.test/"):
        archive.write(exchange(url), now)
    archive.close()

    lines = index_of(tmp_path).splitlines()
    assert len({line.partition("{")[0] for line in lines}) == 1
    assert lines == sorted(lines)


def test_a_line_is_as_cdxj_indexer_writes_it(archived):
    lines = index_of(archived).splitlines()

    key, digits, fields = split(lines[-1])

    assert (key, digits) == ("test,b)/z", "20260921142501")
    assert list(fields) == [
        *("url", "mime", "status", "digest", "length", "offset", "filename")
    ]
    assert fields["mime"] == "warc/revisit"
    assert "mime" not in split(next(line for line in lines if ")/gone" in line))[2]


def test_request_with_a_body_has_the_line_that_pywb_gives_it(archive_of, exchange):
    sent = b'{"id": 7, "tags": ["x", "y"]}'
    directory = archive_of(exchange("http://a.test/Q?b", method="POST", sent=sent))

    key, _, fields = split(index_of(directory))

    assert key == "test,a)/q?__wb_method=post&b&id=7&tags=x&tags.2_=y"
    assert fields["url"] == "http://a.test/Q?b"
    assert fields["method"] == "POST"
    assert fields["requestBody"] == "id=7&tags=x&tags.2_=y"


def test_screenshot_is_a_resource_that_is_no_page(archive_of, exchange, read_records):
    package_file = io.BytesIO()
    url = "urn:view:http://a.test/"
    directory = archive_of(exchange(url, b"RIFF", mime="image/webp"))
    write_wacz(directory, package_file, software="test")

    assert split(index_of(directory))[0] == url.removesuffix("/")
    record = read_records()[-1]
    assert record.field("WARC-Type") == "resource"
    assert record.field("WARC-Target-URI") == url
    assert record.field("Content-Type") == "image/webp"
    assert url.encode() not in zipfile.ZipFile(package_file).read("pages/pages.jsonl")


def test_there_is_no_export_without_an_archive(tmp_path):
    with pytest.raises(ArchiveError, match="unable to open"):
        write_wacz(tmp_path, io.BytesIO(), software="test")
    with pytest.raises(ArchiveError, match="unable to open"):
        index_of(tmp_path)


@pytest.fixture
def package(package_file, archived):
    title_of = {"http://www.a.test/7": "Seven"}.get
    write_wacz(archived, package_file, software="test 1.0", title_of=title_of, now=2e9)
    with zipfile.ZipFile(io.BytesIO(package_file.getvalue())) as package:
        yield package


def test_package_lists_its_contents(package):
    about = json.loads(package.read("datapackage.json"))

    assert package.testzip() is None
    assert about["profile"] == "data-package"
    assert about["software"] == "test 1.0"
    assert (about["wacz_version"], about["created"]) == (
        "1.1.1",
        "2033-05-18T03:33:20Z",
    )
    paths = [resource["path"] for resource in about["resources"]]
    own = ["datapackage.json", "datapackage-digest.json"]
    assert [*paths, *own] == package.namelist()
    for resource in about["resources"]:
        data = package.read(resource["path"])
        assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert resource["bytes"] == len(data)
        assert resource["name"] == os.path.basename(resource["path"])
    digest = hashlib.sha256(package.read("datapackage.json")).hexdigest()
    assert json.loads(package.read("datapackage-digest.json")) == {
        "path": "datapackage.json",
        "hash": f"sha256:{digest}",
    }


def test_a_package_holds_the_archive(package, archived):
    for path in archived.glob("*.warc.gz"):
        part = package.getinfo(f"archive/{path.name}")
        assert part.compress_type == zipfile.ZIP_STORED
        assert package.read(part) == path.read_bytes()


def test_a_package_leads_to_its_records(package, archived):
    index = package.read("indexes/index.cdx.gz")
    about, *blocks = package.read("indexes/index.idx").decode().splitlines()

    assert split(about)[2] == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    assert gzip.decompress(index).decode() == index_of(archived)
    assert len(blocks) == 3
    for key, digits, place in map(split, blocks):
        data = index[place["offset"] : place["offset"] + place["length"]]
        assert gzip.decompress(data).decode().startswith(f"{key} {digits} ")
        assert place["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_package_lists_its_pages(package):
    about, *pages = map(json.loads, package.read("pages/pages.jsonl").splitlines())

    assert about["format"] == "json-pages-1.0"
    assert len({page["id"] for page in pages}) == len(pages) == 702
    assert pages[7] | {"id": ""} == {
        "id": "",
        "url": "http://www.a.test/7",
        "ts": "2026-09-21T14:13:27Z",
        "title": "Seven",
    }
    assert "title" not in pages[8]


def test_a_package_can_be_made_while_the_archive_is_written(
    written, exchange, tmp_path
):
    written(exchange())
    with (tmp_path / "archive-00001.warc.gz").open("ab") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\3torn")
    made = io.BytesIO()

    write_wacz(tmp_path, made, software="test")

    with zipfile.ZipFile(made) as package:
        data = package.read("archive/archive-00001.warc.gz")
    records = ArchiveIterator(io.BytesIO(data), check_digests="raise")
    kinds = [record.rec_type for record in records]
    assert kinds == ["warcinfo", "response", "request"]


def test_progress_of_a_package_is_reported(archive_of, exchange):
    archived = archive_of(*(exchange(f"http://a.test/{n}") for n in range(3)))
    steps = []

    write_wacz(
        archived,
        io.BytesIO(),
        software="test",
        on_step=lambda *done: steps.append(done),
    )

    assert list(dict.fromkeys(what for what, *_ in steps)) == list(STAGES)
    assert [done for done in steps if done[0] == STAGES[2]] == [
        (STAGES[2], number, 3) for number in range(3)
    ]
    assert (STAGES[1], 0, 3) in steps


@pytest.mark.parametrize("last_stage", STAGES)
def test_interrupted_package_is_not_a_zip_file(
    archive_of, exchange, package_file, last_stage
):
    archived = archive_of(exchange())

    def tell(what, done, total):
        if what == last_stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_wacz(archived, package_file, software="test", on_step=tell)

    assert package_file.getvalue()
    assert not zipfile.is_zipfile(io.BytesIO(package_file.getvalue()))


def test_py_wacz_finds_a_package_valid(archived, tmp_path):
    pytest.importorskip("wacz", reason="needs the package wacz")
    path = tmp_path / "made.wacz"
    with path.open("wb") as file:
        write_wacz(archived, file, software="test")

    done = subprocess.run(
        [sys.executable, "-m", "wacz", "validate", "-f", path],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "the passed WACZ is valid" in done.stdout, done


def test_pywb_replays_every_kind_of_capture(archived, tmp_path):
    pytest.importorskip("pywb", reason="needs the package pywb")
    collection = tmp_path / "replay" / "collections" / "c"
    for name in ("archive", "indexes"):
        (collection / name).mkdir(parents=True)
    for path in archived.glob("*.warc.gz"):
        (collection / "archive" / path.name).symlink_to(path)
    (collection / "indexes" / "index.cdxj").write_text(index_of(archived))
    urls = ["http://www.a.test/7", "http://a.test/z", "http://b.test/z"]
    paths = [f"/c/2030id_/{url}" for url in [*urls, "http://a.test/gone"]]

    done = subprocess.run(
        [sys.executable, "-c", REPLAY, *paths],
        check=False,
        cwd=tmp_path / "replay",
        capture_output=True,
        text=True,
        timeout=120,
    )

    line = next(line for line in done.stdout.splitlines() if line.startswith("answers"))
    answers = json.loads(line.removeprefix("answers"))
    statuses, bodies = itertools.zip_longest(*answers)
    assert statuses == ("200", "200", "200", "404")
    assert bodies[0] == "page 7"
    assert "words that a reader reads" in bodies[1]
    assert bodies[1] == bodies[2]
