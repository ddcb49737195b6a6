"""What a page says of itself, for a report: description, robots, images, structured data.

Pure.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from turbohtml import Element, Namespace

from crawler_app.base.text.escaping import one_line
from crawler_app.web.documents.tree import Tree
from crawler_app.web.robots.directives import directives_in_meta

__all__ = ["METADATA_NAMES", "PageMetadata", "Picture", "metadata_of"]

# The elements that are to be listed in a tree.
METADATA_NAMES = ("h1", "img", "meta", "script")

# Far more than a search engine shows.
MAX_DESCRIPTION_CHARS = 1000

# Names that a ``<meta>`` may address besides all robots: a search engine obeys its own.
_ROBOTS = frozenset(("robots", "googlebot", "bingbot"))


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


@dataclass(slots=True)
class PageMetadata:
    """Metadata of one page.

    Attributes:
        description: For search engines, in one line; empty if there is none.
        main_headings: Number of ``<h1>`` elements.
        robots: The directives for robots in ``<meta>`` elements.
        pictures: The images that a browser shows, in document order.
        structured_data: The JSON-LD in the page, as written.
    """

    description: str = ""
    main_headings: int = 0
    robots: frozenset[str] = frozenset()
    pictures: list[Picture] = field(default_factory=list)
    structured_data: list[str] = field(default_factory=list)


def metadata_of(tree: Tree) -> PageMetadata:
    """Return the metadata of a page.

    >>> from crawler_app.web.documents.tree import tree_of
    >>> page = "<h1>A</h1><meta name=Robots content=noindex><img src=b alt=B>"
    >>> metadata_of(tree_of(page, METADATA_NAMES))
    ... # doctest: +NORMALIZE_WHITESPACE
    PageMetadata(description='', main_headings=1, robots=frozenset({'noindex'}),
    pictures=[Picture(src='b', has_alt=True, has_size=False)], structured_data=[])
    """
    metadata = PageMetadata(main_headings=len(tree.tags("h1")))
    for element in tree.tags("meta"):
        name = (element.attr("name") or "").strip().lower()
        content = element.attr("content") or ""
        if name == "description" and not metadata.description:
            metadata.description = one_line(content, MAX_DESCRIPTION_CHARS)
        elif name in _ROBOTS:
            metadata.robots |= directives_in_meta(content)
    metadata.pictures = [
        _picture(each) for each in tree.tags("img") if each.namespace is Namespace.HTML
    ]
    metadata.structured_data = [
        each.text
        for each in tree.tags("script")
        if (each.attr("type") or "").strip().lower() == "application/ld+json"
    ]
    return metadata


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
