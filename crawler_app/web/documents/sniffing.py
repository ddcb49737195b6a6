"""The type of a body without a Content-Type, according to its first bytes.

Pure.  The tables are those of the WHATWG MIME Sniffing standard, section 7.1.  Not
recognized are MP4, WebM, and MP3 without a tag, which need more than a table: they are
``application/octet-stream`` here, and no page either way.
"""

import re

__all__ = ["sniffed_type"]

# The standard's "resource header".
HEADER_BYTES = 1445

_TAGS = rb"html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_HTML = re.compile(
    rb"[\t\n\x0c\r ]*<(?:(?:!doctype html|" + _TAGS + rb")[ >]|!--)", re.IGNORECASE
)
_XML = re.compile(rb"[\t\n\x0c\r ]*<\?xml")

_TYPE_BY_PATTERN = {
    rb"%!PS-Adobe-": "application/postscript",
    rb"\xfe\xff..|\xff\xfe..|\xef\xbb\xbf.": "text/plain",
    rb"\x00\x00[\x01\x02]\x00": "image/x-icon",
    rb"BM": "image/bmp",
    rb"GIF8[79]a": "image/gif",
    rb"RIFF....WEBPVP": "image/webp",
    rb"\x89PNG\r\n\x1a\n": "image/png",
    rb"\xff\xd8\xff": "image/jpeg",
    rb"FORM....AIFF": "audio/aiff",
    rb"ID3": "audio/mpeg",
    rb"OggS\x00": "application/ogg",
    rb"MThd\x00\x00\x00\x06": "audio/midi",
    rb"RIFF....AVI ": "video/avi",
    rb"RIFF....WAVE": "audio/wave",
    rb"\x1f\x8b\x08": "application/x-gzip",
    rb"PK\x03\x04": "application/zip",
    rb"Rar!\x1a\x07\x00": "application/x-rar-compressed",
}
_PATTERNS = [
    (re.compile(pattern, re.DOTALL), mime) for pattern, mime in _TYPE_BY_PATTERN.items()
]
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def sniffed_type(body: bytes, *, is_scriptable: bool = True) -> str:
    """Return the MIME type of a body that no valid Content-Type describes.

    Args:
        is_scriptable: Whether it may be HTML, XML or PDF; not so after
            ``X-Content-Type-Options: nosniff``.

    >>> sniffed_type(b"<!DOCTYPE html><title>Home</title>")
    'text/html'
    >>> sniffed_type(b"plain words"), sniffed_type(bytes(4))
    ('text/plain', 'application/octet-stream')
    """
    header = body[:HEADER_BYTES]
    if is_scriptable:
        if _HTML.match(header):
            return "text/html"
        if _XML.match(header):
            return "text/xml"
        if header.startswith(b"%PDF-"):
            return "application/pdf"
    for pattern, mime in _PATTERNS:
        if pattern.match(header):
            return mime
    return "application/octet-stream" if _BINARY.search(header) else "text/plain"
