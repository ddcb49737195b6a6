"""Charset detection and decoding of a page, and what its links are sent in.

Pure.  The order is that of the WHATWG HTML standard (13.2.3.2): a byte order mark, the
Content-Type header, a ``<meta>`` in the head, an XML declaration.  A page that declares none
is UTF-8 if it decodes as such; otherwise, as in browsers, its charset is what its bytes look
most like.
"""

import codecs
import contextlib
import functools
import re
from collections.abc import Iterator
from urllib.parse import quote

import chardet
import webencodings
from chardet import EncodingEra
from turbohtml import Token, TokenType, tokenize

__all__ = ["as_sent", "charset_of", "charset_of_xml", "decode_html"]

# WHATWG has a <meta> count only within the first 1024 bytes, or later at the price of
# parsing the page again.  Like Chromium, WebKit and Firefox, we search these bytes and, if
# the head is longer, all of it: many heads begin with long scripts.
META_WITHIN_BYTES = 1024

# Most end before; decoding the rest of the page as well would take longer than the search.
SHORT_HEAD_BYTES = 8 * 1024

FALLBACK = "windows-1252"

# Examined where a page declares no charset, from a bit before the first byte that is not ASCII.
DETECTED_BYTES = 16 * 1024
CONTEXT_BYTES = 100

# Fewer bytes that are not ASCII say nothing.
MIN_EVIDENCE = 6

# Bytes for each one that UTF-8 does not allow; in text in another charset they are hardly two.
MIN_WHOLE = 20
_NOT_ASCII = re.compile(rb"[\x80-\xff]")

# What browsers call the charsets that the detector has other names for.
_LABELS = {
    "CP874": "windows-874",
    "CP932": "shift_jis",
    "CP949": "euc-kr",
    "GB18030": "gbk",
    "ISO-8859-8": "windows-1255",
}

# WHATWG Encoding, 10.1: GBK is decoded as gb18030, which contains it.
_DECODERS = {"gbk": "gb18030"}

_NAME_BY_BOM = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16le",
    codecs.BOM_UTF16_BE: "utf-16be",
}
# WHATWG: a declaration that can be read as ASCII is not in UTF-16, whatever it says.
_MEANT = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
_PARAMETER = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
# Precedent: Chromium.
_IN_HEAD = ("base", "link", "meta", "noscript", "object", "script", "style", "title")
_AROUND_HEAD = ("head", "html")
_XML = re.compile(rb"""<\?xml\s[^>]{0,99}?\bencoding\s*=\s*["']([^"'>]+)""")

# Pieces of a link.
_NOT_ASCII_IN_LINK = re.compile(r"[^\x00-\x7f]+")
# The second byte of a character may be ASCII; in a query, browsers escape only a few of
# those (WHATWG URL, 1.3).  Without "&" and ";", of "&#8364;" for what a charset lacks.
_SAFE_IN_QUERY = "!$%()*+,/:=?@[\\]^`{|}"


def decode_html(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of a page and the name of the charset it was decoded with.

    Bytes that are invalid in that charset become U+FFFD; no exception is raised.

    Args:
        content_type: The header's value.

    >>> decode_html("привет".encode("cp1251"), "text/html; charset=windows-1251")
    ('привет', 'windows-1251')
    """
    name = charset_of(body, content_type)
    if name in ("", "utf-8"):  # nearly all pages
        try:
            return body.removeprefix(codecs.BOM_UTF8).decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            name = name or _detected(body)
    errors = _EUC_JP_ERRORS if name == "euc-jp" else "replace"
    text, _ = webencodings.decode(body, _DECODERS.get(name, name), errors)
    return text, name


_EUC_JP_ERRORS = f"{__name__}.euc_jp"


def _in_shift_jis(error: UnicodeError) -> tuple[str, int]:
    """Return a character of EUC-JP that browsers know and Python does not, such as "①".

    Both charsets have the same rows (WHATWG Encoding, 12.1 and 12.3), and Windows' Shift_JIS
    knows all characters in them.

    >>> decode_html(b"\\xad\\xa1", "text/html; charset=euc-jp")[0]
    '①'
    """
    assert isinstance(error, UnicodeDecodeError)
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and all(0xA0 < each < 0xFF for each in pair):
        row, cell = pair[0] - 0xA0, pair[1] - 0xA0
        lead = (row + 1) // 2 + (0x80 if row < 63 else 0xC0)
        trail = cell + (0x3F + (cell > 63) if row % 2 else 0x9E)
        with contextlib.suppress(UnicodeDecodeError):
            return bytes((lead, trail)).decode("cp932"), error.start + 2
    return "\ufffd", error.end


codecs.register_error(_EUC_JP_ERRORS, _in_shift_jis)


def _detected(body: bytes) -> str:
    """Return the charset that the bytes of a page look most like.

    >>> _detected("<p>Вот страница без объявления кодировки".encode("koi8-r"))
    'koi8-r'
    >>> _detected("<p>Вот страница без объявления".encode() + b"\\xa9")
    'utf-8'
    """
    first = _NOT_ASCII.search(body)
    start = max(0, first.start() - CONTEXT_BYTES) if first else 0
    sample = body[start : start + DETECTED_BYTES]
    evidence = len(_NOT_ASCII.findall(sample))
    if evidence < MIN_EVIDENCE:
        return FALLBACK
    broken = sample.decode("utf-8", "replace").count("\ufffd")
    if broken * MIN_WHOLE < evidence:
        return "utf-8"  # with a piece that came from elsewhere
    era = EncodingEra.MODERN_WEB | EncodingEra.LEGACY_ISO
    label = chardet.detect(sample, encoding_era=era)["encoding"] or FALLBACK
    name = _whatwg_name(_LABELS.get(label.upper(), label))
    return FALLBACK if name in ("", *_MEANT) else name


def charset_of(body: bytes, content_type: str = "") -> str:
    """Return the charset that a page declares, by its WHATWG name; empty if none.

    >>> charset_of(b"<meta charset=latin1>")
    'windows-1252'
    """
    for bom, name in _NAME_BY_BOM.items():
        if body.startswith(bom):
            return name
    if name := charset_of_header(content_type):
        return name
    return _charset_in_head(body) or charset_of_xml(body)


def charset_of_xml(body: bytes) -> str:
    """Return the charset that an XML declaration states; empty if none.

    >>> charset_of_xml(b"<?xml version='1.0' encoding='gb2312'?>")
    'gbk'
    """
    declared = _XML.match(body)
    return _meant_by(declared[1].decode("latin-1")) if declared else ""


def _charset_in_head(body: bytes) -> str:
    first = map(_declared_in, _tokens(body[:META_WITHIN_BYTES]))
    return next(filter(None, first), "") or _charset_up_to_the_body(body)


def _charset_up_to_the_body(body: bytes) -> str:
    for size in (SHORT_HEAD_BYTES, len(body)):
        for token in _tokens(body[:size]):
            if name := _declared_in(token):
                return name
            is_start = token.type is TokenType.START_TAG and token.tag in _AROUND_HEAD
            if token.tag and token.tag not in _IN_HEAD and not is_start:
                return ""
    return ""


def _tokens(body: bytes) -> Iterator[Token]:
    # The tokenizer takes what is in a <noscript> for text, and browsers do not here.
    return tokenize(body.decode("latin-1").replace("<noscript", "<object"))


def _declared_in(token: Token) -> str:
    if token.tag != "meta":
        return ""
    attributes = {name: value or "" for name, value in token.attrs or ()}
    if "charset" in attributes:
        return _meant_by(attributes["charset"])
    if attributes.get("http-equiv", "").lower() != "content-type":
        return ""
    declared = _PARAMETER.search(attributes.get("content", ""))
    return _meant_by(declared[1]) if declared else ""


def charset_of_header(content_type: str) -> str:
    declared = _PARAMETER.search(content_type)
    return _whatwg_name(declared[1]) if declared else ""


def _meant_by(label: str) -> str:
    name = _whatwg_name(label)
    return _MEANT.get(name, name)


# The pages of a site have few different ones.
@functools.lru_cache(maxsize=64)
def _whatwg_name(label: str) -> str:
    encoding = webencodings.lookup(label)
    return encoding.name if encoding else ""


def as_sent(links: list[str], charset: str) -> list[str]:
    """Return links as a browser sends them from a page in this charset.

    >>> as_sent(["/\u00fc?\u00fc"], "windows-1252")
    ['/\u00fc?%FC']
    """
    # The output encoding of UTF-16 is UTF-8 too (WHATWG Encoding, 4.3).
    if charset.startswith("utf-"):
        return links
    return [_query_in_charset(link, charset) for link in links]


def _query_in_charset(link: str, charset: str) -> str:
    """Escape a link's query in the page's charset; paths are always UTF-8.

    Source: WHATWG URL, 4.4 (query state, "encoding override").
    """
    if link.isascii() or "?" not in link:
        return link
    path, mark, query = link.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if "#" in path:
        return link

    def escape(match: re.Match[str]) -> str:
        octets = webencodings.encode(match[0], charset, "xmlcharrefreplace")
        return quote(octets, _SAFE_IN_QUERY)

    # ASCII is left to `join`; only other characters depend on the charset.
    query = _NOT_ASCII_IN_LINK.sub(escape, query)
    return path + mark + query + hash_mark + fragment
