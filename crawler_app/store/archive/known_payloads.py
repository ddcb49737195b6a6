"""Payloads that another archive has, so that this one refers to them.

They are known by their digests, which are in the index of any archive: of a crawl of ours, of a
WACZ file, or a CDXJ file.  A revisit of such a payload names the URL and the date of the other
capture, by which replay tools find it; the record itself has no id in an index.
"""

import base64
import calendar
import contextlib
import gzip
import hashlib
import json
import sqlite3
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Self

from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import error_words
from crawler_app.base.urls import MAX_URL_CHARS
from crawler_app.store.archive.captures import (
    RESPONSE,
    Captures,
    database_path,
    table_errors,
)
from crawler_app.store.archive.record import RevisitReference

__all__ = ["KnownPayloads"]

TABLE = (
    "CREATE TABLE known (digest BLOB PRIMARY KEY, url TEXT, at INTEGER) WITHOUT ROWID"
)
INSERT = "INSERT OR IGNORE INTO known VALUES (?, ?, ?)"
FIND = "SELECT url, at FROM known WHERE digest IN (?, ?, ?) LIMIT 1"

# What a line that is no capture, or of another kind of index, raises.
NOT_A_LINE = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

# A longer line is no capture either; it is read in pieces of this size.
MAX_LINE_BYTES = 1024 * 1024

_Row = tuple[bytes, str, int]


class KnownPayloads:
    """The payloads of another archive.  It takes 100 bytes each, on disk.

    Args:
        source: The directory of a crawl, a WACZ file, or a CDXJ file, which may be compressed.

    Raises:
        ConfigError: it is none of these, or cannot be read.
    """

    def __init__(self, source: Path) -> None:
        # SQLite deletes a database without a name.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            self._db.execute(TABLE)
            self._db.execute("BEGIN")
            self._db.executemany(INSERT, _rows_of(source))
            self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def find(self, payload: bytes, body: bytes) -> RevisitReference | None:
        """Return the capture in the other archive that has a payload.

        Args:
            payload: As in our archive, with the framing of a chunked body.
            body: The same without it, as other programs digest it.
        """
        digests = (
            hashlib.sha1(payload).digest(),
            hashlib.sha1(body).digest(),
            hashlib.sha256(body).digest(),
        )
        found = self._db.execute(FIND, digests).fetchone()
        if found is None:
            return None
        url, at = found
        return RevisitReference(b"", url, at, is_identical=True)

    def close(self) -> None:
        """Delete the table."""
        self._db.close()


def _rows_of(source: Path) -> Iterator[_Row]:
    try:
        if source.is_dir():
            yield from _rows_of_directory(source)
        else:
            rows = _rows_of_lines(_index_lines(source))
            first = next(rows, None)
            if first is None:
                raise _not_usable(source, "it lists no captures")
            yield first
            yield from rows
    except (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as exc:
        # A RuntimeError is zipfile's, of a file that is encrypted or compressed in another way.
        raise _not_usable(source, error_words(exc, source)) from None


def _rows_of_directory(directory: Path) -> Iterator[_Row]:
    directories = [directory, *sorted(directory.glob("part-*"))]
    found = [each for each in directories if database_path(each).is_file()]
    if not found:
        raise _not_usable(directory, "it has no archive")
    for each in found:
        with (
            table_errors(each),
            contextlib.closing(Captures(each, read_only=True)) as captures,
        ):
            for capture in captures.in_order():
                if capture.kind == RESPONSE:
                    with contextlib.suppress(*NOT_A_LINE):
                        yield _row(capture.digest, capture.url, capture.at)


def _index_lines(source: Path) -> Iterator[bytes]:
    """Yield the lines of an index, or of those in a WACZ file."""
    if not zipfile.is_zipfile(source):
        with open(source, "rb") as file:
            yield from _lines(file)
        return
    with zipfile.ZipFile(source) as package:
        for name in package.namelist():
            if name.startswith("indexes/") and not name.endswith(".idx"):
                with package.open(name) as part:
                    yield from _lines(part)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    is_compressed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    with gzip.open(file) if is_compressed else contextlib.nullcontext(file) as lines:
        yield from iter(partial(lines.readline, MAX_LINE_BYTES), b"")


def _rows_of_lines(lines: Iterable[bytes]) -> Iterator[_Row]:
    """Yield the responses in an index; lines that say something else are skipped."""
    for line in lines:
        _, _, rest = line.partition(b" ")
        digits, _, fields = rest.partition(b" ")
        with contextlib.suppress(*NOT_A_LINE):
            capture = json.loads(fields)
            if capture.get("mime") == "warc/revisit":
                continue
            at = calendar.timegm(time.strptime(digits[:14].decode(), "%Y%m%d%H%M%S"))
            yield _row(capture["digest"], capture["url"], at)


def _row(digest: str, url: str, at: int) -> _Row:
    """Return a row.

    Raises:
        ValueError: it could not stand in a WARC record, as it is.
    """
    if not url.isprintable() or " " in url or len(url) > MAX_URL_CHARS or at < 0:
        raise ValueError(f"{url!r} at {at} is no capture")
    return _digest_of(digest), url, at


def _digest_of(text: str) -> bytes:
    """Return a digest, in base 32 or base 16.

    >>> _digest_of("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ").hex()
    'da39a3ee5e6b4b0d3255bfef95601890afd80709'
    """
    digits = text.rpartition(":")[2]
    if len(digits) == 2 * hashlib.sha256().digest_size:
        return bytes.fromhex(digits)
    return base64.b32decode(digits, casefold=True)


def _not_usable(source: Path, why: str) -> ConfigError:
    return ConfigError(
        f"--dedupe-against {source}: {why}; name the directory of a crawl, a WACZ file, or a "
        "CDXJ file"
    )
