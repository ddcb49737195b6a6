"""The links of a page that visitors follow, and their text.

Pure.
"""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from turbohtml import Element, Namespace

from crawler_app.base.text.escaping import one_line
from crawler_app.web.documents.charset import as_sent
from crawler_app.web.documents.references import MAX_LINKS, seen_outside, srcdocs_of
from crawler_app.web.documents.tree import Tree

__all__ = [
    "Anchor",
    "anchors_of",
    "is_nofollow",
    "links_in",
    "links_of",
    "text_of_link",
]

MAX_TEXT_CHARS = 200

# Pieces of text that are put together where links may contain others.
MAX_PIECES = 32


class Anchor(NamedTuple):
    """One ``<a>`` or ``<area>``, in HTML or in an ``<svg>``.

    Attributes:
        href: As written.
        text: The link text, in one line, or an alternative text; truncated if long; empty
            if there is none.
        is_nofollow: Whether it has ``rel=nofollow``.
    """

    href: str
    text: str = ""
    is_nofollow: bool = False


def links_of(tree: Tree, depth: int = 0) -> list[tuple[Element, str]]:
    """Return every ``<a>`` and ``<area>`` with its target as written.

    In document order, and then those in ``<noscript>`` elements and in ``srcdoc``.

    Args:
        depth: The number of pages that contain this one.
    """
    links = _links_of_piece(tree)
    for noscript in tree.noscripts(("a", "area")):
        links += _links_of_piece(noscript)
    for _, inner in srcdocs_of(tree, depth):
        found = links_of(inner, depth + 1)
        links += ((element, seen_outside(inner, href)) for element, href in found)
    return links


def _links_of_piece(tree: Tree) -> list[tuple[Element, str]]:
    elements = tree.tags("a")
    if areas := tree.tags("area"):
        elements = sorted((*elements, *areas), key=tree.offset_of)
    return links_in(elements)


def links_in(elements: Iterable[Element]) -> list[tuple[Element, str]]:
    """Return those of some elements that have a target, with it as written.

    In an ``<svg>`` it may be an ``xlink:href``, which browsers ignore in HTML.
    """
    return [
        (element, href)
        for element in elements
        # Most have an `href`, and another call for each would cost too much.
        if (href := element.attr("href")) is not None
        or element.namespace is Namespace.SVG
        and (href := element.attr("xlink:href")) is not None
    ]


def anchors_of(links: list[tuple[Element, str]], charset: str) -> list[Anchor]:
    """Return links with their text, at most `MAX_LINKS`."""
    hrefs = as_sent([href for _, href in links[:MAX_LINKS]], charset)
    return [
        Anchor(
            href,
            one_line(text_of_link(element), MAX_TEXT_CHARS),
            is_nofollow(element.attr("rel") or ""),
        )
        for href, (element, _) in zip(hrefs, links, strict=False)
    ]


def is_nofollow(rel: str) -> bool:
    """Return whether the ``rel`` of a link asks robots not to follow it."""
    return "nofollow" in rel.lower().split()


def text_of_link(element: Element) -> str:
    """Return the visible text or, if there is none, the accessible name; truncated."""
    if element.namespace is Namespace.SVG:
        text = "".join(itertools.islice(element.strings, MAX_PIECES))
    else:
        text = element.text
    text = text[: 4 * MAX_TEXT_CHARS]
    if text and not text.isspace():
        return text
    pictures = [picture.attr("alt") for picture in element.iter_elements("img")]
    attributes = [element.attr(name) for name in ("alt", "aria-label", "title")]
    for words in (*pictures, *attributes):
        if words and not words.isspace():
            return words[: 4 * MAX_TEXT_CHARS]
    return ""
