"""What a page says: its title and its links.

Pure.  The parser is lexbor's, a WHATWG one: it reads a page as a browser does, so a
link in a comment or in a script is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import webencodings
from selectolax.lexbor import LexborHTMLParser

from crawler_app.charset import decode_html
from crawler_app.flatparser import is_too_hard, tags_of

__all__ = ["Page", "is_html", "parse_html", "without_controls"]

HTML_TYPES = ("text/html", "application/xhtml+xml")

# Titles are shown in lists; some pages put their whole text there.
MAX_TITLE_CHARS = 300

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(slots=True)
class Page:
    """What was read from one HTML page.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        links: The ``href`` of every ``<a>`` and ``<area>``, as written, each once, in
            the order of the page.
        charset: What the page was decoded with.
    """

    title: str
    base: str
    links: list[str]
    charset: str


def is_html(content_type: str) -> bool:
    """Return whether a Content-Type header announces a page.

    >>> is_html("Text/HTML; charset=utf-8"), is_html("image/png")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() in HTML_TYPES


def parse_html(body: bytes, content_type: str = "") -> Page:
    """Read a page, however broken; any bytes give a Page.

    >>> parse_html(b"<title>Hi</title><a href=b>x</a><!-- <a href=c> -->").links
    ['b']
    """
    text, charset = decode_html(body, content_type)
    title: str | None = None
    base: str | None = None
    links: dict[str, None] = {}
    for tag, value in _tags(text):
        if tag == "title":
            title = _one_line(value) if title is None else title
        elif tag == "base":
            base = value if base is None else base
        else:
            links[value] = None
    # UTF-16 too is written as UTF-8 (WHATWG Encoding, 4.3).
    if not charset.startswith("utf-"):
        links = dict.fromkeys(_query_in_charset(link, charset) for link in links)
    return Page(title or "", base or "", list(links), charset)


def _tags(text: str) -> Iterator[tuple[str, str]]:
    """Yield ``a`` and ``base`` with their ``href``, ``title`` with its text.

    An ``area`` is an ``a`` here.
    """
    if is_too_hard(text):
        yield from tags_of(text)
        return
    tree = LexborHTMLParser(text)
    for node in tree.tags("title"):
        if node.parent is None or node.parent.tag != "svg":  # that is a tooltip
            yield "title", node.text()
    # Not a selection for all: `css` reads its selector anew each time, which takes as
    # long as to read a small page.  Only it tells the order of different elements.
    links = tree.css("a, area") if tree.tags("area") else tree.tags("a")
    for tag, nodes in (("base", tree.tags("base")), ("a", links)):
        for node in nodes:
            href = node.attrs.sget("href", None)
            if href is not None:  # not SVG's xlink:href
                yield tag, href


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * MAX_TITLE_CHARS].split())
    return without_controls(line)[:MAX_TITLE_CHARS]


def without_controls(text: str) -> str:
    """Return a text without control characters, which a terminal would obey.

    >>> without_controls("a\\x1b[2Jb")
    'a[2Jb'
    """
    return text if text.isprintable() else "".join(filter(str.isprintable, text))


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
        return quote(webencodings.encode(match[0], charset, "xmlcharrefreplace"))

    # Everything ASCII is left for the URL's own rules; only other text has a charset.
    query = _NOT_ASCII.sub(escape, query)
    return path + mark + query + hash_mark + fragment
