"""Recovery: what is left when a process dies, and what the next one makes of it."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import tempfile

import pytest

from crawler_app.base.errors import ArchiveError
from crawler_app.store.archive.captures import RESPONSE, Captures
from crawler_app.store.archive.gzip_members import members
from crawler_app.store.archive.recovery import recover
from crawler_app.store.archive.totals import summary
from tests.helpers import fuzzing

FILE = "archive-00001.warc.gz"
TABLE = "archive.sqlite3"

# Archives pages for ever, in files of 50 KB; tells of each when it has been flushed.
SYNTHETIC_CRAWL = """
import asyncio, itertools, os, sys
from crawler_app.store.archive.store import Archive
from crawler_app.base.models import Fetched

async def crawl():
    archive = Archive(sys.argv[1], max_file_bytes=50_000)
    for turn in itertools.count():
        urls = [f"http://a.test/{os.getpid()}/{turn}/{n}" for n in range(7)]
        for n, url in enumerate(urls):
            body = b"same " * 100 if n == 3 else os.urandom(600 * n)
            await archive.write(
                Fetched(url, 200, {}, body, 0.1, b"GET / HTTP/1.1\\r\\n\\r\\n"), 1e9
            )
        archive.flush()
        print(*urls, sep="\\n", flush=True)

asyncio.run(crawl())
"""


def rows(directory):
    """Return the contents of the table without the ids, which may differ."""
    captures = Captures(directory, read_only=True)
    with contextlib.closing(captures):
        exchanges = (row for row in captures.in_order() if row.url.startswith("http"))
        kinds = [row.kind for row in exchanges]
        assert captures.counts() == (len(kinds), len(kinds) - kinds.count(RESPONSE))
        url_by_id = {row.id: row.url for row in captures.in_order()}
        return [
            (
                *(row.url, row.at, row.kind, row.status, row.mime, row.digest),
                *(row.etag, row.last_modified, row.file, row.offset, row.length),
                *(row.record_id, url_by_id.get(row.refers_to)),
            )
            for row in captures.in_order()
        ]


def payload_keys(directory):
    with contextlib.closing(sqlite3.connect(directory / TABLE)) as db:
        query = "SELECT url, payload_key FROM capture ORDER BY id"
        return db.execute(query).fetchall()


def recover_in(directory):
    with contextlib.closing(Captures(directory)) as captures:
        return recover(directory, captures)


def forget_table(directory):
    for path in directory.glob(f"{TABLE}*"):
        path.unlink()


@pytest.fixture
def archived(archive_of, exchange):
    """An archive of all kinds of captures, in several files."""
    etag = [("ETag", '"x"'), ("Last-Modified", "Thu, 19 Nov 2026 10:00:00 GMT")]
    return archive_of(
        exchange("http://a.test/1", fields=etag),
        exchange("http://a.test/2", is_chunked=True),
        exchange("http://a.test/3", is_gzipped=True, is_chunked=True),
        exchange("http://a.test/4"),
        exchange("http://a.test/1", b"", status=304, fields=etag),
        exchange("http://a.test/4", b"", status=304),
        exchange("http://a.test/6", b"{}", method="DELETE"),
        exchange("urn:view:http://a.test/4", bytes(99), mime="image/webp"),
        exchange("http://a.test/4", method="POST", sent=b'{"id": 7}'),
        exchange("http://a.test/5", b"", mime=""),
        max_file_bytes=3400,
    )


def test_nothing_changes_where_nothing_happened(archived):
    before = {path.name: path.read_bytes() for path in archived.glob("*.gz")}

    assert not recover_in(archived)

    assert {path.name: path.read_bytes() for path in archived.glob("*.gz")} == before
    assert len(before) > 1


@pytest.mark.parametrize("has_log", [False, True])
def test_lost_table_is_rebuilt(archived, open_archive, has_log):
    before, keys = rows(archived), payload_keys(archived)
    archive = open_archive()
    archive._captures.latest("http://a.test/1")  # so that there is a log
    log = (archived / f"{TABLE}-wal").read_bytes()
    archive.close()
    forget_table(archived)
    if has_log:
        (archived / f"{TABLE}-wal").write_bytes(log or bytes(4000))

    assert recover_in(archived)

    assert rows(archived) == before
    assert payload_keys(archived) == keys


@pytest.fixture
def copy(tmp_path):
    """A directory, in memory where possible: SQLite waits for disks."""
    memory = pathlib.Path("/dev/shm")
    parent = memory if memory.is_dir() else tmp_path
    with tempfile.TemporaryDirectory(dir=parent) as name:
        yield pathlib.Path(name)


# Of the places where a file is cut off: one in so many, and all that are near an end.
EVERY = 13 if fuzzing.FACTOR > 1 else 31


# In the middle of a record, and where the table is rebuilt, less often: one byte there
# is like the next, and it takes longer.
@pytest.mark.parametrize(("is_table_kept", "near_bytes"), [(True, 24), (False, 0)])
def test_a_file_cut_off_anywhere_keeps_what_is_whole(
    archived, copy, read_records, is_table_kept, near_bytes
):
    *others, path = sorted(archived.glob("*.gz"))
    data, table = path.read_bytes(), (archived / TABLE).read_bytes()
    number = len(others) + 1
    before = [row for row in rows(archived) if row[8] < number]
    here = [row for row in rows(archived) if row[8] == number]
    ends = [member.offset + member.length for member in members(path, 0)]
    assert len(here) >= 3
    for other in others:
        shutil.copyfile(other, copy / other.name)

    near = {end + n for end in ends for n in range(-near_bytes, near_bytes)}
    sizes = range(ends[-7:][0] - 1, len(data))
    for size_bytes in [0, 1, *(n for n in sizes if n in near or n % EVERY == 0)]:
        forget_table(copy)
        if is_table_kept:
            (copy / TABLE).write_bytes(table)
        (copy / path.name).write_bytes(data[:size_bytes])

        has_lost = recover_in(copy)

        kept = [row for row in here if row[9] + row[10] <= size_bytes]
        assert has_lost == (not is_table_kept or len(kept) < len(here))
        assert rows(copy) == before + kept
        whole = max((end for end in ends if end <= size_bytes), default=0)
        assert (copy / path.name).exists() == bool(whole)
        assert not whole or (copy / path.name).stat().st_size == whole
    assert read_records(copy)


def test_records_that_the_table_does_not_know_are_entered(
    archived, open_archive, exchange, now, tmp_path
):
    before = rows(archived)
    table = (archived / TABLE).read_bytes()
    archive = open_archive(max_file_bytes=3000)
    for number in range(10):
        archive.write(exchange(f"http://b.test/{number}"), now)
        archive.write(exchange(f"http://c.test/{number}", os.urandom(300)), now)
    archive.close()
    after = rows(archived)
    forget_table(archived)
    (archived / TABLE).write_bytes(table)

    assert not recover_in(archived)

    assert rows(archived) == after
    assert after[: len(before)] == before


@pytest.mark.parametrize("size_bytes", [0, 1, 10, 100])
def test_a_file_that_has_only_a_torn_beginning_is_begun_again(
    tmp_path, open_archive, archive_of, read_records, exchange, size_bytes
):
    archive_of(exchange(), info={"software": "x" * 200})
    os.truncate(tmp_path / FILE, size_bytes)

    archive_of(exchange())

    kinds = [record.rec_type for record in read_records()]
    assert kinds == ["warcinfo", "response", "request"]
    assert summary(tmp_path).captures == 1


def test_rows_of_records_lost_with_power_are_dropped(
    archive_of, exchange, open_archive, tmp_path, read_records
):
    """The file is as long as it was, but nothing was written to its end."""
    archive_of(*(exchange(f"http://a.test/{n}", os.urandom(400)) for n in range(40)))
    end = (tmp_path / FILE).stat().st_size
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(end // 2)
        file.write(bytes(end - end // 2))

    archive_of(exchange("http://b.test/"))

    urls = [record.field("WARC-Target-URI") for record in read_records()[1:]]
    assert urls[-1] == "http://b.test/"
    known = [row[0] for row in rows(tmp_path)]
    assert 15 < len(known) < 25
    assert list(dict.fromkeys(filter(None, urls))) == known


def test_damage_in_the_middle_costs_one_record(archived):
    before = rows(archived)
    url, offset = before[1][0], before[1][9]
    with (archived / FILE).open("r+b") as file:
        file.seek(offset + 100)
        file.write(b"damage")
    forget_table(archived)

    recover_in(archived)

    assert rows(archived) == [row for row in before if row[0] != url]


def test_revisit_of_a_lost_record_is_not_usable(
    archive_of, exchange, open_archive, tmp_path
):
    archive_of(
        exchange("http://a.test/1"), exchange("http://a.test/2"), max_file_bytes=900
    )
    (tmp_path / FILE).unlink()

    archive = open_archive()

    assert archive.latest("http://a.test/1") is None
    assert archive.latest("http://a.test/2") is None
    (capture,) = archive._captures.in_order()
    with pytest.raises(ArchiveError, match="no longer in the archive"):
        archive.read(capture, 10**6)


@pytest.fixture
def crawl(start_script, tmp_path):
    """Start synthetic crawls in processes of their own, which are killed at the end."""
    return lambda: start_script(SYNTHETIC_CRAWL, tmp_path)


def test_what_was_flushed_survives_kill_9(crawl, tmp_path, read_records):
    flushed = []
    for turn in range(6):
        process = crawl()
        for line in process.stdout:
            flushed.append(line.strip())
            if len(flushed) > 97 * (turn + 1):
                break
        process.kill()
        flushed += [line.strip() for line in process.stdout if line.endswith("\n")]

    recover_in(tmp_path)

    known = [row[0] for row in rows(tmp_path)]
    assert len(known) == len(set(known))
    assert set(known) >= set(flushed)
    records = read_records()
    captured = records.of_kind("response") + records.of_kind("revisit")
    assert {record.field("WARC-Target-URI") for record in captured} == set(known)
    assert len(captured) == len(known)
    assert len(list(tmp_path.glob("*.gz"))) > 3
    places = {record.place for record in captured}
    assert places == {(row[9], row[10]) for row in rows(tmp_path)}
