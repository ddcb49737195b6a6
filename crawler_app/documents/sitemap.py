"""Sitemap parsing: XML or text, gzipped or not.

Pure.  Rule: for any input, time and memory are bounded, and the URLs before an error or a
limit are kept.

It uses expat directly, not `xml.etree`, which builds a tree that is not needed and does not
report entity declarations.  Elements are recognized by prefix and position, not by namespace,
because many sites use ``image:loc`` without declaring ``image``.
"""

import codecs
import contextlib
import itertools
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["GZIP_MAGIC", "Sitemap", "is_sitemap", "parse_sitemap"]

# sitemaps.org, "Sitemap file requirements"; bytes after decompression.
MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024

# sitemaps.org allows 2,048, RFC 9110 (4.1) 8,000; anything longer is not a URL.
MAX_LOC_CHARS = 8000

# XML elements, or lines of text: half a second's work.  50 MiB may hold twenty times as
# many, while 50,000 URLs in ten languages each need a million.
MAX_ITEMS = 2_000_000

# Deeper than any known extension, and shallow enough to need little memory.
MAX_DEPTH = 50

# A tag, comment or attribute: expat parses it again from its start with each piece until it
# is complete (CVE-2023-52425), and keeps it in memory.
MAX_TOKEN_BYTES = 4 * 64 * 1024

# Some servers compress a .gz file again, and clients decompress only once.
MAX_GZIP_LAYERS = 2
# A file that was appended to has several members; each costs far more than its 20 bytes.
MAX_GZIP_MEMBERS = 10_000

PIECE_BYTES = 64 * 1024
PACKED_PIECE_BYTES = 16 * 1024
SNIFFED_BYTES = 1024

ENTRY_BY_ROOT = {"urlset": "url", "sitemapindex": "sitemap"}

# Types that are believed: some sitemaps are sent as text/html, but none as an image.
OTHER_TYPES = ("image/", "audio/", "video/", "font/")

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WBITS = 31
_WHITE_SPACE = b" \t\r\n"
_TEXT_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(slots=True)
class Sitemap:
    """The URLs that a sitemap lists, as written, without duplicates, in order.

    Attributes:
        pages: The URLs of a ``urlset`` or a text sitemap.
        sitemaps: The URLs of a ``sitemapindex``.
        is_cut: Whether the list may be incomplete, because of a limit or an error.
    """

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    is_cut: bool = False


def is_sitemap(content_type: str, body: bytes) -> bool:
    """Return whether a body is an XML sitemap, judging by its beginning.

    False for text, since any text may contain URLs.

    >>> is_sitemap("text/html", b"<?xml version='1.0'?><urlset>")
    True
    >>> is_sitemap("application/xml", b"<rss version='2.0'>")
    False
    """
    if content_type.lower().startswith(OTHER_TYPES):
        return False
    reader = _Reader(MAX_URLS)
    with contextlib.suppress(Exception):  # as in `parse_sitemap`
        head = next(_content(body[:SNIFFED_BYTES], SNIFFED_BYTES), b"")
        if _is_xml(head):
            reader.new_parser().Parse(head, False)
    return bool(reader.entry)


def parse_sitemap(
    body: bytes, max_urls: int = MAX_URLS, max_bytes: int = MAX_BYTES
) -> Sitemap:
    """Return the URLs of a sitemap; none if the body is something else, such as a feed.

    Args:
        max_urls: Maximum number of URLs to return.
        max_bytes: Maximum number of bytes to read, after decompression.

    Source: https://www.sitemaps.org/protocol.html

    >>> xml = b"<urlset><url><loc> http://a.test/b?c&amp;d </loc></url></urlset>"
    >>> parse_sitemap(xml)
    Sitemap(pages=['http://a.test/b?c&d'], sitemaps=[], is_cut=False)
    >>> parse_sitemap(b"http://a.test/1\\nhttp://a.test/2\\n", max_urls=1)
    Sitemap(pages=['http://a.test/1'], sitemaps=[], is_cut=True)
    """
    reader = _Reader(max_urls)
    is_cut = False
    try:
        pieces = _content(body, max_bytes)
        head = next(pieces, b"")
        read = _read_xml if _is_xml(head) else _read_text
        read(reader, itertools.chain([head], pieces))
    except _NoSitemapError:
        pass
    except Exception:
        # From zlib, expat, the codec that the document names, or our own limits.
        is_cut = True
    found = list(reader.locs)
    if reader.entry == "sitemap":
        return Sitemap([], found, is_cut)
    return Sitemap(found, [], is_cut)


class _CutError(Exception):
    """A limit is reached."""


class _NoSitemapError(Exception):
    """The document is of another kind."""


class _Reader:
    """Handles expat's events, and collects the locs of the entries.

    Attributes:
        entry: The element name of the entries, without its prefix; empty until the root
            has been read.
    """

    def __init__(self, max_urls: int) -> None:
        self.entry = ""
        self.locs: dict[str, None] = {}
        self._max_urls = max_urls
        self._prefix = ""
        self._depth = 0
        self._items = 0
        self._is_in_entry = False
        self._loc: list[str] | None = None
        self._loc_chars = 0

    def new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._take_doctype
        parser.StartElementHandler = self._take_start
        parser.CharacterDataHandler = self._take_text
        parser.EndElementHandler = self._take_end
        return parser

    def count_item(self) -> None:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise _CutError("too many elements or lines")

    def add(self, loc: str) -> None:
        loc = loc.strip()
        if not loc or loc in self.locs:
            return
        if len(self.locs) >= self._max_urls:
            raise _CutError("too many URLs")
        self.locs[loc] = None

    def _take_doctype(
        self, name: str, system_id: str | None, public_id: str | None, has_subset: int
    ) -> None:
        # An internal subset declares entities and default attributes, which can expand to
        # any size; a sitemap needs none.  Expat does not fetch an external subset.
        if has_subset:
            raise _CutError("declarations")

    def _take_start(self, name: str, attributes: dict[str, str]) -> None:
        self.count_item()
        self._depth += 1
        if self._depth == 1:
            self._take_root(name)
        elif self._depth == 2:
            self._is_in_entry = name == self._prefix + self.entry
        elif self._depth == 3 and self._is_in_entry and name == self._prefix + "loc":
            self._loc = []
            self._loc_chars = 0
        elif self._depth > MAX_DEPTH:
            raise _CutError("too many levels")

    def _take_root(self, name: str) -> None:
        prefix, colon, local_name = name.rpartition(":")
        if local_name not in ENTRY_BY_ROOT:
            raise _NoSitemapError(name)
        self._prefix = prefix + colon
        self.entry = ENTRY_BY_ROOT[local_name]

    def _take_text(self, text: str) -> None:
        if self._loc is not None:
            self._loc_chars += len(text)
            if self._loc_chars <= MAX_LOC_CHARS:
                self._loc.append(text)

    def _take_end(self, name: str) -> None:
        if self._depth == 3 and self._loc is not None:
            loc, self._loc = self._loc, None
            if self._loc_chars <= MAX_LOC_CHARS:
                self.add("".join(loc))
        self._depth -= 1


def _is_xml(head: bytes) -> bool:
    """Return whether a document begins with a tag, in any encoding."""
    return b"<" in head[:4]


def _read_xml(reader: _Reader, pieces: Iterable[bytes]) -> None:
    parser = reader.new_parser()
    read_bytes = 0
    for piece in pieces:
        parser.Parse(piece, False)
        read_bytes += len(piece)
        if read_bytes - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
            raise _CutError("tag too long")
    parser.Parse(b"", True)


def _read_text(reader: _Reader, pieces: Iterable[bytes]) -> None:
    """Add the lines that are absolute URLs; sitemaps.org allows no others."""
    for line in _lines(pieces):
        reader.count_item()
        if line.lstrip()[:8].lower().startswith(("http://", "https://")):
            reader.add(line)


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text, except those that are too long."""
    iterator = iter(pieces)
    head = next(iterator, b"")
    encoding = _TEXT_BOMS.get(head[:2], "utf-8")
    texts = codecs.iterdecode(itertools.chain([head], iterator), encoding, "replace")
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).replace("\r", "\n").split("\n")
        yield from (line for line in lines if len(line) <= MAX_LOC_CHARS)
        # One character over the limit is enough to know that the line is too long.
        rest = rest[: MAX_LOC_CHARS + 1]
    if len(rest) <= MAX_LOC_CHARS:
        yield rest


def _content(body: bytes, max_bytes: int) -> Iterator[bytes]:
    """Yield the pieces of a body, decompressed and without leading white space."""
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
    return _bounded(_without_white_space(pieces), max_bytes)


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
            raise _CutError("too many bytes")


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
                    raise _CutError("too many gzip members")
                inflate = zlib.decompressobj(_GZIP_WBITS)
            piece = inflate.decompress(packed, PIECE_BYTES)
            if piece:
                yield piece
            packed = inflate.unconsumed_tail
            if inflate.eof:
                packed, inflate = inflate.unused_data, None
    if inflate is not None:
        raise _CutError("truncated gzip")
