"""The archive as the crawler uses it: written, read, rotated, reopened, closed."""

import gc
import os
import threading
import weakref

import pytest

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.store.archive.recorder import Recorder
from crawler_app.store.archive.store import MAX_BYTES_AT_ONCE, Archive
from crawler_app.store.archive.totals import ArchiveSummary, summary

MAX_BODY_BYTES = 64 * 2**20


def test_a_body_is_bounded_after_decompression(written, exchange):
    archive = written(
        exchange(body=bytes(100_000), is_gzipped=True),
        exchange("http://a.test/plain", bytes(1000)),
    )

    with pytest.raises(ArchiveError, match="more than 99999 bytes"):
        archive.read(archive.latest("http://a.test/"), 99_999)
    with pytest.raises(ArchiveError, match="more than 999 bytes"):
        archive.read(archive.latest("http://a.test/plain"), 999)


def test_a_damaged_record_is_not_read(written, exchange, tmp_path):
    archive = written(exchange())
    capture = archive.latest("http://a.test/")
    with (tmp_path / "archive-00001.warc.gz").open("r+b") as file:
        file.seek(capture.offset + capture.length // 2)
        file.write(b"\0\0\0\0")

    with pytest.raises(
        ArchiveError, match=r"archive-00001.*no complete record at byte"
    ):
        archive.read(capture, MAX_BODY_BYTES)


@pytest.mark.parametrize("max_file_bytes", [4000, 1])
def test_a_full_file_is_followed_by_another(
    archive_of, read_records, exchange, tmp_path, max_file_bytes
):
    archive_of(
        *(exchange(f"http://a.test/{n}", os.urandom(500)) for n in range(20)),
        max_file_bytes=max_file_bytes,
    )

    records = read_records()
    paths = sorted({record.path for record in records})
    assert [path.name for path in paths][:2] == [
        "archive-00001.warc.gz",
        "archive-00002.warc.gz",
    ]
    for path in paths:
        first, *others = [record for record in records if record.path == path]
        assert first.rec_type == "warcinfo"
        assert first.field("WARC-Filename") == path.name
        kinds = [record.rec_type for record in others]
        # A file smaller than its description holds one exchange.
        exchanges = 1 if max_file_bytes == 1 else len(others) // 2
        assert kinds == ["response", "request"] * exchanges
        for record in others:
            warcinfo_id = record.field("WARC-Warcinfo-ID")
            assert warcinfo_id == first.field("WARC-Record-ID")
    assert all(path.stat().st_size >= max_file_bytes for path in paths[:-1])


def test_a_later_run_goes_on_in_the_last_file(
    archive_of, read_records, exchange, tmp_path
):
    archive_of(exchange("http://a.test/1", b"one"), info={"software": "first"})
    archive_of(exchange("http://a.test/2", b"two"), info={"software": "second"})

    records = read_records()
    assert [record.rec_type for record in records] == [
        *("warcinfo", "response", "request"),
        *("warcinfo", "response", "request"),
    ]
    assert records[4].field("WARC-Warcinfo-ID") == records[3].field("WARC-Record-ID")
    assert summary(tmp_path)[:3] == (2, 0, 1)


def test_a_summary_counts_while_it_is_written(written, exchange, tmp_path):
    assert summary(tmp_path) == (0, 0, 0, 0)
    written(exchange("http://a.test/1"), exchange("http://a.test/2"))

    size_bytes = (tmp_path / "archive-00001.warc.gz").stat().st_size
    assert summary(tmp_path) == ArchiveSummary(2, 1, 1, size_bytes)


def test_closing_ends_the_thread_and_closes_the_files(written, exchange, now):
    def descriptors():
        return sorted(os.listdir("/proc/self/fd"))

    gc.collect()
    before, threads = descriptors(), threading.active_count()
    archive = written(exchange(body=bytes(MAX_BYTES_AT_ONCE + 1)))
    assert threading.active_count() == threads + 1

    archive.close()
    archive.close()

    assert threading.active_count() == threads
    assert descriptors() == before
    for use in (archive.flush, lambda: archive.write(exchange(), now)):
        with pytest.raises(ArchiveError, match="closed"):
            use()


def test_a_failed_opening_leaves_nothing_open(tmp_path):
    before = sorted(os.listdir("/proc/self/fd"))
    (tmp_path / "archive.sqlite3").write_bytes(b"no database " * 1000)

    with pytest.raises(ArchiveError, match=r"not a database; delete it"):
        Archive(tmp_path, max_file_bytes=1)
    with pytest.raises(ArchiveError, match="unable to open"):
        Archive(tmp_path / "missing", max_file_bytes=1)

    assert sorted(os.listdir("/proc/self/fd")) == before


def test_written_pages_are_let_go(written):
    class Page(Fetched):
        """One that can be referred to weakly."""

    page = Page("http://a.test/", 200, {}, b"x", 0.1)
    written(page)

    reference = weakref.ref(page)
    del page
    assert reference() is None


@pytest.fixture
def held_thread(monkeypatch):
    """Let the thread write an exchange only when it may; return which threads wrote one."""
    gate, writers = threading.Event(), []
    take = Recorder.take

    def held(self, *args):
        writers.append(threading.current_thread())
        if writers[-1] is not threading.main_thread():
            gate.wait(30)
        take(self, *args)

    monkeypatch.setattr(Recorder, "take", held)
    yield gate, writers
    gate.set()


def test_large_exchanges_are_written_in_a_thread_and_in_order(
    open_archive, exchange, now, held_thread, loop, read_records
):
    gate, writers = held_thread
    archive = open_archive()
    large = bytes(MAX_BYTES_AT_ONCE + 1)
    bodies = [b"small", large, b"small, but later", b"x" + large]
    urls = [f"http://a.test/{number}" for number in range(4)]
    written = [
        archive.write(exchange(url, body, mime="image/png"), now)
        for url, body in zip(urls, bodies, strict=True)
    ]
    assert [future.done() for future in written] == [True, False, False, False]

    written.pop().cancel()
    gate.set()
    for future in written:
        loop.run_until_complete(future)
    archive.flush()
    assert archive.write(exchange(), now).done()

    main = threading.main_thread()
    assert [writer is main for writer in writers] == [True, False, False, False, True]
    archive.close()
    responses = read_records().of_kind("response")
    written_urls = [each.field("WARC-Target-URI") for each in responses]
    assert written_urls == [*urls, "http://a.test/"]
