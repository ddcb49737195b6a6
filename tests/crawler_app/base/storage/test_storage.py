"""Object storage: checksums, ranges, the catalogue and the cache."""

import base64
import hashlib
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.errors import ConfigError, ObjectStorageError
from crawler_app.base.storage import checksums, ranges
from crawler_app.base.storage.catalogue import (
    ARCHIVE_TABLE,
    CATALOGUE_NAME,
    INDEX,
    Catalogue,
    StoredTable,
    object_name,
)
from crawler_app.base.storage.objects import S3_OPTIONS, Objects
from crawler_app.base.storage.ranges import RangeFile
from crawler_app.base.storage.tables import Cache, StoredTables
from tests.helpers.memory import peak_below

DATA = bytes(range(256)) * 10


def md5(data):
    return hashlib.md5(data).digest()


@pytest.mark.parametrize(
    ("info", "is_right"),
    [
        ({}, True),
        ({"ETag": '"opaque"'}, True),
        ({"ETag": f'"{md5(DATA).hex()}"'}, True),
        ({"ETag": f'"{md5(md5(DATA[:2000]) + md5(DATA[2000:])).hex()}-2"'}, True),
        ({"ETag": f'"{md5(b"other").hex()}"'}, False),
        ({"ETag": f'"{md5(b"other").hex()}-2"'}, False),
        ({"md5Hash": base64.b64encode(md5(DATA)).decode()}, True),
        ({"md5Hash": base64.b64encode(md5(b"other")).decode()}, False),
        ({"content_settings": {"content_md5": bytearray(md5(DATA))}}, True),
        ({"content_settings": {"content_md5": bytearray(md5(b"other"))}}, False),
        ({"content_settings": {"content_md5": None}}, True),
    ],
)
def test_checksum_of_a_store_is_compared(tmp_path, monkeypatch, info, is_right):
    monkeypatch.setattr(checksums, "PART_BYTES", 2000)
    (tmp_path / "file").write_bytes(DATA)

    assert checksums.agrees(tmp_path / "file", info) is is_right


def test_etag_that_is_not_a_checksum_is_ignored(faulty, tmp_path, monkeypatch):
    monkeypatch.setattr(
        faulty, "info", lambda fs, path: {"size": len(DATA), "ETag": "0" * 32}
    )
    (tmp_path / "file").write_bytes(DATA)

    Objects("faulty://bucket").put(tmp_path / "file", "encrypted")

    faulty.damaged = 1
    with pytest.raises(ObjectStorageError):
        Objects("faulty://bucket").put(tmp_path / "file", "encrypted")


def test_large_file_is_uploaded_to_s3_in_parts_and_verified(s3, tmp_path, monkeypatch):
    part_bytes = 5 * 2**20  # the minimum of S3
    monkeypatch.setattr(checksums, "PART_BYTES", part_bytes)
    monkeypatch.setitem(S3_OPTIONS, "chunksize", part_bytes)
    (tmp_path / "file").write_bytes(DATA * 5000)

    objects = Objects(f"{s3.url}/large")
    objects.put(tmp_path / "file", "file")

    assert s3.fs.info(f"{s3.url}/large/file")["ETag"].endswith('-3"')
    assert objects.read_range("file", 256, 512) == bytes(range(256))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 30)), max_size=6))
def test_object_is_read_like_a_file(steps):
    data = bytes(range(25))
    objects = Objects("memory://ranges")
    objects.write("letters", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "BLOCK_BYTES", 4)
        ours = io.BufferedReader(RangeFile(objects, "letters", len(data)), 3)
        theirs = io.BytesIO(data)
        for offset, size in steps:
            assert ours.seek(offset) == theirs.seek(offset)
            assert ours.read(size) == theirs.read(size)


def test_large_object_is_copied_in_pieces(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(200 * 2**20)
    objects = Objects(f"file://{tmp_path}")

    with peak_below(40 * 2**20):
        assert sum(map(len, objects.pieces("large", 200 * 2**20))) == 200 * 2**20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "bytes_by_file": {"x": 1}}',
        '{"version": 1, "bytes_by_file": [], "table_by_name": 7}',
    ],
)
def test_damaged_catalogue_is_named(faulty, tmp_path, text):
    Objects("faulty://bucket/key").write(CATALOGUE_NAME, text.encode())

    with pytest.raises(ObjectStorageError, match="the catalogue"):
        StoredTables("faulty://bucket/key", Cache(tmp_path))


class Worker:
    """The objects that a worker stores."""

    def __init__(self, name):
        self.url = f"faulty://bucket/{name}"
        self.objects = Objects(self.url)
        self.snapshot = 0

    def put(self, size_bytes):
        """Store a snapshot, and remove the previous one."""
        self.snapshot += 1
        table_by_name = {}
        for name in (ARCHIVE_TABLE, INDEX):
            data = b"%d" % self.snapshot * size_bytes
            digest = hashlib.sha256(data).hexdigest()
            table_by_name[name] = StoredTable(len(data), digest, 1)
            self.objects.write(object_name(name, self.snapshot), data)
        catalogue = Catalogue(self.snapshot, 0.0, {}, 0, table_by_name)
        self.objects.write(CATALOGUE_NAME, catalogue.to_json())
        for name in table_by_name:
            self.objects.remove(object_name(name, self.snapshot - 1))


def test_reader_of_a_removed_snapshot_takes_the_next(faulty, tmp_path):
    worker = Worker("a")
    worker.put(100)
    tables = StoredTables(worker.url, Cache(tmp_path))
    worker.put(100)

    assert tables.fetch(INDEX)

    assert (tables.path / INDEX).read_bytes() == b"2" * 100
    assert tables.fetch(ARCHIVE_TABLE) and tables.catalogue.snapshot == 2
    worker.objects.write(object_name(INDEX, 2), b"3" * 100)
    with pytest.raises(ObjectStorageError, match="differs from the uploaded table"):
        StoredTables(worker.url, Cache(tmp_path / "other")).fetch(INDEX)
    assert not list((tmp_path / "other").glob("**/*sqlite*"))


def test_cache_is_bounded_and_keeps_the_latest_tables(faulty, tmp_path, monkeypatch):
    workers = [Worker(name) for name in "abcd"]
    cache = Cache(tmp_path, 3000)
    paths = []
    for worker in workers:
        worker.put(600)
    for worker in workers[:3]:
        monkeypatch.setattr("crawler_app.base.storage.tables._in_use", set())
        tables = StoredTables(worker.url, cache)
        assert tables.fetch(INDEX) and tables.fetch(ARCHIVE_TABLE)
        paths.append(tables.path)

    assert [path.exists() for path in paths] == [False, True, True]

    monkeypatch.setattr("crawler_app.base.storage.tables._in_use", set())
    for worker in (workers[1], workers[3]):  # a crawl, of which one is in the cache
        assert StoredTables(worker.url, cache).fetch(INDEX)

    assert [path.exists() for path in paths] == [False, True, False]

    with pytest.raises(ConfigError, match="raise --max-cache-bytes"):
        StoredTables(workers[0].url, Cache(tmp_path, 700)).fetch(INDEX)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)

    with pytest.raises(ConfigError, match=r"pip install 'gencoro\[storage\]'"):
        Objects("s3://bucket/prefix")
