"""The text of a sitemap, unpacked and decoded, in pieces of limited size.

Pure.  Rule: time and memory are bounded for any input; a limit raises `CutError`
after all pieces before it.
"""

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import cast

import webencodings

from crawler_app.web.documents.charset import charset_of, charset_of_xml
from crawler_app.web.httpclient.codings import Decoder
from crawler_app.web.httpclient.errors import BadResponseError

__all__ = ["GZIP_MAGIC", "CutError", "content"]

# Some servers compress a .gz file again, and clients decompress only once.
MAX_GZIP_LAYERS = 2

PIECE_BYTES = 16 * 1024

GZIP_MAGIC = b"\x1f\x8b"

# PHP often emits blank lines before a document.
_BLANK = " \t\r\n\ufeff"

# XML in UTF-16 needs no byte order mark.
_UTF_16 = {b"<\0": "utf-16le", b"\0<": "utf-16be"}


class CutError(Exception):
    """A limit is reached, or the rest cannot be read."""


def content(body: bytes, content_type: str, max_bytes: int) -> Iterator[str]:
    """Yield the pieces of a body, without leading white space and byte order mark.

    Bytes that are invalid in UTF-8 become lone surrogates, as Python's "surrogateescape"
    has it.

    Args:
        content_type: The header's value.
        max_bytes: The most that is read, after decompression.

    >>> body = "<?xml version='1.0' encoding='koi8-r'?><p>\u0434</p>"
    >>> "".join(content(body.encode("koi8-r"), "", 1000)).endswith("\u0434</p>")
    True
    """
    pieces: Iterator[bytes] = (
        body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES)
    )
    for _ in range(MAX_GZIP_LAYERS):
        head = next(pieces, b"")
        pieces = itertools.chain([head], pieces)
        if not head.startswith(GZIP_MAGIC):
            break
        pieces = _bounded(_gunzipped(pieces), max_bytes)
    texts = _decoded(_bounded(pieces, max_bytes), content_type)
    for text in texts:
        if text := text.lstrip(_BLANK):
            yield text
            break
    yield from texts


def _decoded(pieces: Iterator[bytes], content_type: str) -> Iterator[str]:
    """Decode pieces as browsers do: a byte order mark, the header, the XML declaration."""
    head = next(pieces, b"")
    name = charset_of(head[:3], content_type) or _UTF_16.get(head[:2], "")
    name = name or charset_of_xml(head.lstrip()) or "utf-8"
    errors = "surrogateescape" if name == "utf-8" else "replace"
    pieces = itertools.chain([head], pieces)
    texts, _ = webencodings.iter_decode(pieces, name, errors)
    return cast("Iterator[str]", texts)


def _bounded(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    left = max_bytes
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise CutError("too many bytes")


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    decoder = Decoder("gzip", sys.maxsize)
    try:
        for packed in pieces:
            yield from decoder.pieces(packed)
        decoder.end()
    except BadResponseError as exc:
        raise CutError(str(exc)) from None
