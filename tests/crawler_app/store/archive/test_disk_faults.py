"""A failing disk: the caller gets an error, and the file has no gap."""

import functools
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from crawler_app.base.errors import ArchiveError
from crawler_app.store.archive.captures import Captures
from crawler_app.store.archive.totals import summary
from tests.helpers.scripts import IMPORTS

# Archives pages until the file has reached the limit, then as much as it can.
CROWDED_CRAWL = """
import asyncio, itertools, os, resource, sys
from crawler_app.store.archive.store import Archive
from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched

async def crawl():
    archive = Archive(sys.argv[1], max_file_bytes=10**9)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
    try:
        for turn in itertools.count():
            url = f"http://a.test/{turn}"
            await archive.write(Fetched(url, 200, {}, os.urandom(900), 0.1), 1e9)
            if turn % 5 == 4:
                archive.flush()
                print(turn + 1, flush=True)
    except ArchiveError as exc:
        print(exc)
    for step in (lambda: archive.write(None, 1e9), archive.flush, archive.close):
        try:
            step()
        except ArchiveError as exc:
            print(exc)
    archive.close()

asyncio.run(crawl())
"""


@pytest.mark.parametrize("limit", [100_000, 100_500, 101_000, 101_500])
def test_full_disk_is_reported_and_leaves_no_partial_record(
    tmp_path, read_records, archive_of, exchange, limit
):
    ended = subprocess.run(
        [sys.executable, "-c", CROWDED_CRAWL, tmp_path, str(limit)],
        check=True,
        env=os.environ | IMPORTS,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.stderr == ""
    *counts, first, second, third, fourth = ended.stdout.splitlines()
    assert first == second == third == fourth
    assert first.startswith("the archive cannot be written: ")
    before = len(read_records().of_kind("response"))
    assert before >= int(counts[-1])
    archive_of(exchange())  # there is room again
    assert summary(tmp_path).captures == before + 1
    assert len(read_records().of_kind("response")) == before + 1


def test_a_file_that_cannot_be_begun_ends_the_archive(
    written, exchange, now, tmp_path, read_records
):
    archive = written(exchange("http://a.test/1"), max_file_bytes=1)
    (tmp_path / "archive-00002.warc.gz").symlink_to("/dev/full")

    archive.write(exchange("http://a.test/2"), now)
    write = functools.partial(archive.write, exchange("http://a.test/3"), now)
    for use in (archive.flush, write, archive.close):
        with pytest.raises(ArchiveError, match="a symbolic link"):
            use()
    archive.close()

    (tmp_path / "archive-00002.warc.gz").unlink()
    assert summary(tmp_path).captures == 1
    assert len(read_records()) == 3


def test_a_file_that_is_deleted_ends_the_archive(written, exchange, now, tmp_path):
    archive = written(exchange("http://a.test/1"))
    shutil.rmtree(tmp_path)

    archive.write(exchange("http://a.test/2"), now)

    for use in (archive.flush, archive.close):
        with pytest.raises(ArchiveError, match=r"archive-00001.warc.gz.*was deleted"):
            use()
    tmp_path.mkdir()


def test_a_table_that_cannot_be_written_loses_no_record(
    open_archive, written, exchange, now, tmp_path, monkeypatch, read_records
):
    archive = written(exchange("http://a.test/1"))

    def commit(self):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Captures, "commit", commit)
        archive.write(exchange("http://a.test/2"), now)
        with pytest.raises(ArchiveError, match="database or disk is full"):
            archive.flush()
        with pytest.raises(ArchiveError, match="database or disk is full"):
            archive.close()
    assert summary(tmp_path).captures == 1

    open_archive().close()

    assert summary(tmp_path).captures == 2
    assert len(read_records()) == 5


def test_waiting_writer_is_released_when_the_disk_fails(
    open_archive, exchange, now, tmp_path, loop
):
    archive = open_archive()
    (tmp_path / "archive-00001.warc.gz").symlink_to("/dev/full")

    waiting = archive.write(exchange(body=bytes(40 * 2**20)), now)
    with pytest.raises(ArchiveError, match="a symbolic link"):
        loop.run_until_complete(waiting)

    with pytest.raises(ArchiveError, match="a symbolic link"):
        archive.flush()
    (tmp_path / "archive-00001.warc.gz").unlink()
