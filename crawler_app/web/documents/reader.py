"""Reads documents within limits: small ones here, all others in a sandbox.

A limit of the sandbox ends the reading of a page, and what is known by then counts.  Sending a
small page to another process would take longer than parsing it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web.documents.html import Page, parse_html
from crawler_app.web.documents.outline import Outline, outline_of
from crawler_app.web.documents.packing import Record, pack, unpack
from crawler_app.web.documents.pdf import read_pdf
from crawler_app.web.documents.sitemap import GZIP_MAGIC, Sitemap, parse_sitemap
from crawler_app.web.sandbox import LimitExceeded, Sandbox

__all__ = ["LimitExceeded", "Reader"]

T = TypeVar("T")

# The largest page takes 30 ms, with or without the places of all references.  Nineteen in
# twenty pages of manuals are smaller.
SMALL_PAGE_BYTES = 512 * 1024
SMALL_PAGE_TAGS = 10_000
SMALL_OUTLINE_TAGS = 3_000

# Of "<a>".
MIN_TAG_BYTES = 3

# A longer page would take the memory that reading its beginning needs.
MAX_PAGE_BYTES = 16 * 1024 * 1024

# If a limit ends the process that reads a page, only this much of the page is read.
FIRST_BYTES = 128 * 1024

# Takes some milliseconds.
SMALL_SITEMAP_BYTES = 32 * 1024

# The same for a style sheet.
SMALL_FILE_BYTES = 64 * 1024


class Reader:
    """Reads pages and sitemaps; must be closed."""

    def __init__(self) -> None:
        self._sandbox = Sandbox()

    def page(
        self,
        body: bytes,
        content_type: str,
        *,
        with_text: bool,
        with_anchors: bool = False,
        with_assets: bool = False,
        with_outline: bool = False,
        agent: str,
    ) -> Subgenerator[Page]:
        """Parse a page; see `parse_html`."""
        parse = partial(
            parse_html,
            content_type=content_type,
            with_text=with_text,
            with_anchors=with_anchors,
            with_assets=with_assets,
            with_outline=with_outline,
            agent=agent,
        )
        most_tags = SMALL_OUTLINE_TAGS if with_outline else SMALL_PAGE_TAGS
        # Counting takes a twentieth of the time of the reading.
        have_few_tags = (
            len(body) <= MIN_TAG_BYTES * most_tags or body.count(b"<") <= most_tags
        )
        if len(body) <= SMALL_PAGE_BYTES and have_few_tags:
            return parse(body)
        page = yield from self._read(Page, parse, body[:MAX_PAGE_BYTES])
        if page is None:
            page = parse(body[:FIRST_BYTES])
            page.is_partial = True
        page.is_partial |= len(body) > MAX_PAGE_BYTES
        return page

    def pdf(self, body: bytes) -> Subgenerator[Page]:
        """Read a PDF file, always in the sandbox; see `read_pdf`."""
        page = yield from self._read(Page, read_pdf, body)
        return page or Page(is_partial=True)

    def sitemap(self, body: bytes, content_type: str) -> Subgenerator[Sitemap]:
        """Parse a sitemap; see `parse_sitemap`."""
        if len(body) <= SMALL_SITEMAP_BYTES and not body.startswith(GZIP_MAGIC):
            return parse_sitemap(body, content_type)
        found = yield from self._read(Sitemap, parse_sitemap, body, content_type)
        return found or Sitemap(is_cut=True)

    def outline(self, body: bytes, content_type: str) -> Subgenerator[Outline]:
        """Return what a document refers to, with places; see `outline_of`."""
        if len(body) <= SMALL_FILE_BYTES:
            return outline_of(body, content_type)
        outline = yield from self._read(Outline, outline_of, body, content_type)
        return outline or Outline(is_partial=True)

    def within_limits(self, function: Callable[..., T], *args: Any) -> Subgenerator[T]:
        """Return the result of another function, called in the sandbox.

        Args:
            function: Its result consists of built-in types.

        Raises:
            LimitExceeded: it took too much time or memory.
        """
        return self._sandbox.call(function, *args)

    def _read(
        self, kind: type[Record], read: Callable[..., Record], *args: Any
    ) -> Subgenerator[Record | None]:
        """Return the result of a function of this package, called in the sandbox.

        None if it took too much time or memory.
        """
        try:
            packed = yield from self._sandbox.call(_packed, read, *args)
        except LimitExceeded:
            return None
        return unpack(kind, packed)

    def close(self) -> None:
        self._sandbox.close()


def _packed(read: Callable[..., Any], *args: Any) -> dict[str, Any]:
    return pack(read(*args))
