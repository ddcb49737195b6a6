"""What a page says of itself, for a report: titles, language, canonical URLs, images, data.

Pure.
"""

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from turbohtml import Document, Element, Namespace

from crawler_app.base.text.escaping import one_line
from crawler_app.web.documents.links import links_in, text_of_link
from crawler_app.web.documents.tree import Tree, is_within
from crawler_app.web.robots.directives import directives_in_meta

__all__ = ["Alternate", "PageMetadata", "Picture", "metadata_of"]

# Their text takes the rest of a page that does not close them.
_RAW_NAMES = ("title", "script", "style", "textarea")

# Far more than a search engine shows.
MAX_DESCRIPTION_CHARS = 1000

# Of one kind on one page.
MAX_ITEMS = 1000
MAX_VALUE_CHARS = 2000

# Names that a ``<meta>`` may address besides all robots: a search engine obeys its own.
_ROBOTS = frozenset(("robots", "googlebot", "bingbot"))

# A comment may come before the document type.
MAX_PROLOG_CHARS = 1024


class Picture(NamedTuple):
    """An ``<img>`` in a page.

    Attributes:
        src: As written.
        has_alt: Whether it has an ``alt``, which is empty for decoration, or another name.
        has_size: Whether the page says how wide and high it is.
    """

    src: str
    has_alt: bool
    has_size: bool


class Alternate(NamedTuple):
    """A version of a page in another language, by ``<link rel=alternate hreflang>``."""

    code: str
    href: str


@dataclass(slots=True)
class PageMetadata:
    """Metadata of one page.

    Attributes:
        titles: Number of ``<title>`` elements.
        description: For search engines, in one line; empty if there is none.
        descriptions: Number of these.
        main_headings: Number of ``<h1>`` elements.
        heading: The first of them, in one line; empty if there is none.
        robots: The directives for robots in ``<meta>`` elements.
        pictures: The images that a browser shows, in document order.
        structured_data: The JSON-LD in the page, as written.
        canonicals: The canonical URLs in the head, as written.
        misplaced_canonicals: Their number in the body, where search engines ignore them.
        alternates: The versions in other languages.
        language: The ``lang`` of the page; empty if it has none.
        viewport: The content of ``<meta name=viewport>``; None if there is none.
        charset: The charset of a ``<meta>``, as written; empty if there is none.
        has_doctype: Whether it begins with a document type.
        is_xml: Whether it is XHTML, and well-formed.
        nameless_links: Number of links without a text or another name.
        scripted_links: Number of links that lead nowhere without a script.
        nameless_frames: Number of ``<iframe>`` elements without a title.
        repeated_ids: Number of ids that several elements have.
        unclosed: The element, or "comment", that takes the rest of the page because it is not
            closed; empty if there is none.
        actions: Where its forms are sent, as written.
    """

    titles: int = 0
    description: str = ""
    descriptions: int = 0
    main_headings: int = 0
    heading: str = ""
    robots: frozenset[str] = frozenset()
    pictures: list[Picture] = field(default_factory=list)
    structured_data: list[str] = field(default_factory=list)
    canonicals: list[str] = field(default_factory=list)
    misplaced_canonicals: int = 0
    alternates: list[Alternate] = field(default_factory=list)
    language: str = ""
    viewport: str | None = None
    charset: str = ""
    has_doctype: bool = False
    is_xml: bool = False
    nameless_links: int = 0
    scripted_links: int = 0
    nameless_frames: int = 0
    repeated_ids: int = 0
    unclosed: str = ""
    actions: list[str] = field(default_factory=list)


def metadata_of(tree: Tree) -> PageMetadata:
    """Return the metadata of a page.

    >>> from crawler_app.web.documents.tree import tree_of
    >>> page = "<h1>A</h1><meta name=Robots content=noindex><img src=b alt=B>"
    >>> metadata = metadata_of(tree_of(page))
    >>> metadata.main_headings, sorted(metadata.robots), metadata.pictures
    (1, ['noindex'], [Picture(src='b', has_alt=True, has_size=False)])
    """
    metadata = PageMetadata(
        titles=sum(each.namespace is Namespace.HTML for each in tree.tags("title")),
        main_headings=len(tree.tags("h1")),
        has_doctype="<!doctype" in tree.source[:MAX_PROLOG_CHARS].lower(),
        is_xml=tree.is_xml,
        repeated_ids=_repeated_ids(tree),
        unclosed=_unclosed(tree),
    )
    for element in tree.tags("h1")[:1]:
        # A pilcrow at the end of a heading is a link to it, not text.
        text = element.text.replace("\N{PILCROW SIGN}", "")
        metadata.heading = one_line(text, MAX_DESCRIPTION_CHARS)
    _read_metas(metadata, tree)
    _read_links(metadata, tree)
    _read_anchors(metadata, tree)
    if roots := tree.tags("html"):
        metadata.language = (roots[0].attr("lang") or "").strip()
    metadata.pictures = [
        _picture(each) for each in tree.tags("img") if each.namespace is Namespace.HTML
    ]
    metadata.structured_data = [
        each.text
        for each in tree.tags("script")
        if (each.attr("type") or "").strip().lower() == "application/ld+json"
    ]
    metadata.nameless_frames = sum(
        not _has_name(each) and each.attr("hidden") is None
        for each in tree.tags("iframe")
    )
    forms = tree.tags("form")[:MAX_ITEMS]
    buttons = itertools.islice(tree.select("[formaction]"), MAX_ITEMS)
    metadata.actions = [_value(each, "action") for each in forms]
    metadata.actions += [_value(each, "formaction") for each in buttons]
    return metadata


def _value(element: Element, attribute: str) -> str:
    return (element.attr(attribute) or "").strip()[:MAX_VALUE_CHARS]


def _read_metas(metadata: PageMetadata, tree: Tree) -> None:
    for element in tree.tags("meta"):
        name = (element.attr("name") or "").strip().lower()
        content = element.attr("content") or ""
        if name == "description":
            metadata.descriptions += 1
            if not metadata.description:
                metadata.description = one_line(content, MAX_DESCRIPTION_CHARS)
        elif name in _ROBOTS:
            metadata.robots |= directives_in_meta(content)
        elif name == "viewport" and metadata.viewport is None:
            metadata.viewport = content.lower()[:MAX_VALUE_CHARS]
        elif not metadata.charset:
            metadata.charset = _value(element, "charset") or _declared(element, content)


def _declared(element: Element, content: str) -> str:
    """Return the charset of a ``<meta http-equiv=content-type>``."""
    if (element.attr("http-equiv") or "").strip().lower() != "content-type":
        return ""
    return content.lower().partition("charset=")[2].strip()[:MAX_VALUE_CHARS]


def _read_links(metadata: PageMetadata, tree: Tree) -> None:
    for element in tree.tags("link")[:MAX_ITEMS]:
        rels = (element.attr("rel") or "").lower().split()
        href = _value(element, "href")
        if "canonical" in rels and is_within(element, ("head",)):
            metadata.canonicals.append(href)
        elif "canonical" in rels:
            metadata.misplaced_canonicals += 1
        elif "alternate" in rels and (code := _value(element, "hreflang")):
            metadata.alternates.append(Alternate(code, href))


def _read_anchors(metadata: PageMetadata, tree: Tree) -> None:
    for element, href in links_in(tree.tags("a")):
        text = href.strip()
        if not text or text[:11].lower() == "javascript:":
            metadata.scripted_links += 1
        # Most have a text, and another function for each would cost too much.
        if ((text := element.text) and not text.isspace()) or text_of_link(element):
            continue
        metadata.nameless_links += not _is_silent(element)


def _is_silent(element: Element) -> bool:
    """Return whether a screen reader passes over a link, or finds its name elsewhere."""
    return (
        element.attr("aria-hidden") == "true"
        or element.attr("tabindex") == "-1"
        or element.attr("hidden") is not None
        or bool(element.attr("aria-labelledby"))
        # Such as an <svg> with a title, or an <object> with a label.
        or any(map(_has_name, itertools.islice(element.iter_elements(), MAX_ITEMS)))
    )


def _has_name(element: Element) -> bool:
    names = (element.attr(name) for name in ("aria-label", "aria-labelledby", "title"))
    return any(name and not name.isspace() for name in names)


def _repeated_ids(tree: Tree) -> int:
    count_by_id = Counter(each.attr("id") for each in tree.roots[0].select("[id]"))
    return sum(count > 1 for name, count in count_by_id.items() if name)


def _unclosed(tree: Tree) -> str:
    """Return what takes the rest of a page, because its end is missing."""
    source = tree.source
    if tree.is_xml:  # where any element may be empty, and all are closed
        return ""
    for name in _RAW_NAMES:
        last = [e for e in tree.tags(name)[-1:] if e.namespace is Namespace.HTML]
        if last and not re.compile(f"</{name}", re.IGNORECASE).search(
            source, tree.offset_of(last[0])
        ):
            return name
    document = tree.roots[0]
    assert isinstance(document, Document)
    is_comment = any(error.code == "eof-in-comment" for error in document.errors)
    return "comment" if is_comment else ""


def _picture(element: Element) -> Picture:
    attributes = element.attrs
    style = element.attr("style") or ""
    is_sized = "width" in attributes and "height" in attributes
    # Source: WAI-ARIA 1.2, which lets these replace an `alt`.
    has_name = any(
        name in attributes for name in ("alt", "aria-label", "aria-labelledby")
    )
    is_decoration = (
        element.attr("role") in ("none", "presentation")
        or element.attr("aria-hidden") == "true"
    )
    return Picture(
        element.attr("src") or "",
        has_name or is_decoration,
        is_sized or "width" in style and "height" in style,
    )
