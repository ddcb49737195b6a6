"""Verifies an uploaded object by the checksum that the store reports.

Pure, except that it reads the local file.  Each kind of store has its own field: S3 an ``ETag``,
Google ``md5Hash``, Azure ``content_md5``, a directory none.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["PART_BYTES", "agrees", "pieces_of", "sha256_of"]

# Of a multipart upload; S3 allows 10,000 parts, so an object may have 160 GB.
PART_BYTES = 16 * 2**20

# Read at a time, so that hashing an archive file takes little memory.
PIECE_BYTES = 2**20
MD5_DIGITS = 32


def agrees(path: Path, info: Mapping[str, Any]) -> bool:
    """Return whether the store's checksum matches a file; True if the store gives none.

    Args:
        info: The metadata of the object, from fsspec.
    """
    etag = str(info.get("ETag", "")).strip('"')
    digest, _, parts = etag.partition("-")
    if len(digest) == MD5_DIGITS:
        return digest == (_md5_of_parts(path) if parts else _md5(path).hex())
    settings = info.get("content_settings") or {}
    given = info.get("md5Hash") or settings.get("content_md5")
    if isinstance(given, str):
        given = base64.b64decode(given)
    return not given or bytes(given) == _md5(path)


def _md5(path: Path) -> bytes:
    return _digest(pieces_of(path), "md5").digest()


def _md5_of_parts(path: Path) -> str:
    """Return the ETag that S3 computes for a multipart object."""
    parts = (_digest([part], "md5").digest() for part in pieces_of(path, PART_BYTES))
    return _digest(parts, "md5").hexdigest()


def sha256_of(pieces: Iterable[bytes]) -> str:
    """Return the SHA-256 of the concatenated pieces, in hexadecimal.

    >>> sha256_of([b"a", b"bc"])[:16]
    'ba7816bf8f01cfea'
    """
    return _digest(pieces, "sha256").hexdigest()


def _digest(pieces: Iterable[bytes], name: str) -> "hashlib._Hash":
    digest = hashlib.new(name, usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest


def pieces_of(path: Path, size_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yield a file in pieces."""
    with path.open("rb") as file:
        while piece := file.read(size_bytes):
            yield piece
