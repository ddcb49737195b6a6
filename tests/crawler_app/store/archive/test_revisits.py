"""Revisits: a payload is stored once, and later captures refer to it."""

import contextlib
import gzip
import io
import json

import pytest

from crawler_app.store.archive.captures import (
    ELSEWHERE,
    NOT_MODIFIED,
    RESPONSE,
    REVISIT,
)
from crawler_app.store.archive.cdxj import write_cdxj
from crawler_app.store.archive.reading import ArchiveReader
from crawler_app.store.archive.totals import summary

OTHER = b"another text altogether" + b"".join(
    b", and %d" % (number * 104_729 % 65_521) for number in range(150)
)


def test_the_same_payload_at_another_url_is_a_revisit_of_the_first(
    archive_of, read_records, exchange, tmp_path
):
    archive_of(exchange("http://a.test/1"), exchange("http://a.test/2"))
    archive_of(exchange("http://a.test/of-a-later-run"))

    assert summary(tmp_path)[:2] == (3, 2)
    records = read_records()
    (response,), (revisit, later) = map(records.of_kind, ("response", "revisit"))
    assert later.field("WARC-Refers-To") == response.field("WARC-Record-ID")
    assert revisit.field("WARC-Profile") == (
        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    )
    assert revisit.field("WARC-Refers-To") == response.field("WARC-Record-ID")
    assert revisit.field("WARC-Refers-To-Target-URI") == "http://a.test/1"
    assert revisit.field("WARC-Refers-To-Date") == response.field("WARC-Date")
    digest = response.field("WARC-Payload-Digest")
    assert revisit.field("WARC-Payload-Digest") == digest
    assert revisit.http_headers.get_header("Content-Type").startswith("text/html")
    assert revisit.content == b""


@pytest.mark.parametrize("body", [b"", b"short " * 40])
def test_a_payload_smaller_than_a_reference_is_kept_again(
    archive_of, read_records, exchange, body
):
    archive_of(exchange("http://a.test/1", body), exchange("http://a.test/2", body))

    assert len(read_records().of_kind("response")) == 2


def test_the_same_text_under_another_coding_is_another_payload(
    archive_of, read_records, exchange
):
    archive_of(
        exchange("http://a.test/1"),
        exchange("http://a.test/2", is_gzipped=True),
        exchange("http://a.test/3", is_chunked=True),
    )

    assert not read_records().of_kind("revisit")


def test_the_same_payload_may_mean_another_body(written, exchange):
    packed = gzip.compress(OTHER, mtime=0)
    archive = written(
        exchange("http://a.test/1", OTHER, is_gzipped=True),
        exchange("http://a.test/2", packed, mime="application/gzip"),
    )

    first, second = (archive.latest(f"http://a.test/{number}") for number in (1, 2))

    assert (first.kind, second.kind) == (RESPONSE, REVISIT)
    assert archive.read(first, 10**6).body == OTHER
    assert archive.read(second, 10**6).body == packed


@pytest.fixture
def not_modified(exchange):
    fields = [("ETag", '"new"')]
    return exchange(body=b"", status=304, fields=fields, is_chunked=True)


def test_not_modified_refers_to_the_original(
    archive_of, read_records, exchange, not_modified
):
    archive_of(exchange(body=OTHER), exchange(), not_modified)

    records = read_records()
    second = records.of_kind("response")[1]
    (revisit,) = records.of_kind("revisit")
    assert revisit.field("WARC-Profile") == (
        "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    )
    assert revisit.field("WARC-Refers-To") == second.field("WARC-Record-ID")
    assert revisit.field("WARC-Refers-To-Date") == second.field("WARC-Date")
    assert revisit.http_headers.get_statuscode() == "304"


def test_not_modified_since_a_revisit_refers_to_the_response(
    archive_of, read_records, exchange, not_modified
):
    archive_of(exchange("http://a.test/other"), exchange(), not_modified)

    records = read_records()
    revisit = records.of_kind("revisit")[1]
    response = records.of_kind("response")[0]
    assert revisit.field("WARC-Refers-To") == response.field("WARC-Record-ID")
    assert revisit.field("WARC-Refers-To-Target-URI") == "http://a.test/other"


def test_not_modified_since_nothing_is_a_response(
    archive_of, read_records, not_modified
):
    archive_of(not_modified)

    assert [record.rec_type for record in read_records()][1] == "response"


@pytest.mark.parametrize("is_recovered", [False, True])
def test_not_modified_since_a_response_of_another_process_is_a_revisit_of_it(
    written, exchange, not_modified, open_archive, tmp_path, now, is_recovered
):
    changed = exchange(body=b"changed " * 99)
    (tmp_path / "b").mkdir()
    other = written(exchange("http://a.test/1"), exchange(), directory=tmp_path / "b")
    with contextlib.closing(ArchiveReader(tmp_path / "b")) as reader:
        original = reader.original_of(reader.latest("http://a.test/"))
    other.close()
    archive = written(exchange(body=OTHER), at=now - 99)
    archive.write(not_modified, now + 9, original)
    archive.write(changed, now + 10, original)
    archive.close()
    if is_recovered:
        (tmp_path / "archive.sqlite3").unlink()

    _, revisit, response = open_archive()._captures.in_order()

    assert (revisit.kind, revisit.refers_to) == (NOT_MODIFIED, ELSEWHERE)
    assert revisit.digest == original.digest and original.url == "http://a.test/1"
    assert response.kind == RESPONSE


def test_not_modified_has_the_earlier_body(open_archive, exchange, not_modified, now):
    archive = open_archive()
    archive.write(exchange(is_gzipped=True), now)
    archive.write(not_modified, now + 9)
    archive.flush()

    *_, capture = archive._captures.in_order()

    assert capture.kind == NOT_MODIFIED
    fetched = archive.read(capture, 10**6)
    assert (fetched.status, fetched.body) == (304, exchange().body)
    assert fetched.raw_head == not_modified.raw_head


def test_the_latest_is_the_newest_with_a_body(
    open_archive, exchange, not_modified, now
):
    archive = open_archive()
    assert archive.latest("http://a.test/") is None
    fields = [("ETag", '"x"'), ("Last-Modified", "Thu, 19 Nov 2026 10:00:00 GMT")]
    archive.write(exchange(body=OTHER), now)
    archive.write(exchange("http://a.test/other"), now + 1)
    archive.write(exchange(fields=fields), now + 2)
    archive.write(not_modified, now + 3)
    archive.write(exchange(status=500, body=b"sorry"), now + 4)
    archive.flush()

    latest = archive.latest("http://a.test/")

    assert (latest.at, latest.kind) == (int(now) + 2, REVISIT)
    assert latest.etag == '"x"'
    assert latest.last_modified == "Thu, 19 Nov 2026 10:00:00 GMT"
    assert latest.mime == "text/html"


def test_an_index_leaves_out_what_was_not_modified(
    archive_of, exchange, not_modified, tmp_path
):
    archive_of(exchange("http://a.test/2"), exchange(), not_modified)

    index = io.StringIO()
    write_cdxj(tmp_path, index)
    lines = index.getvalue().splitlines()
    mimes = [json.loads(line.split(" ", 2)[2])["mime"] for line in lines]
    assert mimes == ["warc/revisit", "text/html"]
