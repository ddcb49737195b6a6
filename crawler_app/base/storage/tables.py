"""Downloads the tables of a worker's store into a cache, on demand.

Rule: a table in the cache is complete, and was verified by its SHA-256.  Only SQLite changes it;
a new snapshot gets another directory.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from crawler_app.base.errors import ConfigError, ObjectStorageError
from crawler_app.base.progress import OnStep, megabytes, no_step
from crawler_app.base.storage.catalogue import (
    CATALOGUE_NAME,
    Catalogue,
    StoredTable,
    object_name,
)
from crawler_app.base.storage.checksums import sha256_of
from crawler_app.base.storage.uploads import Uploads, objects_at, save_uploads
from crawler_app.base.text.formatting import error_words

__all__ = ["MAX_CACHE_BYTES", "Cache", "StoredTables", "cache_home"]

# The tables of about twenty million captures and pages.
MAX_CACHE_BYTES = 20 * 10**9

# A worker may replace the snapshot while it is being downloaded.
ATTEMPTS = 5


def cache_home() -> Path:
    """Return the directory of this program below the user's cache directory."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "gencrawl"


@dataclass(slots=True, frozen=True)
class Cache:
    """The directory of the cache, and its maximum size.

    Attributes:
        max_bytes: Beyond it, the least recently used tables are deleted.
    """

    path: Path
    max_bytes: int = MAX_CACHE_BYTES


class StoredTables:
    """The tables of one worker.

    Args:
        url: Of its store.
        on_step: Progress callback.

    Attributes:
        catalogue: The contents of the store.

    Raises:
        ConfigError: the URL cannot be used, or a package for it is missing.
        ObjectStorageError: the store does not answer, or there is none; from any method.
    """

    def __init__(self, url: str, cache: Cache, on_step: OnStep = no_step) -> None:
        self.url = url
        self._objects = objects_at(url)
        self._cache = cache
        self._on_step = on_step
        self.catalogue = self._read_catalogue()

    @classmethod
    def find(cls, url: str, cache: Cache, on_step: OnStep = no_step) -> Self | None:
        """Return the tables of a worker; None if it has no catalogue."""
        if objects_at(url).read(CATALOGUE_NAME) is None:
            return None
        return cls(url, cache, on_step)

    def _read_catalogue(self) -> Catalogue:
        data = self._objects.read(CATALOGUE_NAME)
        if data is None:
            raise ObjectStorageError(f"{self.url} has no {CATALOGUE_NAME}")
        return Catalogue.from_json(data)

    @property
    def path(self) -> Path:
        """The directory of the snapshot in the cache; it may not exist."""
        key = sha256_of([self.url.encode(), self.catalogue.to_json()])[:16]
        # An export names the parts of an archive by the last component.
        return self._cache.path / "tables" / key / self.url.rpartition("/")[2]

    def fetch(self, name: str) -> bool:
        """Download a table unless it is cached; return whether the store has it."""
        for attempts_left in reversed(range(ATTEMPTS)):
            table = self.catalogue.table_by_name.get(name)
            if table is None:
                return False
            try:
                self._fetch(name, table)
                return True
            except ObjectStorageError:
                new = self._read_catalogue()
                if not attempts_left or new == self.catalogue:
                    raise
                self.catalogue = new
        return False

    def _fetch(self, name: str, table: StoredTable) -> None:
        path = self.path / name
        _in_use.add(path.parent.parent)
        with _disk_errors(self._cache.path):
            if path.exists():
                os.utime(path.parent.parent)  # used now
                return
            self._make_room(table.size_bytes)
            # For the owner only, like a crawl with secrets.
            (self._cache.path / "tables").mkdir(0o700, parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            save_uploads(path.parent, self._uploads())
            new = path.with_name(f"{name}.{os.getpid()}")
            try:
                with new.open("wb") as file:
                    for piece in self._verified(name, table):
                        file.write(piece)
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)

    def _uploads(self) -> Uploads:
        files = self.catalogue.bytes_by_file
        return Uploads(self.url, files, self.catalogue.snapshot)

    def _verified(self, name: str, table: StoredTable) -> Iterator[bytes]:
        """Yield a table in pieces; raise ObjectStorageError if its digest is wrong."""
        name = object_name(name, self.catalogue.snapshot)
        digest = hashlib.sha256()
        done_bytes = 0
        for piece in self._objects.pieces(name, table.size_bytes):
            yield piece
            digest.update(piece)
            done_bytes += len(piece)
            self._on_step(
                "downloading megabytes",
                megabytes(done_bytes),
                megabytes(table.size_bytes),
            )
        if digest.hexdigest() != table.sha256:
            raise ObjectStorageError(
                f"{self.url}/{name} differs from the uploaded table"
            )

    def _make_room(self, size_bytes: int) -> None:
        """Delete the least recently used snapshots, but none that this process reads."""
        max_bytes = self._cache.max_bytes
        found = sorted(self._cache.path.glob("tables/*"), key=_used_at)
        bytes_by_path = {path: _size_of(path) for path in found}
        kept_bytes = sum(bytes_by_path.values())
        for path in found:
            if kept_bytes + size_bytes > max_bytes and path not in _in_use:
                shutil.rmtree(path, ignore_errors=True)
                kept_bytes -= bytes_by_path[path]
        if kept_bytes + size_bytes > max_bytes:
            raise ConfigError(
                f"the tables of this crawl take more than the {max_bytes} bytes of the "
                f"cache in {self._cache.path}; raise --max-cache-bytes"
            )


# The snapshots that this process reads.
_in_use: set[Path] = set()


def _used_at(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0  # another process has deleted it


def _size_of(path: Path) -> int:
    size_bytes = 0
    for file in path.glob("*/*"):
        with contextlib.suppress(OSError):
            size_bytes += file.stat().st_size
    return size_bytes


@contextlib.contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise ConfigError(
            f"cannot write into the cache {path}: {error_words(exc, path)}; --cache names "
            "another directory"
        ) from None
