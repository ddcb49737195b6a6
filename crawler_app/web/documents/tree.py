"""Helpers for the trees of pages that lexbor builds, as WHATWG specifies: links, bases, text.

Pure.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from selectolax.lexbor import (
    LexborDocumentOptions,
    LexborHTMLParser,
    LexborNode,
    SelectolaxError,
)

__all__ = [
    "MAX_STEPS",
    "Parsed",
    "Searchable",
    "base_in",
    "href_of",
    "is_within",
    "links_in",
    "parsed",
    "refreshes_in",
    "source_of_tree",
    "tag_ids",
    "tree_of",
]

# Ancestors or descendants examined: those that matter to a header are near it.
MAX_STEPS = 32

# Events only serve to keep the copy of a selected option up to date, and cost up to a tenth
# of the time for a page.
_WITHOUT_EVENTS = LexborDocumentOptions.WO_EVENTS

_NOSCRIPT_ELEMENT = re.compile(
    rb"<noscript\b[^>]*+>?(.*?)(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL
)


@dataclass(slots=True, frozen=True)
class Parsed:
    """A page's tree, and what several searches in it have in common.

    Attributes:
        source: What the tree was made from.
        lowered: The source in lower case, for case-insensitive searches for ASCII words,
            which take a tenth of the time that they take in text.
        elements_by_tag: All elements by tag id; those of one tag are in document order.
        noscripts: The source of what is in each ``<noscript>``.
    """

    tree: LexborHTMLParser
    source: bytes
    lowered: bytes
    elements_by_tag: Mapping[int, list[LexborNode]]
    noscripts: list[bytes]

    @property
    def head(self) -> LexborNode | None:
        """The ``<head>``."""
        return self.tree.head

    def tags(self, name: str) -> list[LexborNode]:
        """Return the elements with a name, without walking through the tree again."""
        return self.elements_by_tag.get(_ID_BY_NAME[name], [])

    def css(self, selector: str) -> list[LexborNode]:
        """Return the elements that a selector selects."""
        return self.tree.css(selector)


# What the functions below search: a tree, or one whose elements are listed already.
Searchable: TypeAlias = LexborHTMLParser | Parsed


def parsed(tree: LexborHTMLParser, source: bytes, lowered: bytes) -> Parsed:
    """Return a tree with its elements.

    >>> source = b"<NOSCRIPT><P>A</noscript>"
    >>> parsed(tree_of(source), source, source.lower()).noscripts
    [b'<P>A']
    """
    elements_by_tag: defaultdict[int, list[LexborNode]] = defaultdict(list)
    for element in tree.tags("*"):
        elements_by_tag[element.tag_id].append(element)
    has_noscript = not _NOSCRIPT.isdisjoint(elements_by_tag)
    noscripts = list(_noscripts(source, lowered)) if has_noscript else []
    return Parsed(tree, source, lowered, elements_by_tag, noscripts)


def _noscripts(source: bytes, lowered: bytes) -> Iterator[bytes]:
    # Searching for the word first takes a tenth of the time.
    at = lowered.find(b"<noscript")
    while at >= 0:
        found = _NOSCRIPT_ELEMENT.match(source, at)
        if found is not None:
            yield found[1]
        at = lowered.find(b"<noscript", at + 1 if found is None else found.end())


def tree_of(source: bytes, scripting: bool = False) -> LexborHTMLParser:
    """Return the tree of a page.

    Args:
        scripting: Whether to parse it like a browser with scripting enabled.

    Raises:
        MemoryError: the tree is too large for the memory; lexbor fails for nothing else.
    """
    try:
        return LexborHTMLParser(source, options=_WITHOUT_EVENTS, scripting=scripting)
    except SelectolaxError as exc:
        raise MemoryError(str(exc)) from None


def source_of_tree(body: bytes, markup: str, charset: str) -> bytes:
    """Return a page in UTF-8: its bytes, if they can be parsed unchanged.

    Encoding the text takes up to a tenth of the time for a page.
    """
    is_utf_8 = charset == "utf-8" and not body.startswith(codecs.BOM_UTF8)
    # Invalid bytes were replaced by this character, which a page may also contain.
    mark = "\N{REPLACEMENT CHARACTER}"
    if is_utf_8 and (
        mark not in markup or markup.count(mark) == body.count(mark.encode())
    ):
        return body
    return markup.encode("utf-8", "replace")


def links_in(tree: Searchable) -> list[tuple[LexborNode, str]]:
    """Return every ``<a>`` and ``<area>`` with its target as written, in document order."""
    # Not one `css` call for all: it parses its selector on each call, which takes as long as
    # parsing a small page.  But only `css` keeps the order of different elements.
    nodes = tree.css("a, area") if tree.tags("area") else tree.tags("a")
    return [
        (node, href)
        for node in nodes
        # Most have an `href`, and a call for each would cost too much.
        if (href := node.attrs.sget("href", None) or href_of(node)) is not None
    ]


def href_of(node: LexborNode) -> str | None:
    """Return the target of an ``<a>`` or ``<area>`` as written; None if it has none."""
    href = node.attrs.sget("href", None)
    if href is None:
        href = node.attrs.sget("xlink:href", None)
        # Browsers ignore it in HTML.
        if href is not None and not is_within(node, _SVG, _HTML_AGAIN):
            return None
    return href


def base_in(tree: Searchable) -> str:
    """Return the ``<base href>`` as written; empty if there is none."""
    for node in tree.tags("base"):
        href = node.attrs.sget("href", None)
        if href is not None and not is_within(node, _FOREIGN, _HTML_AGAIN):
            return href
    return ""


def refreshes_in(tree: Searchable) -> list[str]:
    """Return the ``content`` of every ``<meta http-equiv=refresh>``."""
    return [
        node.attrs.sget("content") or ""
        for node in tree.tags("meta")
        if (node.attrs.sget("http-equiv") or "").lower() == "refresh"
        and not is_within(node, _NOSCRIPT)  # browsers run scripts
    ]


def is_within(
    node: LexborNode, tags: Container[int], barriers: Container[int] = ()
) -> bool:
    """Return whether one of the nearest ancestors of an element has one of these tags.

    Args:
        barriers: Tags of ancestors beyond which none counts.
    """
    for ancestor in _ancestors(node):
        if ancestor.tag_id in tags:
            return True
        if ancestor.tag_id in barriers:
            return False
    return False


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the nearest ancestors; the limit avoids quadratic time on deep pages."""
    for _ in range(MAX_STEPS):
        parent = node.parent
        if parent is None:
            return
        yield parent
        node = parent


def tag_ids(names: str) -> list[int]:
    """Return the tag ids that lexbor has for the names in ``a|b``."""
    tree = LexborHTMLParser("")
    return [tree.create_node(name).tag_id for name in names.split("|")]


_NAMES = "a|area|base|img|meta|title"
_ID_BY_NAME = dict(zip(_NAMES.split("|"), tag_ids(_NAMES), strict=True))
_NOSCRIPT = frozenset(tag_ids("noscript"))
_SVG = tag_ids("svg")
_FOREIGN = tag_ids("svg|math")
# In these, what is in an svg or a math is HTML again (WHATWG HTML, 13.2.6, "HTML integration
# point" and "MathML text integration point").
_HTML_AGAIN = tag_ids("foreignobject|desc|title|mi|mo|mn|ms|mtext")
