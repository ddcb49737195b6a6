"""Gzip members: each record is compressed by itself, so it can be read alone.

Rule: a file is not trusted.  The process may have died in the middle of a member, the
disk may have lost some of the bytes before another, and a member of a file from elsewhere
may inflate to a thousand times its size.

Source: RFC 1952 (gzip).
"""

import logging
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crawler_app.base.errors import ArchiveError
from crawler_app.base.safe_files import open_regular
from crawler_app.store.archive.block import HeadFacts
from crawler_app.store.archive.record import Record, parse_record

__all__ = [
    "MAX_RECORD_BYTES",
    "Member",
    "TooLargeError",
    "compress",
    "is_compressed",
    "max_record_bytes",
    "members",
    "members_in",
    "read_member",
]

logger = logging.getLogger(__name__)

try:
    from isal import isal_zlib
except ImportError:  # it is not made for every kind of processor
    isal_zlib = None  # type: ignore[assignment]

# Of isal, for pages of 34 KB: 50 us each, and 13 % more bytes than zlib's level 5 makes in
# 310 us.  Its level 3 takes 94 us and makes 9 % more.
ISAL_LEVEL = 2

# Of zlib, without isal.  For a page of 95 KB, level 6 makes 3 % fewer bytes in 32 % more
# time, and level 4 takes a fifth less time for 6 % more bytes; for a page of 2.4 KB they
# are all alike.
LEVEL = 5

# A payload that is already compressed is stored: 13 KB of gzip take 4 us instead of 140.
# The WARC fields are then stored too, some 400 bytes more; from 4 KB of payload on, that
# is less than a tenth.
MIN_STORED_BYTES = 4096
_COMPRESSED_TYPES = ("image/", "audio/", "video/", "font/")
_COMPRESSED_MIMES = frozenset(
    f"application/{name}"
    for name in ("gzip", "x-gzip", "zip", "zstd", "x-7z-compressed", "x-xz", "x-bzip2")
)
_UNCOMPRESSED_MIMES = frozenset(("image/svg+xml", "image/bmp", "image/x-icon"))

# The first bytes of each of our members, which have neither a name nor a time.
_MAGIC = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
_GZIP = 16 + zlib.MAX_WBITS

# Most records are smaller than the first, which is read at once; after damage, the next member
# is searched for in pieces of the second, which only saves calls.
PIECE_BYTES = 64 * 1024
SEARCHED_BYTES = 1024 * 1024


# Of a record, the fields and the head of the message.
MARGIN_BYTES = 2**20

# With the default limit of a body.
MAX_RECORD_BYTES = 16 * 2**20 + MARGIN_BYTES


class TooLargeError(ArchiveError):
    """A record inflates to more than the limit."""


class Member(NamedTuple):
    """A record in a file, and where it lies."""

    offset: int
    length: int
    record: Record


def is_compressed(facts: HeadFacts, payload_bytes: int) -> bool:
    """Return whether a payload is already compressed, so that deflating it is useless."""
    if payload_bytes < MIN_STORED_BYTES:
        return False
    mime = facts.mime
    if mime.startswith(_COMPRESSED_TYPES):
        return mime not in _UNCOMPRESSED_MIMES
    return bool(facts.content_encoding) or mime in _COMPRESSED_MIMES


def compress(record: bytes, *, is_stored: bool = False) -> bytes:
    """Return a record as a gzip member.

    Args:
        is_stored: Do not deflate it.
    """
    if isal_zlib is not None and not is_stored:
        return isal_zlib.compress(record, ISAL_LEVEL, _GZIP)
    # A compressor first clears its tables, which for a request takes twice as long as
    # everything else; so they are only as large as the record needs.
    wbits = min(max((len(record) + 262).bit_length(), 10), zlib.MAX_WBITS)
    mem_level = min(wbits - 5, 8)
    compressor = zlib.compressobj(
        0 if is_stored else LEVEL, zlib.DEFLATED, 16 + wbits, mem_level
    )
    return compressor.compress(record) + compressor.flush()


def max_record_bytes(max_body_bytes: int) -> int:
    """Return the limit of a record whose body has a limit."""
    return max_body_bytes + MARGIN_BYTES


def read_member(
    file: BinaryIO, offset: int, max_bytes: int = MAX_RECORD_BYTES
) -> Member:
    """Read the member that begins at an offset; the whole record is held in memory.

    Args:
        max_bytes: Maximum size of the record after decompression.

    Raises:
        TooLargeError: the record is larger.
        ArchiveError: no member begins there, or it is damaged or truncated.
    """
    file.seek(offset)
    try:
        record, length = _inflated(file, max_bytes)
        return Member(offset, length, parse_record(record))
    except TooLargeError as exc:
        raise TooLargeError(f"the record at byte {offset} has {exc}") from None
    except (zlib.error, ArchiveError) as exc:
        raise ArchiveError(f"no complete record at byte {offset}: {exc}") from None


def _inflated(file: BinaryIO, max_bytes: int) -> tuple[bytes, int]:
    """Return the contents of a member, and its own length."""
    decompressor = zlib.decompressobj(_GZIP)
    pieces: list[bytes] = []
    length = size_bytes = 0
    while not decompressor.eof:
        data = file.read(PIECE_BYTES)
        if not data:
            raise ArchiveError("it is truncated")
        length += len(data)
        pieces.append(decompressor.decompress(data, max_bytes + 1 - size_bytes))
        size_bytes += len(pieces[-1])
        if size_bytes > max_bytes:
            raise TooLargeError(f"more than {max_bytes} bytes")
    return b"".join(pieces), length - len(decompressor.unused_data)


def members(
    path: Path, offset: int, max_bytes: int = MAX_RECORD_BYTES
) -> Iterator[Member]:
    """Return the members of a file from an offset on; damaged parts are skipped.

    Args:
        max_bytes: Maximum size of a record; larger ones are skipped too.
    """
    with open(path, "rb", opener=open_regular) as file:
        yield from members_in(file, path, offset, max_bytes)


def members_in(
    file: BinaryIO,
    path: Path,
    offset: int,
    max_bytes: int = MAX_RECORD_BYTES,
    end: float = math.inf,
) -> Iterator[Member]:
    """Return the members of an open file that begin before an offset, as `members` does."""
    next_offset: int | None = offset
    while next_offset is not None and next_offset < end:
        try:
            member = read_member(file, next_offset, max_bytes)
        except ArchiveError as exc:
            if isinstance(exc, TooLargeError):
                logger.warning("%s: %s, and is skipped", path, exc)
            # Nearly always at the end of the file, where a process was killed.
            next_offset = _find_magic(file, next_offset + 1)
            continue
        yield member
        next_offset = member.offset + member.length


def _find_magic(file: BinaryIO, offset: int) -> int | None:
    """Return the next offset at which a member may begin."""
    kept = b""
    file.seek(offset)
    while data := file.read(SEARCHED_BYTES):
        found = (kept + data).find(_MAGIC)
        if found >= 0:
            return offset - len(kept) + found
        offset += len(data)
        kept = (kept + data)[-len(_MAGIC) + 1 :]
    return None
