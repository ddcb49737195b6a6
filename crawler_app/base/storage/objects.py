"""`Objects`: the objects below one URL of object storage, accessed through fsspec.

Rule: every error of a store, or of the library that talks to it, is an `ObjectStorageError`.
Credentials come from the environment of that library, such as ``AWS_PROFILE``; a URL with a
password is refused, as other users of the machine see arguments.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from crawler_app.base.errors import ConfigError, ObjectStorageError
from crawler_app.base.storage.checksums import PART_BYTES, agrees, pieces_of, sha256_of

__all__ = ["Objects", "is_url", "require_url"]

T = TypeVar("T")

# A read that fails is repeated after these pauses, as an export must not leave
# out a file because of one lost connection.
READ_PAUSES_S = (0.5, 2.0, 5.0)

# By default s3fs holds ten parts of 50 MB in memory.
S3_OPTIONS = {"chunksize": PART_BYTES, "max_concurrency": 3}

# Size of the ranges of a sequential read; each costs one request.
PIECE_BYTES = 8 * 2**20


def is_url(text: str) -> bool:
    """Return whether a text is a URL of object storage, and not a path.

    >>> is_url("s3://bucket/prefix"), is_url("s3/prefix")
    (True, False)
    """
    return "://" in text


def require_url(url: str) -> None:
    """Raise ConfigError if a URL cannot be used.

    The text does not show the URL, which may hold a password.
    """
    try:
        parts = urlsplit(url)
        is_plain = not (parts.password or parts.query or parts.fragment)
    except ValueError:
        is_plain = False
    # "::" joins protocols of fsspec, and so would let a URL name any file.
    if not is_plain or "::" in url or "\0" in url:
        raise ConfigError(
            "the URL of the object storage is invalid; it looks like s3://BUCKET/PREFIX, "
            "and the credentials are read from the environment, such as AWS_PROFILE"
        )


class Objects:
    """The objects below a URL.

    Raises:
        ConfigError: the URL cannot be used, or a package for it is missing.
        ObjectStorageError: the store does not answer or refuses, from any method.

    >>> objects = Objects("memory://example/of")
    >>> objects.write("greeting", b"hello, world")
    >>> objects.read("greeting"), objects.read("farewell")
    (b'hello, world', None)
    >>> objects.read_range("greeting", 7, 12)
    b'world'
    """

    def __init__(self, url: str) -> None:
        require_url(url)
        self.url = url.rstrip("/")
        self._fs, root = _file_system(self.url)
        self._root = str(root).rstrip("/")
        protocol = self._fs.protocol
        self._protocols = {protocol} if isinstance(protocol, str) else {*protocol}
        # Whether the store's checksums are known to be something else, as with KMS.
        self._has_other_checksums = False

    def write(self, name: str, data: bytes) -> None:
        """Write a small object atomically."""
        with self._errors():
            if "file" not in self._protocols:
                self._fs.pipe_file(self._path(name), data)
                return
            # A directory: only a file that is complete gets the name.
            self._fs.makedirs(self._root, exist_ok=True)
            self._fs.pipe_file(self._path(f"{name}.new"), data)
            self._fs.mv(self._path(f"{name}.new"), self._path(name))

    def put(self, path: Path, name: str) -> None:
        """Write a file, and verify the object in the store."""
        size_bytes = path.stat().st_size
        options = S3_OPTIONS if "s3" in self._protocols else {}
        with self._errors():
            if "file" in self._protocols:
                self._fs.makedirs(self._root, exist_ok=True)
            self._fs.put_file(str(path), self._path(name), **options)
            info = self._fs.info(self._path(name))
        if info["size"] != size_bytes or not self._agrees(path, name, info):
            raise ObjectStorageError(
                f"{self.url}/{name}: the stored object differs from the file"
            )

    def _agrees(self, path: Path, name: str, info: dict[str, Any]) -> bool:
        if self._has_other_checksums or agrees(path, info):
            return True
        # With some kinds of encryption, an ETag looks like a checksum but is not one.
        there = sha256_of(self.pieces(name, path.stat().st_size))
        self._has_other_checksums = there == sha256_of(pieces_of(path))
        return self._has_other_checksums

    def read(self, name: str) -> bytes | None:
        """Return a small object; None if there is none."""

        def read() -> bytes | None:
            try:
                return bytes(self._fs.cat_file(self._path(name)))
            except FileNotFoundError:
                return None

        return self._repeated(read)

    def read_range(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes ``start:end`` of an object, all of which must exist."""

        def read() -> bytes:
            data = bytes(self._fs.cat_file(self._path(name), start=start, end=end))
            if len(data) != end - start:
                raise ObjectStorageError(f"{self.url}/{name} is shorter than it was")
            return data

        return self._repeated(read)

    def pieces(self, name: str, size_bytes: int) -> Iterator[bytes]:
        """Yield the first ``size_bytes`` of an object in pieces."""
        for start in range(0, size_bytes, PIECE_BYTES):
            yield self.read_range(name, start, min(start + PIECE_BYTES, size_bytes))

    def remove(self, name: str) -> None:
        """Remove an object, if there is one."""
        with self._errors(), contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _repeated(self, read: Callable[[], T]) -> T:
        for pause_s in READ_PAUSES_S:
            try:
                with self._errors():
                    return read()
            except ObjectStorageError as exc:
                if isinstance(exc.__cause__, (FileNotFoundError, PermissionError)):
                    raise
                time.sleep(pause_s)
        with self._errors():
            return read()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the errors of fsspec and of the libraries below it into ours."""
        try:
            yield
        except ObjectStorageError:
            raise
        except Exception as exc:  # each library has its own, and some are not OSError
            raise ObjectStorageError(f"{self.url}: {exc or repr(exc)}") from exc


def _file_system(url: str) -> tuple[Any, str]:
    try:
        core = import_module("fsspec.core")
    except ImportError:
        raise ConfigError(
            "object storage needs fsspec; pip install 'gencoro[storage]', and the package "
            "of the store, such as s3fs"
        ) from None
    try:
        # The current state of the store, not the one cached by fsspec.
        found: tuple[Any, str] = core.url_to_fs(url, use_listings_cache=False)
    except (ImportError, ValueError) as exc:  # such as "Install s3fs to access S3"
        raise ConfigError(f"{url}: {exc}") from None
    return found
