"""What the elements of a page refer to: links, and what a browser loads for it.

Pure.  As in a browser that runs scripts, nothing is loaded for a ``<noscript>``, but its links
are some of the page's; nothing in a ``<template>`` counts, unless it is a shadow root.
"""

import contextlib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple
from urllib.parse import urljoin

from turbohtml import Element, Namespace

from crawler_app.base.http_headers import media_type
from crawler_app.web.documents.css import references_in_css
from crawler_app.web.documents.refresh import parse_refresh
from crawler_app.web.documents.srcset import candidates_in
from crawler_app.web.documents.tree import Tree, tree_of

__all__ = [
    "LOADED_USES",
    "MAX_LINKS",
    "REFERRING",
    "Mention",
    "Reference",
    "Use",
    "assets_of",
    "is_script",
    "references_of",
    "refers_to_url",
    "refresh_in",
    "seen_outside",
    "srcdocs_of",
]


class Use(IntEnum):
    """What a reference is for."""

    LINK = 0
    """A visitor may follow it."""
    FRAME = 1
    """A browser shows the page in this one."""
    ASSET = 2
    """A browser loads it for this page."""
    BASE = 3
    """The others are relative to it."""
    NAMED = 4
    """Programs read it, such as search engines; a page shows no link there."""


class Reference(NamedTuple):
    """A reference in a page.

    Attributes:
        value: Without character references and escapes.
        name: The name of the element; "style" for what is in a style sheet.
        attribute: In lower case; empty for what is in an element's text.
        offset: That of the reference in the attribute's value, or in the text.
    """

    element: Element
    value: str
    use: Use
    name: str
    attribute: str
    offset: int = 0


class Mention(NamedTuple):
    """A reference in a document.

    Attributes:
        value: As written, without character references; its query in the document's charset.
        line: From 1; 0 if the document has no lines, as a manifest.
        column: From 1, in characters.
        text: That of a link, or another name for it; see
            `crawler_app.web.documents.outline.words_of`.
        is_place: Whether its fragment names a place though it looks like the state of a script.
        rel: Its relations, as written; truncated if long.
    """

    value: str
    use: Use
    element: str
    attribute: str
    line: int = 0
    column: int = 0
    text: str = ""
    is_place: bool = False
    rel: str = ""


_WITH_BACKGROUND = ("body", "table", "tbody", "td", "tfoot", "th", "thead", "tr")

# Attributes that refer to something.
_USE_BY_ATTRIBUTE = {
    "a": {"href": Use.LINK},
    "area": {"href": Use.LINK},
    "audio": {"src": Use.ASSET},
    "base": {"href": Use.BASE},
    "embed": {"src": Use.ASSET},
    "frame": {"src": Use.FRAME},
    "iframe": {"src": Use.FRAME},
    "img": {"src": Use.ASSET},
    "object": {"data": Use.ASSET},
    "source": {"src": Use.ASSET},
    "track": {"src": Use.ASSET},
    "video": {"src": Use.ASSET, "poster": Use.ASSET},
}

# The same in an <svg>, where each may have a prefix.
_USE_IN_SVG = {
    "a": Use.LINK,
    "feImage": Use.ASSET,
    "image": Use.ASSET,
    "script": Use.ASSET,
    "use": Use.ASSET,
}

_LOADED_RELS = frozenset(
    (
        *("apple-touch-icon", "apple-touch-icon-precomposed", "icon", "manifest"),
        *("mask-icon", "modulepreload", "preload", "stylesheet"),
    )
)
_LINKED_RELS = frozenset(
    (
        *("alternate", "amphtml", "author", "canonical", "help", "license", "next"),
        *("prefetch", "prerender", "prev", "privacy-policy", "search", "shortlink"),
        "terms-of-service",
    )
)

# Other values of ``type`` make a script a block of data.
_SCRIPT_TYPE = re.compile(
    r"module|(?:application|text)/(?:x-)?(?:ecma|java)script"
    r"|text/(?:javascript1\.[0-5]|jscript|livescript)|"
)

_WITH_SRCSET = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}

# Elements for which a browser loads something.
_LOADING = (
    *("audio", "embed", "feImage", "frame", "iframe", "image", "img", "input", "link"),
    *("object", "script", "source", "style", "track", "use", "video"),
)

# Elements with attributes that refer to something; any element may do so by its style.
REFERRING = ("a", "area", "base", "meta", *_LOADING)

LOADED_USES = frozenset((Use.FRAME, Use.ASSET))

# A page that has more is read in part.
MAX_LINKS = 100_000

# Of pages in attributes of others.
MAX_SRCDOCS = 100
MAX_DEPTH = 3


def assets_of(tree: Tree) -> list[Mention]:
    """Return what a browser loads for a page, and its frames, each once and without its place.

    >>> tree = tree_of("<a href=b>B</a><img src=c><img src=c>")
    >>> [(each.value, each.element) for each in assets_of(tree)]
    [('c', 'img')]
    """
    found = (
        Mention(each.value, each.use, each.name, each.attribute)
        for each in references_of(tree, _LOADING)
        if each.use in LOADED_USES
    )
    return list(dict.fromkeys(found))


def references_of(
    tree: Tree, names: Iterable[str] = REFERRING, depth: int = 0
) -> Iterator[Reference]:
    """Yield the references of a page; those of each kind of element in document order.

    Empty ones too, and those to places in the page itself.

    Args:
        names: Those of the elements.
        depth: The number of pages that contain this one.
    """
    for name in names:
        for element in tree.tags(name)[:MAX_LINKS]:
            if name == "style":
                yield from _in_style_sheet(element)
                continue
            for attribute, use in _uses_of(element, name).items():
                value = element.attr(attribute)
                if value is not None:
                    yield Reference(element, value, use, name, attribute)
            if name in _WITH_SRCSET:
                yield from _in_srcset(element, name)
            elif name == "meta":
                yield from _in_refresh(element)
        if name == "iframe":
            yield from _in_srcdocs(tree, depth)
    yield from _in_other_attributes(tree)


def _in_style_sheet(element: Element) -> Iterator[Reference]:
    for found in references_in_css(element.text):
        yield Reference(element, found.value, Use.ASSET, "style", "", found.at)


def _in_srcset(element: Element, name: str) -> Iterator[Reference]:
    attribute = _WITH_SRCSET[name]
    value = element.attr(attribute)
    if value is None or name == "link" and not _uses_of(element, name):
        return
    for image in candidates_in(value):
        if image.is_valid:
            yield Reference(element, image.url, Use.ASSET, name, attribute, image.at)


def _in_refresh(element: Element) -> Iterator[Reference]:
    content = refresh_in(element)
    refresh = None if content is None else parse_refresh(content)
    if content is not None and refresh is not None:
        at = max(0, content.find(refresh.reference))
        yield Reference(element, refresh.reference, Use.LINK, "meta", "content", at)


def _in_srcdocs(tree: Tree, depth: int) -> Iterator[Reference]:
    for element, inner in srcdocs_of(tree, depth):
        for each in references_of(inner, depth=depth + 1):
            if each.use is not Use.BASE:
                value = seen_outside(inner, each.value)
                yield Reference(element, value, each.use, "iframe", "srcdoc")


def srcdocs_of(tree: Tree, depth: int) -> list[tuple[Element, Tree]]:
    """Return the pages in attributes of a page, within limits.

    Args:
        depth: The number of pages that contain this one.
    """
    frames = tree.tags("iframe") if depth < MAX_DEPTH else ()
    srcdocs = ((frame, frame.attr("srcdoc")) for frame in frames)
    found = (
        (frame, tree_of(srcdoc)) for frame, srcdoc in srcdocs if srcdoc is not None
    )
    return list(itertools.islice(found, MAX_SRCDOCS))


def seen_outside(inner: Tree, value: str) -> str:
    """Return a reference of a page in an attribute as one of the page around it.

    They differ if the inner page has a ``<base href>``.
    """
    hrefs = (base.attr("href") for base in inner.tags("base"))
    href = next((each for each in hrefs if each is not None), "")
    with contextlib.suppress(ValueError):  # such as "http://["
        return urljoin(href, value) if href else value
    return value


def _in_other_attributes(tree: Tree) -> Iterator[Reference]:
    for element in tree.select('[style*="("]'):
        style = element.attr("style") or ""
        for found in references_in_css(style, is_attribute=True):
            yield Reference(
                element, found.value, Use.ASSET, element.tag, "style", found.at
            )
    for element in tree.select("[background]"):
        if element.tag in _WITH_BACKGROUND:
            value = element.attr("background") or ""
            yield Reference(element, value, Use.ASSET, element.tag, "background")


def refresh_in(element: Element) -> str | None:
    """Return the ``content`` of a ``<meta http-equiv=refresh>``; None for another one."""
    if (element.attr("http-equiv") or "").lower() != "refresh":
        return None
    return element.attr("content") or ""


_NOTHING: Mapping[str, Use] = {}
_NAMED_HREF = {"href": Use.NAMED}
_LOADED_HREF = {"href": Use.ASSET}
_SRC = {"src": Use.ASSET}


def _uses_of(element: Element, name: str) -> Mapping[str, Use]:
    """Return the attributes of an element that refer to something."""
    if name in _USE_IN_SVG and element.namespace is Namespace.SVG:
        prefixed = "xlink:href" if element.attr("href") is None else "href"
        return {prefixed: _USE_IN_SVG[name]}
    if name == "link":
        return _uses_of_link(element)
    if name == "script":
        return _SRC if is_script(element) else _NOTHING
    if name == "iframe" and element.attr("srcdoc") is not None:
        return _NOTHING  # which takes the place of a `src`
    if name == "input":
        is_image = (element.attr("type") or "").lower() == "image"
        return _SRC if is_image else _NOTHING
    return _USE_BY_ATTRIBUTE.get(name, _NOTHING)


def _uses_of_link(element: Element) -> Mapping[str, Use]:
    rels = _rels_in(element.attr("rel") or "")
    if "stylesheet" in rels:
        is_loaded = _is_css(element) and element.attr("disabled") is None
        return _LOADED_HREF if is_loaded else _NOTHING
    if not _LOADED_RELS.isdisjoint(rels) or "prefetch" in rels and _is_part(element):
        return _LOADED_HREF
    return _NAMED_HREF if refers_to_url(rels) else _NOTHING


@functools.lru_cache(maxsize=64)
def _rels_in(value: str) -> frozenset[str]:
    return frozenset(value.lower().split())


def refers_to_url(rels: Iterable[str]) -> bool:
    """Return whether a link with these relations, in lower case, leads to something."""
    return not (_LINKED_RELS | _LOADED_RELS).isdisjoint(rels)


def _is_part(element: Element) -> bool:
    """Return whether a link leads to a part of an application, by its name.

    A browser prefetches such parts for the links that it shows.
    """
    path = (element.attr("href") or "").partition("?")[0]
    return path.endswith((".css", ".js", ".json", ".mjs"))


def _is_css(element: Element) -> bool:
    return media_type(element.attr("type") or "") in ("", "text/css")


def is_script(element: Element) -> bool:
    """Return whether a ``<script>`` is code, and not a block of data."""
    kind = element.attr("type")
    if kind is None and (language := element.attr("language")):
        kind = f"text/{language}"
    return _SCRIPT_TYPE.fullmatch((kind or "").strip().lower()) is not None
