"""The content of a sitemap, unpacked and in UTF-8, in pieces of limited size.

Pure.  Rule: time and memory are bounded for any input; a limit raises `CutError`
after all pieces before it.
"""

import codecs
import itertools
import zlib
from collections.abc import Iterable, Iterator

import webencodings

from crawler_app.web.documents.charset import charset_of, charset_of_xml

__all__ = ["GZIP_MAGIC", "CutError", "content"]

# Some servers compress a .gz file again, and clients decompress only once.
MAX_GZIP_LAYERS = 2
# A file that was appended to has several members; each costs far more than its 20 bytes.
MAX_GZIP_MEMBERS = 10_000

PIECE_BYTES = 64 * 1024
PACKED_PIECE_BYTES = 16 * 1024

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WBITS = 31
_WHITE_SPACE = b" \t\r\n"

# XML in UTF-16 needs no byte order mark.
_UTF_16 = {b"<\0": "utf-16le", b"\0<": "utf-16be"}


class CutError(Exception):
    """A limit is reached."""


def content(body: bytes, content_type: str, max_bytes: int) -> Iterator[bytes]:
    """Yield the pieces of a body, without leading white space and byte order mark.

    Args:
        content_type: The header's value.
        max_bytes: The most that is read, after decompression.

    >>> body = "<?xml version='1.0' encoding='koi8-r'?><p>\u0434</p>"
    >>> b"".join(content(body.encode("koi8-r"), "", 1000)).decode().endswith("\u0434</p>")
    True
    """
    pieces: Iterator[bytes] = (
        body[start : start + PACKED_PIECE_BYTES]
        for start in range(0, len(body), PACKED_PIECE_BYTES)
    )
    for _ in range(MAX_GZIP_LAYERS):
        head = next(pieces, b"")
        pieces = itertools.chain([head], pieces)
        if not head.startswith(GZIP_MAGIC):
            break
        pieces = _bounded(_gunzipped(pieces), max_bytes)
    return _bounded(_without_white_space(_in_utf_8(pieces, content_type)), max_bytes)


def _in_utf_8(pieces: Iterator[bytes], content_type: str) -> Iterator[bytes]:
    """Decode pieces as browsers do: a byte order mark, the header, the XML declaration.

    Expat knows no encoding with more than one byte for a character but UTF-8 and UTF-16.
    """
    head = next(pieces, b"")
    pieces = itertools.chain([head], pieces)
    if head.startswith(codecs.BOM_UTF8):
        return pieces
    name = charset_of(head[:2], content_type) or _UTF_16.get(head[:2], "")
    name = name or charset_of_xml(head.lstrip(_WHITE_SPACE))
    if name in ("", "utf-8"):
        return pieces
    decoder = webencodings.IncrementalDecoder(name)
    ends = itertools.chain(zip(pieces, itertools.repeat(False)), [(b"", True)])
    return (decoder.decode(piece, final=last).encode() for piece, last in ends)


def _without_white_space(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Drop blank lines before a document: PHP often emits them, and XML forbids them."""
    for piece in pieces:
        piece = piece.lstrip(_WHITE_SPACE)
        if piece:
            if piece.startswith(codecs.BOM_UTF8):
                piece = piece.removeprefix(codecs.BOM_UTF8).lstrip(_WHITE_SPACE)
            yield piece
            break
    yield from pieces


def _bounded(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    left = max_bytes
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise CutError("too many bytes")


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress one layer of gzip, in pieces of limited size.

    Not with `gzip.GzipFile`, which searches for the end of a file name byte by byte.
    """
    inflate = None
    members = 0
    for packed in pieces:
        while packed:
            if inflate is None:
                if not packed.startswith(GZIP_MAGIC[:1]):
                    return  # padding
                members += 1
                if members > MAX_GZIP_MEMBERS:
                    raise CutError("too many gzip members")
                inflate = zlib.decompressobj(_GZIP_WBITS)
            piece = inflate.decompress(packed, PIECE_BYTES)
            if piece:
                yield piece
            packed = inflate.unconsumed_tail
            if inflate.eof:
                packed, inflate = inflate.unused_data, None
    if inflate is not None:
        raise CutError("truncated gzip")
