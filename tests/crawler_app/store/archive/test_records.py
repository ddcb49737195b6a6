"""The records: warcio reads each, and finds in it what was on the wire."""

import io
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.models import Fetched
from crawler_app.store.archive import gzip_members
from crawler_app.store.archive.block import block_of, facts_of, split_block, unframed
from crawler_app.store.archive.gzip_members import compress, read_member
from crawler_app.store.archive.record import (
    Stamp,
    capture_record,
    new_record_id,
    parse_record,
    sha1_of,
)

LINES = st.lists(st.binary(max_size=40).map(lambda line: re.sub(rb"[\r\n]", b"", line)))
HEADS = LINES.map(lambda lines: b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"", b""]))

MAX_BODY_BYTES = 64 * 2**20

SHAPES = {
    "plain": {},
    "gzip": {"is_gzipped": True},
    "chunked": {"is_chunked": True},
    "chunked gzip": {"is_chunked": True, "is_gzipped": True},
    "empty": {"body": b""},
    "empty chunked": {"body": b"", "is_chunked": True},
    "no content": {"body": b"", "is_chunked": True, "status": 204},
    "image": {"body": bytes(range(256)) * 40, "mime": "image/png"},
    "no type": {"mime": ""},
    "large": {"body": os.urandom(1024) * 16 * 1024, "mime": "image/png"},
    "odd": {"fields": [("X-Name", "caf\xe9"), ("Set-Cookie", "a=1"), ("X-Name", "b")]},
    "latin-1": {"fields": [("X-Name", "caf\xe9"), ("X-Name", "\xff")]},
    "unknown coding": {"fields": [("Content-Encoding", "lzma")]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_response_is_read_as_it_was_on_the_wire(
    written, read_records, exchange, shape
):
    fetched = exchange(**SHAPES[shape])
    archive = written(fetched)

    (capture,) = archive._captures.in_order()
    again = archive.read(capture, MAX_BODY_BYTES)

    fetched.took_s = 0.0
    assert list(again.headers.get_all()) == list(fetched.headers.get_all())
    assert again == fetched
    _, response, request = read_records()
    assert response.http_headers.get_statuscode() == str(fetched.status)
    assert response.content == fetched.body
    assert response.field("WARC-Target-URI") == fetched.url
    assert response.field("WARC-IP-Address") == "192.0.2.1"
    assert response.field("Content-Type") == "application/http; msgtype=response"
    with response.path.open("rb") as file:  # their heads are kept byte by byte
        member = read_member(file, response.place[0])
        assert member.record.block.startswith(fetched.raw_head)
        member = read_member(file, request.place[0])
        assert member.record.block == fetched.request_head


def test_a_request_belongs_to_its_response(archive_of, read_records, exchange):
    archive_of(exchange(), at=86400 * 365.25 + 0.75)

    info, response, request = read_records()
    assert request.rec_type == "request"
    assert request.field("WARC-Concurrent-To") == response.field("WARC-Record-ID")
    for record in (response, request):
        assert record.field("WARC-Date") == "1971-01-01T06:00:00Z"
        assert record.field("WARC-Warcinfo-ID") == info.field("WARC-Record-ID")


def test_ids_are_random_uuids():
    record = parse_record(
        capture_record(
            new_record_id(),
            Stamp("http://a.test/", 0, new_record_id()),
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"",
            sha1_of(b""),
        )
    )

    assert re.fullmatch(
        r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}"
        r"-[0-9a-f]{12}>",
        record.fields["warc-record-id"],
    )
    assert len({new_record_id() for _ in range(1000)}) == 1000


def test_file_describes_its_origin(archive_of, read_records, exchange):
    info = {"software": "gencoro 1", "operator": "M\xfcller", "robots": "classic"}

    archive_of(exchange(), info=info)

    first = read_records()[0]
    assert first.rec_type == "warcinfo"
    assert first.field("WARC-Filename") == "archive-00001.warc.gz"
    assert first.content.decode() == (
        "software: gencoro 1\r\noperator: M\xfcller\r\nrobots: classic\r\n"
    )


def test_head_is_made_for_a_client_that_gives_none(written, read_records):
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    archive = written(Fetched("http://a.test/", 404, headers, b"not here", 0.1))

    (capture,) = archive._captures.in_order()
    again = archive.read(capture, MAX_BODY_BYTES)

    assert (again.body, again.request_head, again.peer) == (b"not here", b"", "")
    assert dict(again.headers) == {"Content-Type": "text/plain", "Content-Length": "8"}

    (response,) = read_records().of_kind("response")
    assert response.http_headers.to_str() == (
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n"
    )
    assert response.content == b"not here"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n \r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\x1c\r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\xa0\r\nA: b\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_head_that_readers_would_end_elsewhere_is_rebuilt(head):
    fetched = Fetched("http://a.test/", 200, {}, b"body", 0.1, b"", head, b"body")

    assert block_of(fetched)[0] == b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


@given(HEADS, st.binary())
def test_any_head_and_any_body_are_read_again(head, body):
    fetched = Fetched("http://a.test/", 200, {}, body, 0.1, b"", head, body)
    head, payload, facts = block_of(fetched)
    stamp = Stamp(fetched.url, 0, new_record_id())
    record_id = new_record_id()
    data = capture_record(record_id, stamp, head, payload, sha1_of(payload))

    record = read_member(io.BytesIO(compress(data)), 0).record

    assert record.record_id == record_id
    assert split_block(record.block) == (head, payload)
    assert facts_of(head) == facts
    assert (unframed(payload) if facts.is_chunked else payload) == body
    theirs = list(ArchiveIterator(io.BytesIO(compress(data)), check_digests="raise"))
    assert [record.rec_type for record in theirs] == ["response"]


@pytest.mark.parametrize("package", ["isal", "zlib"])
@given(st.binary(max_size=100_000), st.booleans())
def test_a_member_is_what_was_compressed(package, body, is_stored):
    with pytest.MonkeyPatch.context() as patch:
        if package == "zlib":
            patch.setattr(gzip_members, "isal_zlib", None)
        member_is_what_was_compressed(body, is_stored)


def member_is_what_was_compressed(body, is_stored):
    stamp = Stamp("http://a.test/", 0, bytes(16))
    data = capture_record(bytes(16), stamp, b"HTTP/1.1 200 OK\r\n\r\n", body, "x")

    member = compress(data, is_stored=is_stored)

    found = read_member(io.BytesIO(b"before" + member + b"behind"), 6)
    assert (found.length, found.record) == (len(member), parse_record(data))


def test_compressed_payload_is_stored(archive_of, exchange, tmp_path):
    body = bytes(range(256)) * 64

    archive_of(exchange(body=body, mime="video/mp4"))

    assert (tmp_path / "archive-00001.warc.gz").stat().st_size > len(body)
