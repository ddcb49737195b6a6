"""Sitemap parsing: XML, feeds or text, gzipped or not.

Pure.  Rule: for any input, time and memory are bounded, and the URLs before a limit are kept.
"""

import contextlib
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.sitemap_pieces import GZIP_MAGIC, CutError, content
from crawler_app.web.documents.sitemap_xml import MAX_LOC_CHARS, Locs, XmlReader

__all__ = ["ENTRY", "GZIP_MAGIC", "Sitemap", "is_sitemap", "parse_sitemap"]

# How a sitemap or a feed refers to a URL.
ENTRY = Mention("", Use.LINK, "sitemap entry", "")

# sitemaps.org, "Sitemap file requirements"; bytes after decompression.
MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024

SNIFFED_BYTES = 1024

# Types that are believed: some sitemaps are sent as text/html, but none as an image.
OTHER_TYPES = ("image/", "audio/", "video/", "font/")


# The end of the line belongs to it: of the last line, only a part may have arrived so far.
_LINE = re.compile(r"\n[^\S\n]*+(https?://[^\n]*+)(?=\n)", re.IGNORECASE)


@dataclass(slots=True)
class Sitemap:
    """The URLs that a sitemap lists, as written, without duplicates, in order.

    Attributes:
        pages: The URLs of a ``urlset``, a feed or a text sitemap.
        sitemaps: The URLs of a ``sitemapindex``.
        is_cut: Whether the list may be incomplete, because of a limit or an error.
    """

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    is_cut: bool = False


def is_sitemap(content_type: str, body: bytes, *, or_feed: bool = False) -> bool:
    """Return whether a body is an XML sitemap, judging by its beginning.

    False for text, since any text may contain URLs.

    Args:
        or_feed: Whether a feed counts as well.

    >>> is_sitemap("text/html", b"<?xml version='1.0'?><urlset>")
    True
    >>> is_sitemap("application/xml", b"<rss version='2.0'>")
    False
    """
    if content_type.lower().startswith(OTHER_TYPES):
        return False
    reader = XmlReader(Locs(MAX_URLS))
    with contextlib.suppress(CutError):
        reader.read(content(body[:SNIFFED_BYTES], content_type, SNIFFED_BYTES))
    return bool(reader.root) and (or_feed or not reader.is_feed)


def parse_sitemap(
    body: bytes,
    content_type: str = "",
    max_urls: int = MAX_URLS,
    max_bytes: int = MAX_BYTES,
) -> Sitemap:
    """Return the URLs of a sitemap or feed; none if the body is something else.

    Args:
        content_type: The header's value.
        max_urls: Maximum number of URLs to return.
        max_bytes: Maximum number of bytes to read, after decompression.

    Source: https://www.sitemaps.org/protocol.html

    >>> xml = b"<urlset><url><loc> http://a.test/b?c&amp;d </loc></url></urlset>"
    >>> parse_sitemap(xml)
    Sitemap(pages=['http://a.test/b?c&d'], sitemaps=[], is_cut=False)
    >>> parse_sitemap(b"http://a.test/1\\nhttp://a.test/2\\n", max_urls=1)
    Sitemap(pages=['http://a.test/1'], sitemaps=[], is_cut=True)
    """
    locs = Locs(max_urls)
    reader = XmlReader(locs)
    try:
        pieces = content(body, content_type, max_bytes)
        head = next(pieces, "")
        pieces = itertools.chain([head], pieces)
        if head.startswith("<"):
            reader.read(pieces)
        else:
            _read_lines(locs, pieces)
    except (CutError, MemoryError, TimeoutError):
        # A sandbox interrupts what takes too long.
        locs.is_cut = True
    urls = list(locs.urls)
    if reader.root == "sitemapindex":
        return Sitemap([], urls, locs.is_cut)
    return Sitemap(urls, [], locs.is_cut)


def _read_lines(locs: Locs, pieces: Iterable[str]) -> None:
    """Add the lines that are absolute URLs; sitemaps.org allows no others."""
    rest = "\n"
    for piece in itertools.chain(pieces, ["\n"]):
        text = (rest + piece).replace("\r", "\n")
        end = text.rfind("\n")
        for found in _LINE.finditer(text, 0, end + 1):
            locs.add(found[1])
        # Too long anyway, if it is cut.
        rest = text[end : end + MAX_LOC_CHARS + 2]
