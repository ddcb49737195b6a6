"""HTML parsing: title, links, text and robots directives of a page.

Pure.  The parser is lexbor, which follows WHATWG: it reads a page as a browser does, so it
finds no links in comments or scripts.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from crawler_app.base.http_headers import PRODUCT
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import MAX_URL_CHARS, without_fragment
from crawler_app.web.documents.anchors import (
    MAX_LINKS,
    Anchors,
    anchors_in,
    flat_anchors,
)
from crawler_app.web.documents.charset import decode_html
from crawler_app.web.documents.references import (
    Asset,
    assets_in,
    assets_in_tree,
)
from crawler_app.web.documents.refresh import Refresh, refresh_among
from crawler_app.web.documents.sent_links import as_sent
from crawler_app.web.documents.tag_scanner import is_open, tags_of, tags_of_head
from crawler_app.web.documents.text import (
    flat_marked_text,
    headings_and_text,
    marked_text_of_tree,
)
from crawler_app.web.documents.tree import (
    Searchable,
    base_in,
    href_of,
    is_within,
    links_in,
    parsed,
    refreshes_in,
    source_of_tree,
    tag_ids,
    tree_of,
)
from crawler_app.web.robots.directives import directives_in_meta

__all__ = ["Page", "parse_html"]

# Titles are shown in lists; some pages put their whole text there.
MAX_TITLE_CHARS = 300

# A longer one is not a URL; see `crawler_app.base.urls.join`.
MAX_LINK_CHARS = MAX_URL_CHARS

_LINKS = tag_ids("a|area")
_SVG = tag_ids("svg")
(_TITLE,) = tag_ids("title")


@dataclass(slots=True)
class Page:
    """The parsed content of one HTML page.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        links: The ``href`` of every ``<a>`` and ``<area>``, or the ``xlink:href`` of an
            ``<a>`` in an ``<svg>``, as written but without fragments and duplicates, in
            document order.
        charset: The charset that the page was decoded with.
        nofollow_links: The links all of whose occurrences on the page have
            ``rel=nofollow``.
        robots: The directives for us: ``noindex``, ``nofollow``, both or none.
        canonical: The ``href`` of ``<link rel=canonical>`` in the head, as written.
        headings: The headings, one per line; empty unless requested.
        refresh: Where it takes its visitors by ``<meta http-equiv=refresh>``; None if
            nowhere else.
        anchors: The links with their text; None unless requested.
        assets: What a browser loads for it; empty unless requested.
        text: The main text in one line, including the headings; empty unless requested.
        is_partial: Whether it was read tag by tag, or has too many links.
    """

    title: str
    base: str
    links: list[str]
    charset: str
    nofollow_links: frozenset[str] = frozenset()
    robots: frozenset[str] = frozenset()
    canonical: str = ""
    headings: str = ""
    text: str = ""
    refresh: Refresh | None = None
    anchors: Anchors | None = None
    assets: list[Asset] = field(default_factory=list)
    is_partial: bool = False


def parse_html(
    body: bytes,
    content_type: str = "",
    *,
    with_text: bool = False,
    with_anchors: bool = False,
    with_assets: bool = False,
    agent: str = PRODUCT,
    is_flat: bool = False,
) -> Page:
    """Parse a page; any bytes give a Page.

    Args:
        content_type: The header's value.
        with_text: Whether to read text and headings too, which doubles the time.
        with_anchors: Whether to read the text of each link too.
        with_assets: Whether to find what a browser loads for it too.
        agent: The name by which a ``<meta>`` may address us.
        is_flat: Whether to read it tag by tag, because its tree would be too large.

    Raises:
        MemoryError: its tree is too large for the memory.

    >>> parse_html(b"<title>Hi</title><a href=b>x</a><!-- <a href=c> -->").links
    ['b']
    >>> parse_html(b"<nav>Home</nav><h1>Hi</h1><p>You", with_text=True).text
    'Hi You'
    """
    markup, charset = decode_html(body, content_type)
    source = source_of_tree(body, markup, charset)
    lowered = source.lower()
    robots, canonical = frozenset[str](), ""
    if _addresses_robots(lowered, agent):
        robots, canonical = _read_head(markup, charset, agent)
    if is_flat:
        tags = list(tags_of(markup))
        page = _page_of(_flat_values(tags), charset)
        page.is_partial = True
        page.anchors = flat_anchors(tags, charset) if with_anchors else None
        found = assets_in(markup) if with_assets else []
        text = flat_marked_text(markup) if with_text else ""
    else:
        del markup  # which may take twice the memory of the body, or four times
        tree = tree_of(source)
        found, text = [], ""
        if not (with_assets or with_text):
            page = _page_in(tree, lowered, charset, with_anchors=with_anchors)
        else:
            whole = parsed(tree, source, lowered)
            page = _page_in(whole, lowered, charset, with_anchors=with_anchors)
            found = assets_in_tree(whole) if with_assets else []
            if with_text and any(map(is_open, whole.noscripts)):
                whole = parsed(tree_of(source, scripting=True), source, lowered)
            text = marked_text_of_tree(whole) if with_text else ""
    page.robots, page.canonical = robots, canonical
    if found:
        page.assets = _sent_assets(found, charset)
    if text:
        page.headings, page.text = headings_and_text(text)
    return page


def _sent_assets(found: list[Asset], charset: str) -> list[Asset]:
    values = [each.value for each in found]
    sent = as_sent(values, charset)
    if sent != values:
        pairs = zip(sent, found, strict=True)
        found = [each._replace(value=value) for value, each in pairs]
    fit = (each for each in found if len(each.value) <= MAX_LINK_CHARS)
    return list(itertools.islice(fit, MAX_LINKS))


def _flat_values(tags: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for tag, value in tags:
        values["a" if tag == "area" else tag].append(value)
    return values


def _page_in(
    tree: Searchable, lowered: bytes, charset: str, *, with_anchors: bool
) -> Page:
    links = links_in(tree)
    page = _page_of(_values_in_tree(tree, links, lowered), charset)
    if with_anchors:
        page.anchors = anchors_in(page.base, links, charset)
    return page


def _values_in_tree(
    tree: Searchable, links: list[tuple[LexborNode, str]], lowered: bytes
) -> dict[str, list[str]]:
    """Return the same as `tags_of`, by tag; an ``area`` counts as an ``a``."""
    return {
        "title": _titles(tree),
        "base": [base_in(tree)],
        "a": [href for _, href in links],
        "nofollow": _nofollow_hrefs(tree) if b"nofollow" in lowered else [],
        "refresh": refreshes_in(tree) if b"refresh" in lowered else [],
    }


def _titles(tree: Searchable) -> list[str]:
    """Return the title if there is one."""
    # Usually it is in the head, and the rest of the tree need not be searched.
    for node in tree.head.iter() if tree.head else ():
        if node.tag_id == _TITLE:
            return [node.text()]
    for node in tree.tags("title"):
        if not is_within(node, _SVG):  # a <title> in an <svg> is a tooltip
            return [node.text()]
    return []


def _nofollow_hrefs(tree: Searchable) -> list[str]:
    # An element name in the selector would double its time.
    nodes = tree.css('[rel~="nofollow" i]')
    links = (node for node in nodes if node.tag_id in _LINKS)
    return [href for node in links if (href := href_of(node)) is not None]


def _page_of(values: dict[str, list[str]], charset: str) -> Page:
    links = _without_fragments(values["a"], charset)
    distinct = list(dict.fromkeys(links))
    if max(map(len, distinct), default=0) > MAX_LINK_CHARS:
        distinct = [link for link in distinct if len(link) <= MAX_LINK_CHARS]
    page = Page(
        one_line(values["title"][0], MAX_TITLE_CHARS) if values["title"] else "",
        values["base"][0][:MAX_LINK_CHARS] if values["base"] else "",
        distinct[:MAX_LINKS],
        charset,
        is_partial=len(distinct) > MAX_LINKS,
    )
    if values["refresh"]:
        page.refresh = refresh_among(values["refresh"], charset)
    if values["nofollow"]:
        nofollow = _without_fragments(values["nofollow"], charset)
        only_nofollow = _only_nofollow(links, nofollow)
        # The same objects as the links, so that a pickle has each of them once.
        page.nofollow_links = frozenset(filter(only_nofollow.__contains__, page.links))
    return page


def _without_fragments(links: list[str], charset: str) -> list[str]:
    # A call for each link would cost too much; most have no fragment.
    return [
        without_fragment(link) if "#" in link else link
        for link in as_sent(links, charset)
    ]


def _addresses_robots(lowered: bytes, agent: str) -> bool:
    # If there is no "</head", find returns -1 and the last byte is lost, which is harmless.
    head = lowered[: lowered.find(b"</head")]
    return b"robots" in head or b"canonical" in head or agent.lower().encode() in head


def _read_head(markup: str, charset: str, agent: str) -> tuple[frozenset[str], str]:
    """Return the robots directives and the canonical link in the head of a page."""
    robots, canonical = frozenset[str](), ""
    for tag, value in tags_of_head(markup, agent):
        if tag == "robots":
            robots |= directives_in_meta(value)
        elif not canonical:
            canonical = as_sent([value[:MAX_LINK_CHARS]], charset)[0]
    return robots, canonical


def _only_nofollow(links: list[str], nofollow: list[str]) -> frozenset[str]:
    """Return the links that occur with nofollow only."""
    followed = Counter(links)
    followed.subtract(nofollow)
    return frozenset(link for link, count in followed.items() if not count)
