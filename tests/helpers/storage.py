"""Object storage for tests: moto's S3 server on loopback, and a store with faults."""

import contextlib
import logging

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

__all__ = ["S3", "FaultyStorage", "faulty", "s3", "s3_server"]

BUCKET = "crawls"


class S3:
    """An S3 server with one bucket.

    Attributes:
        url: Of the bucket.
        fs: To look into it.
    """

    url = f"s3://{BUCKET}"

    def __init__(self):
        # It takes a second to import.
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        _, port = self._server.get_host_and_port()
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "gencrawl",
            "AWS_SECRET_ACCESS_KEY": "gencrawl",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def stop(self):
        self._server.stop()

    def names(self):
        """Return the names of all objects, each without the UUID before it."""
        return sorted(path.rpartition("/")[2] for path in self.fs.find(BUCKET))


@pytest.fixture(scope="session")
def s3_server():
    pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = S3()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """Return an S3 server, which the environment names; its bucket is empty."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    fs = fsspec.filesystem("s3", use_listings_cache=False)
    with contextlib.suppress(FileExistsError):
        fs.mkdir(BUCKET)
    s3_server.fs = fs
    yield s3_server
    fs.rm(fs.ls(BUCKET), recursive=True)


FAULTS = ("is_away", "goes_away_at", "damaged", "tried")


class FaultyStorage(MemoryFileSystem):
    """Object storage in memory that can be unreachable, or damage what it stores.

    Attributes:
        is_away: Whether every request fails.
        goes_away_at: The storage goes away when an object of such a name is read.
        damaged: How many of the next files are stored in part.
        tried: How often it was asked while it was away.
    """

    protocol = "faulty"
    is_away = False
    goes_away_at = "nothing"
    damaged = 0
    tried = 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("faulty://", "memory://"))

    def _require(self):
        if FaultyStorage.is_away:
            FaultyStorage.tried += 1
            raise RuntimeError("the storage is away")  # as of a library of its own

    def pipe_file(self, path, value, mode="overwrite", **options):
        self._require()
        super().pipe_file(path, value, mode, **options)

    def cat_file(self, path, start=None, end=None, **options):
        FaultyStorage.is_away |= path.endswith(FaultyStorage.goes_away_at)
        self._require()
        return super().cat_file(path, start, end, **options)

    def put_file(self, lpath, rpath, *args, **options):
        self._require()
        super().put_file(lpath, rpath, *args, **options)
        if FaultyStorage.damaged:
            FaultyStorage.damaged -= 1
            super().pipe_file(rpath, self.cat_file(rpath)[:-1])


@pytest.fixture
def faulty(monkeypatch):
    """Return a store with faults, which is empty; its URLs begin with ``faulty://``."""
    monkeypatch.setattr("crawler_app.base.storage.objects.READ_PAUSES_S", (0.0, 0.0))
    fsspec.register_implementation("faulty", FaultyStorage, clobber=True)
    kept = {name: getattr(FaultyStorage, name) for name in FAULTS}
    yield FaultyStorage
    for name, value in kept.items():
        setattr(FaultyStorage, name, value)
    MemoryFileSystem.store.clear()
