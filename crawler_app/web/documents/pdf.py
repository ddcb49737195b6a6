"""Reads a PDF file: title, text, and the links that viewers follow.

The library is PDFium, in C++, by the extra ``pdf``.  Rule: files are read in a sandbox only,
whose limits bound the time and the memory.  What was read by then counts.
"""

import contextlib
import ctypes
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

from crawler_app.base.http_headers import media_type
from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import MAX_URL_CHARS, without_fragment
from crawler_app.web.documents.html import MAX_TITLE_CHARS, Page
from crawler_app.web.documents.outline import MAX_TEXT_CHARS as MAX_LINK_TEXT_CHARS
from crawler_app.web.documents.outline import Outline
from crawler_app.web.documents.references import Mention, Use

__all__ = ["PDF_MARK", "can_read_pdf", "is_pdf", "read_pdf"]

# Viewers look for it in the first kilobyte.
PDF_MARK = b"%PDF-"

# Each page has some links; manuals have a thousand pages.
MAX_PAGES = 5_000
MAX_LINKS = 20_000


def is_pdf(content_type: str) -> bool:
    """Return whether a Content-Type is that of PDF.

    >>> is_pdf("application/pdf"), is_pdf("Application/PDF; x=y"), is_pdf("text/html")
    (True, True, False)
    """
    return media_type(content_type) == "application/pdf"


def can_read_pdf() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("pypdfium2") is not None


def read_pdf(body: bytes) -> Page:
    """Return the title, the text and the links of a PDF file; nothing if it is damaged.

    The line of a mention is the number of its page, and the column is 0.
    """
    pypdfium2 = importlib.import_module("pypdfium2")
    page = Page(outline=Outline())
    with contextlib.suppress(pypdfium2.PdfiumError, ValueError):
        document = pypdfium2.PdfDocument(body)
        try:
            _read(document, page)
        except (MemoryError, TimeoutError):
            page.is_partial = True
    return page


def _read(document: Any, page: Page) -> None:
    assert page.outline is not None
    page.title = one_line(document.get_metadata_value("Title"), MAX_TITLE_CHARS)
    links: dict[str, None] = {}
    page.is_partial = len(document) > MAX_PAGES
    for number in range(1, min(len(document), MAX_PAGES) + 1):
        leaf = document[number - 1]
        text_of_leaf = leaf.get_textpage()
        if len(page.text) < MAX_TEXT_CHARS:
            text = text_of_leaf.get_text_bounded()
            page.text = f"{page.text} {one_line(text, MAX_TEXT_CHARS)}".strip()
        for uri, text in _links_on(document, leaf, text_of_leaf):
            mention = Mention(uri, Use.LINK, "a", "URI", number, 0, text)
            page.outline.mentions.append(mention)
            links[without_fragment(uri)] = None
        page.links = list(links)
        text_of_leaf.close()
        leaf.close()
        if len(page.outline.mentions) >= MAX_LINKS:
            page.is_partial = True
            break
    page.text = page.text[:MAX_TEXT_CHARS]


def _links_on(document: Any, leaf: Any, text_of_leaf: Any) -> Iterator[tuple[str, str]]:
    """Yield the URIs that the annotations of a page lead to, and the text below these."""
    raw = importlib.import_module("pypdfium2.raw")
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(leaf, position, link):
        action = raw.FPDFLink_GetAction(link)
        if raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        uri = _uri_of(raw, document, action)
        if not 0 < len(uri) <= MAX_URL_CHARS:
            continue
        rectangle = raw.FS_RECTF()
        text = ""
        if raw.FPDFLink_GetAnnotRect(link, rectangle):
            text = text_of_leaf.get_text_bounded(
                rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
            )
        yield uri, one_line(text, MAX_LINK_TEXT_CHARS)


def _uri_of(raw: Any, document: Any, action: Any) -> str:
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace").strip()
