"""The links of a page together with their text.

Pure.  A crawl needs only the targets, which `crawler_app.documents.html` reads in a fraction
of the time.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from crawler_app.documents.charset import decode_html
from crawler_app.documents.flat_html import tags_of
from crawler_app.documents.html import as_sent, base_in, href_of, source_of_tree
from crawler_app.documents.text import tree_of
from crawler_app.text.escaping import one_line
from crawler_app.urls import without_fragment

__all__ = ["Anchor", "Anchors", "Choice", "anchors_of", "only_chosen"]

MAX_TEXT_CHARS = 200

# Takes the base and the hrefs of a page; returns the wanted ones, without fragments.
Choice = Callable[[str, list[str]], Collection[str]]


@dataclass(slots=True, frozen=True)
class Anchor:
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


@dataclass(slots=True, frozen=True)
class Anchors:
    """Links of a page, in document order.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
    """

    base: str
    links: list[Anchor]


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

    >>> anchors_of(b"<a href=/b rel=nofollow> the <b>other</b> page</a>").links
    [Anchor(href='/b', text='the other page', is_nofollow=True)]
    >>> anchors_of(b"<a href=b>B</a> <a href=c#x>C</a>", "", lambda base, _: {"c"}).links
    [Anchor(href='c#x', text='C', is_nofollow=False)]
    """
    markup, charset = decode_html(body, content_type)
    if is_flat:
        return _flat_anchors(markup, charset, choose)
    tree = tree_of(source_of_tree(body, markup, charset))
    nodes = tree.css("a, area") if tree.tags("area") else tree.tags("a")
    written = [href_of(node) for node in nodes]
    base = base_in(tree)
    hrefs = as_sent([href for href in written if href is not None], charset)
    chosen = _chosen(base, hrefs, choose)
    if not chosen:  # the most frequent case
        return Anchors(base, [])
    with_href = [n for n, href in zip(nodes, written, strict=True) if href is not None]
    links = [
        Anchor(href, _text(node), _is_nofollow(node))
        for node, href in zip(with_href, hrefs, strict=True)
        if href in chosen
    ]
    return Anchors(base, links)


def only_chosen(anchors: Anchors, choose: Choice | None) -> Anchors:
    """Return the chosen ones of all the links of a page."""
    chosen = _chosen(anchors.base, [link.href for link in anchors.links], choose)
    links = [link for link in anchors.links if link.href in chosen]
    return Anchors(anchors.base, links)


def _flat_anchors(markup: str, charset: str, choose: Choice | None) -> Anchors:
    values = list(tags_of(markup))
    base = next((value for tag, value in values if tag == "base"), "")
    hrefs = as_sent([v for tag, v in values if tag in ("a", "area")], charset)
    return only_chosen(Anchors(base, [Anchor(href) for href in hrefs]), choose)


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
