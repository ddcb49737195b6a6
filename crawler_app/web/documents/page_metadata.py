"""Page metadata and image attributes, for the report of a crawl.

Pure.  It reads the tags of the source, so that a report needs no tree of each page.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler_app.base.text.escaping import one_line
from crawler_app.web.documents.references import CONTAINER_TAGS, Depths
from crawler_app.web.documents.start_tags import Attribute, Tag, attributes_of
from crawler_app.web.robots.directives import directives_in_meta

__all__ = ["PageMetadata", "Picture", "metadata_in"]

# Far more than a search engine shows.
MAX_DESCRIPTION_CHARS = 1000

_NAMES = frozenset(("h1", "img", "meta"))

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
    """

    description: str = ""
    main_headings: int = 0
    robots: frozenset[str] = frozenset()
    pictures: list[Picture] = field(default_factory=list)


def metadata_in(tags: Iterable[Tag]) -> PageMetadata:
    """Return the metadata that the tags of a page state.

    >>> from crawler_app.web.documents.start_tags import tags_in
    >>> metadata_in(tags_in("<h1>A</h1><meta name=Robots content=noindex><img src=b alt=B>"))
    ... # doctest: +NORMALIZE_WHITESPACE
    PageMetadata(description='', main_headings=1, robots=frozenset({'noindex'}),
    pictures=[Picture(src='b', has_alt=True, has_size=False)])
    """
    metadata = PageMetadata()
    depths = Depths()
    for tag in tags:
        if tag.name in CONTAINER_TAGS:
            depths.count(tag)
            continue
        # What is in a <noscript> is for browsers that run no scripts: often another <img>.
        if tag.name not in _NAMES or depths.is_unseen or depths.is_in_noscript:
            continue
        if tag.name == "h1":
            metadata.main_headings += 1
        elif tag.name == "img":
            metadata.pictures.append(_picture(attributes_of(tag)))
        else:
            _add_metadata(metadata, attributes_of(tag))
    return metadata


def _add_metadata(metadata: PageMetadata, attributes: dict[str, Attribute]) -> None:
    name = _value(attributes, "name").strip().lower()
    content = _value(attributes, "content")
    if name == "description":
        metadata.description = metadata.description or one_line(
            content, MAX_DESCRIPTION_CHARS
        )
    elif name in _ROBOTS:
        metadata.robots |= directives_in_meta(content)


def _picture(attributes: dict[str, Attribute]) -> Picture:
    style = _value(attributes, "style")
    is_sized = "width" in attributes and "height" in attributes
    # Source: WAI-ARIA 1.2, which lets these replace an `alt`.
    has_name = any(
        name in attributes for name in ("alt", "aria-label", "aria-labelledby")
    )
    is_decoration = (
        _value(attributes, "role") in ("none", "presentation")
        or _value(attributes, "aria-hidden") == "true"
    )
    return Picture(
        _value(attributes, "src"),
        has_name or is_decoration,
        is_sized or "width" in style and "height" in style,
    )


def _value(attributes: dict[str, Attribute], name: str) -> str:
    found = attributes.get(name)
    return "" if found is None else found.value
