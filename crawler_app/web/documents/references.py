"""All references of a page, with their places: links, and what a browser loads for it.

Pure.  A crawl follows links as `crawler_app.web.documents.html` finds them in the tree; this finds
the rest, and for a check the links too, with the line and the column.
"""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler_app.web.documents.css import references_in_css
from crawler_app.web.documents.refresh import parse_refresh
from crawler_app.web.documents.srcset import candidates_in
from crawler_app.web.documents.start_tags import Tag, attributes_of, plain_href, tags_in
from crawler_app.web.documents.tree import Parsed, is_within, tag_ids

__all__ = [
    "CONTAINER_TAGS",
    "LOADED_USES",
    "Asset",
    "Depths",
    "Reference",
    "Use",
    "assets_in",
    "assets_in_tree",
    "noting_ids",
    "references_in",
    "references_of",
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


class Reference(NamedTuple):
    """A reference in a page.

    Attributes:
        value: As written, without character references and escapes.
        element: In lower case; "style" for what is in a style sheet.
        attribute: In lower case; empty for what is in an element's text.
        at: The offset of the value in the source.
        text_at: Where the text of the element begins in the source.
    """

    value: str
    use: Use
    element: str
    attribute: str
    at: int
    text_at: int = -1


class Asset(NamedTuple):
    """What a browser loads for a page.

    Attributes:
        use: ``FRAME`` or ``ASSET``.
        element: The element that refers to it, such as "<img>".
    """

    value: str
    use: Use
    element: str = ""


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
    "image": {"src": Use.ASSET},
    "img": {"src": Use.ASSET},
    "object": {"data": Use.ASSET},
    "source": {"src": Use.ASSET},
    "track": {"src": Use.ASSET},
    "video": {"src": Use.ASSET, "poster": Use.ASSET},
    **{key: {"background": Use.ASSET} for key in _WITH_BACKGROUND},
}

# The same in an <svg>, where each may have a prefix.
_USE_IN_SVG = {
    "a": Use.LINK,
    "feimage": Use.ASSET,
    "image": Use.ASSET,
    "script": Use.ASSET,
    "use": Use.ASSET,
}

_LOADED_RELS = frozenset(
    (
        "apple-touch-icon",
        "apple-touch-icon-precomposed",
        "icon",
        "manifest",
        "mask-icon",
        "modulepreload",
        "preload",
        "stylesheet",
    )
)
_LINKED_RELS = frozenset(
    (
        "alternate",
        "amphtml",
        "author",
        "canonical",
        "help",
        "license",
        "next",
        "prefetch",
        "prerender",
        "prev",
        "privacy-policy",
        "search",
        "shortlink",
        "terms-of-service",
    )
)

# Other values of ``type`` make a script a block of data.
_SCRIPT_TYPES = frozenset(
    (
        "",
        "module",
        "application/ecmascript",
        "application/javascript",
        "application/x-ecmascript",
        "application/x-javascript",
        "text/ecmascript",
        "text/javascript",
        "text/jscript",
        "text/livescript",
        "text/x-ecmascript",
        "text/x-javascript",
        *(f"text/javascript1.{version}" for version in range(6)),
    )
)

_WITH_SRCSET = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}

_NAMES = frozenset(
    (*_USE_BY_ATTRIBUTE, *_USE_IN_SVG, "input", "link", "meta", "script", "style")
)

# Those for which a browser loads something, whatever other attributes they have.
_LOADING = _NAMES - {"a", "area", "base", "meta", *_WITH_BACKGROUND}
# Without "use", which lexbor has no fixed id for.
_LOADING_IDS = frozenset(tag_ids("|".join((*_LOADING - {"use"}, "body"))))
_CELL_IDS = frozenset(tag_ids("|".join(_WITH_BACKGROUND[1:])))
LOADED_USES = frozenset((Use.FRAME, Use.ASSET))
_SVG = frozenset(tag_ids("svg"))

# A ``style`` whose value has a parenthesis, or a character reference that may be one.
_STYLED = re.compile(
    rb"""style\s*+=\s*+(?:"[^"(&]*+|'[^'(&]*+|(?!["'])[^\s>(&]*+)[(&]"""
)

_NAMED = re.compile(r"\b(?:id|name)\s*=")

# Elements with longer attributes are not remembered.
MAX_KNOWN_CHARS = 500

_CONTAINERS = ("math", "noscript", "svg", "template")

# The tags that `Depths` counts.
CONTAINER_TAGS = frozenset((*_CONTAINERS, *(f"/{name}" for name in _CONTAINERS)))


def references_in(markup: str) -> Iterator[Reference]:
    """Yield the references of a page, in document order.

    Empty ones too, and those to places in the page itself.  As in a browser that runs
    scripts, nothing is loaded for a ``<noscript>``, and nothing in a ``<template>`` counts.

    >>> [found.value for found in references_in("<a href=b>B</a><img src=c srcset='d 2x'>")]
    ['b', 'c', 'd']
    """
    return references_of(tags_in(markup))


def references_of(tags: Iterable[Tag]) -> Iterator[Reference]:
    """Yield the references in the tags of a page; see `references_in`."""
    depths = Depths()
    for tag in tags:
        may_load = "(" in tag.attributes or "&" in tag.attributes
        is_styled = may_load and "style" in tag.attributes.lower()
        if tag.name == "a" and not (is_styled or depths.alter_links):
            plain = plain_href(tag)
            if plain is not None:  # the most frequent case
                yield Reference(plain.value, Use.LINK, "a", "href", plain.at, tag.end)
                continue
        elif tag.name in CONTAINER_TAGS:
            depths.count(tag)
        if depths.is_unseen:
            continue
        if tag.name not in _NAMES and not is_styled:
            continue
        for found in _of_tag(tag, is_svg=depths.is_in_svg):
            if found.use is Use.LINK or not depths.is_in_noscript:
                yield found


class Depths:
    """Counts which of the elements that change the meaning of others are open.

    Attributes:
        is_unseen: Whether what follows is in a ``<template>``, which shows nothing.
        is_in_noscript: Whether a browser that runs scripts takes it for text.
        is_in_svg: Whether it is in an ``<svg>``.
        alter_links: Whether a link in it is not what it is elsewhere.
    """

    __slots__ = ("_depth", "alter_links", "is_in_noscript", "is_in_svg", "is_unseen")

    def __init__(self) -> None:
        self._depth = dict.fromkeys(_CONTAINERS, 0)
        self.is_unseen = self.is_in_noscript = self.is_in_svg = False
        self.alter_links = False

    def count(self, tag: Tag) -> None:
        """Count one of the `CONTAINER_TAGS`."""
        depth, name = self._depth, tag.name.removeprefix("/")
        if name != tag.name:
            depth[name] = max(0, depth[name] - 1)
        elif name == "noscript":
            depth[name] = 1  # it has no tags in it, up to the first end tag
        elif not (tag.attributes.endswith("/") and name in ("svg", "math")):
            depth[name] += 1
        self.is_unseen = depth["template"] > 0
        self.is_in_noscript = depth["noscript"] > 0
        self.is_in_svg = depth["svg"] > 0
        self.alter_links = self.is_unseen or self.is_in_svg


def _of_tag(tag: Tag, *, is_svg: bool) -> Iterator[Reference]:
    if tag.name == "style":
        for style in references_in_css(tag.content):
            at = tag.end + style.at
            yield Reference(style.value, Use.ASSET, "style", "", at)
    is_short = len(tag.attributes) <= MAX_KNOWN_CHARS
    find = _in_attributes if is_short else _in_attributes.__wrapped__
    for value, use, attribute, offset in find(tag.name, tag.attributes, is_svg=is_svg):
        at = tag.at if offset < 0 else tag.attributes_at + offset
        yield Reference(value, use, tag.name, attribute, at, tag.end)


class _Found(NamedTuple):
    """A reference in an attribute, and its offset in the value."""

    value: str
    use: Use
    attribute: str
    offset: int = 0


# The pages of a site have many elements in common.
@functools.lru_cache(maxsize=1024)
def _in_attributes(name: str, source: str, *, is_svg: bool) -> tuple[_Found, ...]:
    """Return the references in the source of an element's attributes, with offsets in it.

    An offset is -1 if the attribute has no value.
    """
    attributes = attributes_of(Tag(name, source, 0, 0, 0))
    values = {key: attribute.value for key, attribute in attributes.items()}
    found = []
    for each in _of_element(name, values, is_svg=is_svg):
        at = attributes[each.attribute].at
        found.append(each._replace(offset=-1 if at < 0 else at + each.offset))
    return tuple(found)


def _of_element(
    name: str, attributes: Mapping[str, str], *, is_svg: bool
) -> Iterator[_Found]:
    """Yield the references in the attributes of an element."""
    uses = _uses_of(name, attributes, is_svg=is_svg)
    for attribute, use in uses.items():
        value = attributes.get(attribute)
        if value is not None:
            yield _Found(value, use, attribute)
    if name in _WITH_SRCSET and uses is not _NOTHING:
        attribute = _WITH_SRCSET[name]
        for image in candidates_in(attributes.get(attribute) or ""):
            if image.is_valid:
                yield _Found(image.url, Use.ASSET, attribute, image.at)
    if name == "meta":
        yield from _refreshes(attributes)
    if name == "iframe" and "srcdoc" in attributes:
        for inner in references_in(attributes["srcdoc"]):
            if inner.use is not Use.BASE:
                yield _Found(inner.value, inner.use, "srcdoc")
    if "(" in (style := attributes.get("style") or ""):
        for found in references_in_css(style, is_attribute=True):
            yield _Found(found.value, Use.ASSET, "style", found.at)


_NOTHING: Mapping[str, Use] = {}
_SRC = {"src": Use.ASSET}


def _uses_of(
    name: str, attributes: Mapping[str, str], *, is_svg: bool
) -> Mapping[str, Use]:
    """Return the attributes of an element that refer to something."""
    if is_svg and name in _USE_IN_SVG:
        prefixed = "href" if "href" in attributes else "xlink:href"
        return {prefixed: _USE_IN_SVG[name]}
    if name == "link":
        return _uses_of_link(attributes)
    if name == "script":
        kind = (attributes.get("type") or "").strip().lower()
        return _SRC if kind in _SCRIPT_TYPES else _NOTHING
    if name == "input":
        is_image = (attributes.get("type") or "").lower() == "image"
        return _SRC if is_image else _NOTHING
    return _USE_BY_ATTRIBUTE.get(name, _NOTHING)


def _uses_of_link(attributes: Mapping[str, str]) -> Mapping[str, Use]:
    rels = (attributes.get("rel") or "").lower().split()
    if "disabled" in attributes:
        return _NOTHING
    if not _LOADED_RELS.isdisjoint(rels):
        return {"href": Use.ASSET}
    return _NOTHING if _LINKED_RELS.isdisjoint(rels) else {"href": Use.LINK}


def _refreshes(attributes: Mapping[str, str]) -> Iterator[_Found]:
    if (attributes.get("http-equiv") or "").lower() == "refresh":
        content = attributes.get("content") or ""
        refresh = parse_refresh(content)
        if refresh is not None:
            at = max(0, content.find(refresh.reference))
            yield _Found(refresh.reference, Use.LINK, "content", at)


def assets_in(markup: str) -> list[Asset]:
    """Return what a browser loads for a page, and its frames, without duplicates.

    >>> assets_in("<a href=b>B</a><img src=c><img src=c>")
    [Asset(value='c', use=<Use.ASSET: 2>, element='<img>')]
    """
    return list(dict.fromkeys(_assets_of(markup)))


def assets_in_tree(page: Parsed) -> list[Asset]:
    """Return the same as `assets_in`, from the tree of a page, in a fraction of the time."""
    has_svg = not _SVG.isdisjoint(page.elements_by_tag)
    nodes = _loading_nodes(page, has_svg=has_svg)
    found = Counter(
        itertools.chain.from_iterable(_of_node(node, has_svg=has_svg) for node in nodes)
    )
    # Its content is outside of it, where a parser without scripting ends the head.
    for noscript in page.noscripts:
        found.subtract(_assets_of_piece(noscript))
    return [each for each, times in found.items() if times > 0]


def _loading_nodes(page: Parsed, *, has_svg: bool) -> list[LexborNode]:
    # One selector for all of them would take three times as long.
    by_tag = page.elements_by_tag
    nodes = [
        node for tag_id in by_tag if tag_id in _LOADING_IDS for node in by_tag[tag_id]
    ]
    has_cells = not _CELL_IDS.isdisjoint(by_tag)
    for selector, is_needed in (
        ("use", has_svg),
        ("[background]", has_cells and b"background" in page.lowered),
        ('[style*="("]', _STYLED.search(page.lowered)),
    ):
        if is_needed:
            seen = {node.mem_id for node in nodes}
            nodes += [
                node for node in page.tree.css(selector) if node.mem_id not in seen
            ]
    return nodes


def _assets_of_piece(piece: bytes) -> tuple[Asset, ...]:
    is_short = len(piece) <= MAX_KNOWN_CHARS
    find = _assets_of_markup if is_short else _assets_of_markup.__wrapped__
    return find(piece)


# The pages of a site have many of them in common.
@functools.lru_cache(maxsize=64)
def _assets_of_markup(piece: bytes) -> tuple[Asset, ...]:
    return tuple(_assets_of(piece.decode("utf-8", "replace")))


def _assets_of(markup: str) -> Iterator[Asset]:
    for found in references_in(markup):
        if found.use in LOADED_USES:
            yield Asset(found.value, found.use, f"<{found.element}>")


def _of_node(node: LexborNode, *, has_svg: bool) -> Iterable[Asset]:
    name = (node.tag or "").lower()
    if name == "style":
        return [
            Asset(style.value, Use.ASSET, "<style>")
            for style in references_in_css(node.text())
        ]
    attributes = tuple(node.attributes.items())
    is_svg = has_svg and name in _USE_IN_SVG and is_within(node, _SVG)
    if sum(len(value) for _, value in attributes if value) > MAX_KNOWN_CHARS:
        return _loaded_by.__wrapped__(name, attributes, is_svg=is_svg)
    return _loaded_by(name, attributes, is_svg=is_svg)


# The pages of a site have many elements in common.
@functools.lru_cache(maxsize=1024)
def _loaded_by(
    name: str, attributes: tuple[tuple[str, str | None], ...], *, is_svg: bool
) -> tuple[Asset, ...]:
    values = {key: value or "" for key, value in attributes}
    return tuple(
        Asset(found.value, found.use, f"<{name}>")
        for found in _of_element(name, values, is_svg=is_svg)
        if found.use in LOADED_USES
    )


def noting_ids(tags: Iterable[Tag], ids: list[str]) -> Iterator[Tag]:
    """Yield the tags; append to a list what the fragment of a link to the page may name.

    >>> ids = []
    >>> _ = list(noting_ids(tags_in("<h1 id=top><a name='a&amp;b'>x</a>"), ids))
    >>> ids
    ['top', 'a&b']
    """
    for tag in tags:
        lowered = tag.attributes.lower()
        if ("id" in lowered or "name" in lowered) and _NAMED.search(lowered):
            attributes = attributes_of(tag)
            for name in ("id", "name") if tag.name == "a" else ("id",):
                if name in attributes:
                    ids.append(attributes[name].value)
        yield tag
