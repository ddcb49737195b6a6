"""Fixtures for tests of the archive: exchanges to write, and warcio to read them."""

import asyncio
import contextlib
import gzip
import io

import pytest
from tornado.httputil import HTTPHeaders
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.store.archive.store import Archive

NOON = 1_790_000_000.25

# Large enough, compressed too, for a revisit to be worth it.
TEXT = b"<html><title>A page</title><p>words that a reader reads" + b"".join(
    b", and %d" % (number * 7919 % 65521) for number in range(150)
)


def make_exchange(
    url="http://a.test/",
    body=TEXT,
    *,
    status=200,
    fields=(),
    mime="text/html; charset=utf-8",
    is_chunked=False,
    is_gzipped=False,
    peer="192.0.2.1",
    method="GET",
    sent=b"",
):
    """Return what our client gives for a response."""
    encoded = gzip.compress(body, mtime=0) if is_gzipped else body
    headers = HTTPHeaders({"Server": "nginx", "Content-Type": mime})
    for name, value in fields:
        headers.add(name, value)
    if is_chunked:
        headers["Transfer-Encoding"] = "chunked"
    else:
        headers["Content-Length"] = str(len(encoded))
    raw = headers.copy()
    if is_gzipped:
        raw["Content-Encoding"] = "gzip"
        headers["X-Consumed-Content-Encoding"] = "gzip"
    lines = [f"{name}: {value}\r\n" for name, value in raw.get_all()]
    return Fetched(
        url,
        status,
        headers,
        body,
        0.25,
        f"{method} {url.partition('.test')[2]} HTTP/1.1\r\nHost: a.test\r\n"
        "Content-Type: application/json\r\n\r\n".encode(),
        f"HTTP/1.1 {status} Fine\r\n{''.join(lines)}\r\n".encode("latin-1"),
        encoded,
        peer,
        request_body=sent,
    )


@pytest.fixture
def exchange():
    return make_exchange


@pytest.fixture
def now():
    return NOON


@pytest.fixture
def loop():
    """A loop whose futures `Archive.write` returns."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture
def open_archive(tmp_path, loop):
    """Open archives that are closed at the end, by default in one directory."""
    opened = []

    def open_archive(directory=tmp_path, **options):
        options = {"max_file_bytes": 10**9, **options}
        opened.append(Archive(directory, **options))
        return opened[-1]

    yield open_archive
    for archive in opened:
        with contextlib.suppress(ArchiveError):  # the test has seen it
            archive.close()


@pytest.fixture
def written(open_archive):
    """Return a function that opens an archive with exchanges in it, a second apart."""

    def written(*exchanges, at=NOON, is_flushed=True, **options):
        archive = open_archive(**options)
        for turn, fetched in enumerate(exchanges):
            archive.write(fetched, at + turn)
        if is_flushed:
            archive.flush()
        return archive

    return written


@pytest.fixture
def archive_of(written, tmp_path):
    """Return a function that archives exchanges in the directory, and closes it."""

    def archive_of(*exchanges, **options):
        written(*exchanges, is_flushed=False, **options).close()
        return tmp_path

    return archive_of


class Records(list):
    """All records of an archive, as warcio reads them, their digests verified."""

    def of_kind(self, kind):
        return [record for record in self if record.rec_type == kind]


@pytest.fixture
def read_records(tmp_path):
    def read_records(directory=tmp_path):
        found = Records()
        for path in sorted(directory.glob("*.warc.gz")):
            with path.open("rb") as file:
                records = ArchiveIterator(file, check_digests="raise")
                for record in records:
                    record.path = path
                    record.content = record.content_stream().read()
                    record.place = (
                        records.get_record_offset(),
                        records.get_record_length(),
                    )
                    record.field = record.rec_headers.get_header
                    assert not records.err_count
                    found.append(record)
        return found

    return read_records


class Pipe(io.RawIOBase):
    """A stream that can be written but not rewound."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)

    def getvalue(self):
        return bytes(self.data)


@pytest.fixture(params=[io.BytesIO, Pipe])
def package_file(request):
    """The file to which a package is written."""
    return request.param()
