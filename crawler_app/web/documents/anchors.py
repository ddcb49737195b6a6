"""The links of a page together with their text.

Pure.  A crawl without callbacks needs only the targets, which `crawler_app.web.documents.html`
reads in a fraction of the time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler_app.base.text.escaping import one_line
from crawler_app.web.documents.sent_links import as_sent

__all__ = ["MAX_LINKS", "Anchor", "Anchors", "anchors_in", "flat_anchors"]

# A page that has more is read in part.
MAX_LINKS = 100_000

MAX_TEXT_CHARS = 200


class Anchor(NamedTuple):
    """One ``<a>`` or ``<area>``, in HTML or in an ``<svg>``.

    Attributes:
        href: As written.
        text: The link text, in one line, or an alternative text; truncated if long; empty
            if there is none, or if the page was read tag by tag.
        is_nofollow: Whether it has ``rel=nofollow``.
    """

    href: str
    text: str = ""
    is_nofollow: bool = False


@dataclass(slots=True)
class Anchors:
    """Links of a page, in document order; iterable.

    Parallel lists: 100,000 objects of a class would take a tenth of a second to unpickle.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        hrefs: Those of the links, as written.
        texts: See `Anchor`.
        are_nofollow: See `Anchor`.
    """

    base: str = ""
    hrefs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    are_nofollow: list[bool] = field(default_factory=list)

    def __iter__(self) -> Iterator[Anchor]:
        return map(Anchor, self.hrefs, self.texts, self.are_nofollow)


def anchors_in(base: str, links: list[tuple[LexborNode, str]], charset: str) -> Anchors:
    """Return the links in a tree, at most `MAX_LINKS`."""
    hrefs = as_sent([href for _, href in links[:MAX_LINKS]], charset)
    nodes = [node for node, _ in links[:MAX_LINKS]]
    return Anchors(base, hrefs, list(map(_text, nodes)), list(map(_is_nofollow, nodes)))


def flat_anchors(tags: Iterable[tuple[str, str]], charset: str) -> Anchors:
    """Return the links among the tags of a page, at most `MAX_LINKS`; see
    `crawler_app.web.documents.tag_scanner.tags_of`."""
    base = ""
    hrefs: list[str] = []
    for tag, value in tags:
        if tag in ("a", "area") and len(hrefs) < MAX_LINKS:
            hrefs.append(value)
        elif tag == "base":
            base = base or value
    return Anchors(
        base, as_sent(hrefs, charset), [""] * len(hrefs), [False] * len(hrefs)
    )


def _is_nofollow(node: LexborNode) -> bool:
    return "nofollow" in (node.attrs.sget("rel") or "").lower().split()


def _text(node: LexborNode) -> str:
    """Return the visible text or, if there is none, the accessible name."""
    words = one_line(node.text(), MAX_TEXT_CHARS)
    if words:
        return words
    pictures = [picture.attrs.sget("alt") for picture in node.css("img")]
    attributes = [node.attrs.sget(name) for name in ("alt", "aria-label", "title")]
    for words in (*pictures, *attributes):
        if words and (line := one_line(words, MAX_TEXT_CHARS)):
            return line
    return ""
