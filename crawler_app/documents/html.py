"""HTML parsing: title, links, text and robots directives of a page.

Pure.  The parser is lexbor, which follows WHATWG: it reads a page as a browser does, so it
finds no links in comments or scripts.
"""

import codecs
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import webencodings
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler_app.config import PRODUCT
from crawler_app.documents.charset import decode_html
from crawler_app.documents.flat_html import is_too_hard, tags_of, tags_of_head
from crawler_app.documents.text import (
    flat_marked_text,
    headings_and_text,
    is_within,
    marked_text_of_tree,
    tag_ids,
    tree_of,
)
from crawler_app.robots.tags import directives_in_meta
from crawler_app.text.escaping import one_line
from crawler_app.urls import without_fragment

__all__ = ["Page", "as_sent", "parse_html", "source_of_tree"]

# Titles are shown in lists; some pages put their whole text there.
MAX_TITLE_CHARS = 300

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")

_LINKS = tag_ids("a|area")
_SVG = tag_ids("svg")
(_TITLE,) = tag_ids("title")


@dataclass(slots=True)
class Page:
    """The parsed content of one HTML page.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        links: The ``href`` of every ``<a>`` and ``<area>``, as written, without duplicates,
            in document order.
        charset: The charset that the page was decoded with.
        nofollow_links: The links, without fragments, all of whose occurrences on the page
            have ``rel=nofollow``.
        robots: The directives for us: ``noindex``, ``nofollow``, both or none.
        canonical: The ``href`` of ``<link rel=canonical>`` in the head, as written.
        headings: The headings, one per line; empty unless requested.
        text: The main text in one line, including the headings; empty unless requested.
    """

    title: str
    base: str
    links: list[str]
    charset: str
    nofollow_links: frozenset[str] = frozenset()
    robots: frozenset[str] = frozenset()
    canonical: str = ""
    headings: str = ""
    text: str = ""


def parse_html(
    body: bytes,
    content_type: str = "",
    *,
    with_text: bool = False,
    agent: str = PRODUCT,
) -> Page:
    """Parse a page; any bytes give a Page.

    Args:
        content_type: The header's value.
        with_text: Whether to read text and headings too, which doubles the time.
        agent: The name by which a ``<meta>`` may address us.

    >>> parse_html(b"<title>Hi</title><a href=b>x</a><!-- <a href=c> -->").links
    ['b']
    >>> parse_html(b"<nav>Home</nav><h1>Hi</h1><p>You", with_text=True).text
    'Hi You'
    """
    markup, charset = decode_html(body, content_type)
    lowered = _lowered(body, markup, charset)
    source = source_of_tree(body, markup, charset)
    tree = None if is_too_hard(markup) else tree_of(source)
    if tree is None:
        page = _page_of(_flat_values(markup), charset)
    else:
        page = _page_of(_values_in_tree(tree, b"nofollow" in lowered), charset)
    if _addresses_robots(lowered, agent):
        _read_head(page, markup, agent)
    if with_text:
        if tree is None:
            text = flat_marked_text(markup)
        else:
            text = marked_text_of_tree(tree, source, markup, lowered)
        page.headings, page.text = headings_and_text(text)
    return page


def _lowered(body: bytes, markup: str, charset: str) -> bytes:
    """Return a page in lower case, for case-insensitive searches for ASCII words.

    Searching bytes takes a tenth of the time of searching text.
    """
    is_wide = charset.startswith("utf-16")
    return (markup.encode("utf-8", "replace") if is_wide else body).lower()


def source_of_tree(body: bytes, markup: str, charset: str) -> str | bytes:
    """Return the bytes of a page if lexbor can parse them unchanged, else its text.

    Encoding the text as UTF-8 again takes up to a tenth of the time for a page.
    """
    is_utf_8 = charset == "utf-8" and not body.startswith(codecs.BOM_UTF8)
    # Invalid bytes were replaced by this character.
    return body if is_utf_8 and "\N{REPLACEMENT CHARACTER}" not in markup else markup


def _flat_values(markup: str) -> dict[str, list[str]]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for tag, value in tags_of(markup):
        values["a" if tag == "area" else tag].append(value)
    return values


def _values_in_tree(tree: LexborHTMLParser, has_nofollow: bool) -> dict[str, list[str]]:
    """Return the same as `tags_of`, by tag; an ``area`` counts as an ``a``."""
    # Not one `css` call for all: it parses its selector on each call, which takes as long as
    # parsing a small page.  But only `css` keeps the order of different elements.
    links = tree.css("a, area") if tree.tags("area") else tree.tags("a")
    return {
        "title": _titles(tree),
        "base": _hrefs(tree.tags("base")),
        "a": _hrefs(links),
        "nofollow": _nofollow_hrefs(tree) if has_nofollow else [],
    }


def _titles(tree: LexborHTMLParser) -> list[str]:
    """Return the title if there is one."""
    # Usually it is in the head, and the rest of the tree need not be searched.
    for node in tree.head.iter() if tree.head else ():
        if node.tag_id == _TITLE:
            return [node.text()]
    for node in tree.tags("title"):
        if not is_within(node, _SVG):  # a <title> in an <svg> is a tooltip
            return [node.text()]
    return []


def _hrefs(nodes: Iterable[LexborNode]) -> list[str]:
    return [
        href
        for node in nodes
        if (href := node.attrs.sget("href", None)) is not None  # not SVG's xlink:href
    ]


def _nofollow_hrefs(tree: LexborHTMLParser) -> list[str]:
    # An element name in the selector would double its time.
    nodes = tree.css('[rel~="nofollow" i]')
    return _hrefs(node for node in nodes if node.tag_id in _LINKS)


def _page_of(values: dict[str, list[str]], charset: str) -> Page:
    links = as_sent(values["a"], charset)
    page = Page(
        one_line(values["title"][0], MAX_TITLE_CHARS) if values["title"] else "",
        values["base"][0] if values["base"] else "",
        list(dict.fromkeys(links)),
        charset,
    )
    if values["nofollow"]:
        nofollow = as_sent(values["nofollow"], charset)
        page.nofollow_links = _only_nofollow(links, nofollow)
    return page


def _addresses_robots(lowered: bytes, agent: str) -> bool:
    # If there is no "</head", find returns -1 and the last byte is lost, which is harmless.
    head = lowered[: lowered.find(b"</head")]
    return b"robots" in head or b"canonical" in head or agent.lower().encode() in head


def _read_head(page: Page, markup: str, agent: str) -> None:
    for tag, value in tags_of_head(markup, agent):
        if tag == "robots":
            page.robots |= directives_in_meta(value)
        elif not page.canonical:
            page.canonical = as_sent([value], page.charset)[0]


def _only_nofollow(links: list[str], nofollow: list[str]) -> frozenset[str]:
    """Return the links that occur with nofollow only."""
    followed = Counter(map(without_fragment, links))
    followed.subtract(map(without_fragment, nofollow))
    return frozenset(link for link, count in followed.items() if not count)


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
        return quote(webencodings.encode(match[0], charset, "xmlcharrefreplace"))

    # ASCII is left to URL canonicalization; only other characters depend on the charset.
    query = _NOT_ASCII.sub(escape, query)
    return path + mark + query + hash_mark + fragment
