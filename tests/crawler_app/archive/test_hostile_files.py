"""Archive files from elsewhere: their records take bounded memory and are skipped."""

import contextlib
import gzip
import tracemalloc

import pytest

from crawler_app.archive.captures import Captures, database_path
from crawler_app.archive.members import MAX_RECORD_BYTES
from crawler_app.archive.totals import summary
from crawler_app.errors import ArchiveError

FILE = "archive-00001.warc.gz"

HEAD = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\n"

# A record of a hundred megabytes, in a hundred kilobytes.
BOMB = gzip.compress(HEAD + bytes(10**8), mtime=0)


@contextlib.contextmanager
def peak_below(max_bytes):
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < max_bytes


@pytest.mark.parametrize("is_table_kept", [True, False])
def test_record_that_inflates_without_end_is_skipped(
    archive_of, open_archive, exchange, now, tmp_path, is_table_kept, caplog
):
    archive_of(exchange("http://a.test/1"))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + BOMB + whole)
    if not is_table_kept:
        database_path(tmp_path).unlink()

    with peak_below(3 * MAX_RECORD_BYTES):
        archive = open_archive()
    archive.write(exchange("http://a.test/2"), now)
    archive.flush()

    assert f"more than {MAX_RECORD_BYTES} bytes" in caplog.text
    assert summary(tmp_path).captures == 3


def test_record_that_was_replaced_by_a_bomb_is_not_read(
    archive_of, open_archive, exchange, tmp_path
):
    archive_of(exchange("http://a.test/1"), exchange("http://a.test/2"))
    archive = open_archive()
    capture = archive.latest("http://a.test/1")
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[: capture.offset] + BOMB)

    with peak_below(3 * MAX_RECORD_BYTES), pytest.raises(ArchiveError, match="more"):
        archive.read(capture, 10**6)


def test_record_that_is_larger_than_the_limit_of_now_stays(
    archive_of, open_archive, exchange, tmp_path
):
    archive_of(exchange(), exchange("http://a.test/large", bytes(10**6)))
    before = (tmp_path / FILE).read_bytes()

    open_archive(max_record_bytes=10**5).close()

    assert (tmp_path / FILE).read_bytes() == before
    with contextlib.closing(Captures(tmp_path, read_only=True)) as captures:
        assert captures.counts() == (2, 0)
