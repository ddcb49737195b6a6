"""Charset detection and decoding of a page.

Pure.  The order is that of the WHATWG HTML standard (13.2.3.2): a byte order mark, the
Content-Type header, a ``<meta>`` near the top.  A page that declares none is UTF-8 if it
decodes as such, and windows-1252 otherwise.
"""

import codecs
import functools
import re

import webencodings

__all__ = ["charset_of", "decode_html"]

# WHATWG: a <meta> counts only within the first 1024 bytes.
META_WITHIN_BYTES = 1024

FALLBACK = "windows-1252"

_NAME_BY_BOM = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16le",
    codecs.BOM_UTF16_BE: "utf-16be",
}
_PARAMETER = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(
    rb"""[\s"'/;]charset\s*=\s*["']?\s*([^\s"'/;]+)""", re.IGNORECASE
)
_CONTENT = re.compile(rb"""\scontent\s*=\s*("[^"]*"|'[^']*'|[^\s"']*)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


def decode_html(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of a page and the name of the charset it was decoded with.

    Bytes that are invalid in that charset become U+FFFD; no exception is raised.

    Args:
        content_type: The header's value.

    >>> decode_html("привет".encode("cp1251"), "text/html; charset=windows-1251")
    ('привет', 'windows-1251')
    """
    name = charset_of(body, content_type)
    if not name:
        try:
            return body.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            name = FALLBACK
    text, encoding = webencodings.decode(body, name, errors="replace")
    return text, encoding.name


def charset_of(body: bytes, content_type: str = "") -> str:
    """Return the charset that a page declares, by its WHATWG name; empty if none.

    >>> charset_of(b"<meta charset=latin1>")
    'windows-1252'
    """
    for bom, name in _NAME_BY_BOM.items():
        if body.startswith(bom):
            return name
    if name := _charset_of_header(content_type):
        return name
    for meta in _META.findall(_COMMENT.sub(b"", body[:META_WITHIN_BYTES])):
        if name := _charset_of_meta(meta):
            # A <meta> that can be read as ASCII is not in UTF-16, whatever it says.
            return "utf-8" if name.startswith("utf-16") else name
    return ""


# The pages of a site have few different headers and <meta>s.
@functools.lru_cache(maxsize=64)
def _charset_of_header(content_type: str) -> str:
    declared = _PARAMETER.search(content_type)
    return _whatwg_name(declared[1]) if declared else ""


@functools.lru_cache(maxsize=64)
def _charset_of_meta(meta: bytes) -> str:
    if b"http-equiv" not in meta.lower():
        meta = _CONTENT.sub(b" ", meta)  # a description may mention a charset too
    declared = _META_CHARSET.search(meta)
    return _whatwg_name(declared[1].decode("latin-1")) if declared else ""


def _whatwg_name(label: str) -> str:
    encoding = webencodings.lookup(label)
    return encoding.name if encoding else ""
