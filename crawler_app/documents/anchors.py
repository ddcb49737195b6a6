"""The links of a page together with their text.

Pure.  A crawl without callbacks needs only the targets, which `crawler_app.documents.html`
reads in a fraction of the time.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler_app.documents.charset import decode_html
from crawler_app.documents.flat_html import tags_of
from crawler_app.documents.refresh import Refresh, refresh_among
from crawler_app.documents.sent_links import as_sent
from crawler_app.documents.tree import (
    base_in,
    links_in,
    refreshes_in,
    source_of_tree,
    tree_of,
)
from crawler_app.text.escaping import one_line
from crawler_app.urls import without_fragment

__all__ = [
    "MAX_LINKS",
    "Anchor",
    "Anchors",
    "Choice",
    "anchors_in",
    "anchors_of",
    "flat_anchors",
    "only_chosen",
]

# A page that has more is read in part.
MAX_LINKS = 100_000

MAX_TEXT_CHARS = 200

_REFRESH = re.compile("refresh", re.IGNORECASE)

# Takes the base and the hrefs of a page; returns the wanted ones, without fragments.
Choice = Callable[[str, list[str]], Collection[str]]


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
        refresh: See `crawler_app.documents.html.Page`; read by `anchors_of` only.
    """

    base: str = ""
    hrefs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    are_nofollow: list[bool] = field(default_factory=list)
    refresh: Refresh | None = None

    def __iter__(self) -> Iterator[Anchor]:
        return map(Anchor, self.hrefs, self.texts, self.are_nofollow)


def anchors_of(
    body: bytes,
    content_type: str = "",
    choose: Choice | None = None,
    *,
    is_flat: bool = False,
) -> Anchors:
    """Return the links of a page; invalid HTML is no error.

    Args:
        content_type: The header's value.
        choose: Called once with the base and the hrefs as written.  It returns the hrefs
            to include, without fragments.  None for all.
        is_flat: Whether to read the page tag by tag, because its tree would be too large.

    Raises:
        MemoryError: its tree is too large for the memory.

    >>> list(anchors_of(b"<a href=/b rel=nofollow> the <b>other</b> page</a>"))
    [Anchor(href='/b', text='the other page', is_nofollow=True)]
    >>> markup = b"<a href=b>B</a> <a href=c#x>C</a>"
    >>> list(anchors_of(markup, choose=lambda base, hrefs: {"c"}))
    [Anchor(href='c#x', text='C', is_nofollow=False)]
    """
    markup, charset = decode_html(body, content_type)
    if is_flat:
        tags = list(tags_of(markup))
        anchors = only_chosen(flat_anchors(tags, charset), choose)
        refreshes = [value for tag, value in tags if tag == "refresh"]
    else:
        tree = tree_of(source_of_tree(body, markup, charset))
        anchors = anchors_in(base_in(tree), links_in(tree), charset, choose)
        refreshes = refreshes_in(tree) if _REFRESH.search(markup) else []
    anchors.refresh = refresh_among(refreshes, charset)
    return anchors


def anchors_in(
    base: str,
    links: list[tuple[LexborNode, str]],
    charset: str,
    choose: Choice | None = None,
) -> Anchors:
    """Return the links in a tree, at most `MAX_LINKS`; see `anchors_of`."""
    hrefs = as_sent([href for _, href in links], charset)
    anchors = Anchors(base)
    chosen = _chosen(anchors.base, hrefs, choose)
    if not chosen:  # the most frequent case
        return anchors
    for (node, _), href in zip(links, hrefs, strict=True):
        if href in chosen and len(anchors.hrefs) < MAX_LINKS:
            anchors.hrefs.append(href)
            anchors.texts.append(_text(node))
            anchors.are_nofollow.append(_is_nofollow(node))
    return anchors


def flat_anchors(tags: Iterable[tuple[str, str]], charset: str) -> Anchors:
    """Return the links among the tags of a page, at most `MAX_LINKS`; see `tags_of`."""
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


def only_chosen(anchors: Anchors, choose: Choice | None) -> Anchors:
    """Return the chosen ones of all the links of a page."""
    if choose is None:
        return anchors
    chosen = _chosen(anchors.base, anchors.hrefs, choose)
    links = [anchor for anchor in anchors if anchor.href in chosen]
    return Anchors(
        anchors.base,
        [link.href for link in links],
        [link.text for link in links],
        [link.is_nofollow for link in links],
        anchors.refresh,
    )


def _chosen(base: str, hrefs: list[str], choose: Choice | None) -> Collection[str]:
    """Return the hrefs to include, as written."""
    if choose is None:
        return frozenset(hrefs)
    chosen = choose(base, hrefs)
    if not chosen:
        return ()
    return {href for href in set(hrefs) if without_fragment(href) in chosen}


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
