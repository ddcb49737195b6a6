"""Archive files from elsewhere: their records take bounded memory and are skipped."""

import contextlib
import gzip
import io
import pathlib
import tempfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.store.archive.captures import Captures, database_path
from crawler_app.store.archive.cdxj import write_cdxj
from crawler_app.store.archive.gzip_members import MAX_RECORD_BYTES, compress
from crawler_app.store.archive.record import parse_record
from crawler_app.store.archive.recovery import recover
from crawler_app.store.archive.replay import read_capture
from crawler_app.store.archive.totals import summary
from crawler_app.store.archive.wacz import write_wacz
from tests.helpers.fuzzing import examples
from tests.helpers.memory import peak_below

FILE = "archive-00001.warc.gz"

HEAD = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\n"


@pytest.fixture(scope="module")
def bomb():
    """A record of a hundred megabytes, in less than one."""
    return gzip.compress(HEAD + bytes(10**8), 1, mtime=0)


def test_file_in_place_of_a_directory_is_refused(tmp_path):
    (tmp_path / "other.wacz").touch()

    with pytest.raises(ConfigError, match="other.wacz is a file"):
        Captures(tmp_path / "other.wacz", read_only=True)


@pytest.mark.parametrize("is_table_kept", [True, False])
def test_record_that_inflates_without_end_is_skipped(
    bomb, archive_of, open_archive, exchange, now, tmp_path, is_table_kept, caplog
):
    archive_of(exchange("http://a.test/1"))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + bomb + whole)
    if not is_table_kept:
        database_path(tmp_path).unlink()

    with peak_below(3 * MAX_RECORD_BYTES):
        archive = open_archive()
    archive.write(exchange("http://a.test/2"), now)
    archive.flush()

    assert f"more than {MAX_RECORD_BYTES} bytes" in caplog.text
    assert summary(tmp_path).captures == 3


def test_record_that_was_replaced_by_a_bomb_is_not_read(
    bomb, archive_of, open_archive, exchange, tmp_path
):
    archive_of(exchange("http://a.test/1"), exchange("http://a.test/2"))
    archive = open_archive()
    capture = archive.latest("http://a.test/1")
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[: capture.offset] + bomb)

    with peak_below(3 * MAX_RECORD_BYTES), pytest.raises(ArchiveError, match="more"):
        archive.read(capture, 10**6)


def test_record_larger_than_the_current_limit_stays(
    archive_of, open_archive, exchange, tmp_path
):
    archive_of(exchange(), exchange("http://a.test/large", bytes(10**6)))
    before = (tmp_path / FILE).read_bytes()

    open_archive(max_record_bytes=10**5).close()

    assert (tmp_path / FILE).read_bytes() == before
    with contextlib.closing(Captures(tmp_path, read_only=True)) as captures:
        assert captures.counts() == (2, 0)


def test_length_that_python_does_not_convert_is_refused():
    with pytest.raises(ArchiveError, match="differs from its Content-Length"):
        parse_record(b"WARC/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n")


# What breaks a reader: separators, numbers, dates, ids, URLs, charsets.
TOKENS = [
    *(b"", b"\r\n", b"\n", b":", b" ", b"\0", b"\xff", b"\xed\xa0\x80", b"\r\n\r\n"),
    *(b"0", b"-1", b"9" * 20, b"9" * 5000, b"f" * 16 + b"\r\n", b"HTTP/1.1 9999999 x"),
    *(b"WARC/1.1", b"revisit", b"response", b"Content-Length: -5\r\n"),
    *(b"WARC-Date: 99999-99-99T99:99:99Z\r\n", b"WARC-Refers-To: <urn:uuid:zz>\r\n"),
    *(b"WARC-Target-URI: http://[::1\r\n", b"Content-Encoding: gzip, br, gzip\r\n"),
]
EDITS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 999), st.sampled_from(TOKENS)), max_size=4
)


@pytest.fixture
def records(archive_of, exchange):
    """The records of an archive, decompressed."""
    data = (
        archive_of(
            exchange("http://a.test/1", is_gzipped=True, is_chunked=True),
            exchange("http://a.test/2"),
            exchange("http://a.test/1", b"", status=304),
        )
        / FILE
    ).read_bytes()
    found = []
    while data:
        decompressor = zlib.decompressobj(31)
        found.append(decompressor.decompress(data))
        data = decompressor.unused_data
    return found


def edited(record, is_value, number, token):
    """Replace the value of a field, or any piece, by a token."""
    if not is_value:
        return record[:number] + token + record[number:]
    lines = record.split(b"\r\n")
    name, colon, _ = lines[number % 20 % len(lines)].partition(b": ")
    lines[number % 20 % len(lines)] = name + colon + token
    return b"\r\n".join(lines)


def read_all(directory):
    """Use an archive as commands do; only ArchiveError is expected."""
    with contextlib.closing(Captures(directory)) as captures:
        recover(directory, captures)
    with contextlib.closing(Captures(directory, read_only=True)) as captures:
        for capture in list(captures.in_order()):
            with contextlib.suppress(ArchiveError):
                read_capture(directory, captures, capture, 10**6)
    write_cdxj(directory, io.StringIO())
    write_wacz(directory, io.BytesIO(), software="x")


def test_any_records_are_read_or_skipped(records):
    @settings(max_examples=examples(60))
    @given(st.lists(EDITS, min_size=len(records), max_size=len(records)))
    def read_edited(edits_of_records):
        members = []
        for record, edits in zip(records, edits_of_records, strict=True):
            for edit in edits:
                record = edited(record, *edit)
            members.append(compress(record))
        with tempfile.TemporaryDirectory() as name:
            pathlib.Path(name, FILE).write_bytes(b"".join(members))
            read_all(pathlib.Path(name))

    read_edited()
