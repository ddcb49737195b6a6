"""Reads a page: links, what it loads, its text, and what it says of itself.

Pure.  A page is parsed once; everything that is asked for is read from its tree.
"""

import contextlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from turbohtml import Namespace

from crawler_app.base.http_headers import PRODUCT
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import MAX_URL_CHARS, without_fragment
from crawler_app.web.documents.charset import as_sent, decode_html
from crawler_app.web.documents.links import Anchor, anchors_of, is_nofollow, links_of
from crawler_app.web.documents.outline import Outline, outline_of_tree
from crawler_app.web.documents.page_metadata import PageMetadata, metadata_of
from crawler_app.web.documents.references import (
    MAX_LINKS,
    Mention,
    assets_of,
    is_script,
    refresh_in,
)
from crawler_app.web.documents.refresh import Refresh, refresh_among
from crawler_app.web.documents.scripted import shows_nothing
from crawler_app.web.documents.text import headings_and_text, text_of
from crawler_app.web.documents.tree import Tree, tree_of
from crawler_app.web.documents.xhtml import is_xml
from crawler_app.web.robots.directives import directives_in_meta

__all__ = ["Page", "parse_html"]

# Titles are shown in lists; some pages put their whole text there.
MAX_TITLE_CHARS = 300

# A longer one is not a URL; see `crawler_app.base.urls.join`.
MAX_LINK_CHARS = MAX_URL_CHARS

# Anything behind a tag.
_TEXT = re.compile(r">\s*+[^<\s]")

# A page that is too large for the memory is read up to here, and then up to an eighth of that.
FIRST_BYTES = (1024 * 1024, 128 * 1024)


@dataclass(slots=True)
class Page:
    """The content of one HTML page.

    References are as written, but without character references and with their queries in the
    charset of the page.

    Attributes:
        base: The ``<base href>``; empty if there is none.
        links: The ``href`` of every ``<a>`` and ``<area>``, or the ``xlink:href`` of an
            ``<a>`` in an ``<svg>``, without fragments and duplicates; those in
            ``<noscript>`` and ``srcdoc`` are the last.
        charset: The charset that the page was decoded with.
        nofollow_links: The links all of whose occurrences on the page have
            ``rel=nofollow``.
        robots: The directives for us: ``noindex``, ``nofollow``, both or none.
        canonical: The ``href`` of ``<link rel=canonical>`` in the head.
        headings: The headings, one per line; empty unless requested.
        refresh: Where it takes its visitors by ``<meta http-equiv=refresh>``; None if
            nowhere else.
        anchors: The links with their text, in document order; empty unless requested.
        assets: What a browser loads for it, without the places; empty unless requested.
        text: The main text in one line, including the headings; empty unless requested.
        outline: All references with their places; None unless requested.
        metadata: None unless requested.
        passwords: How many fields for a password there are.
        has_scripts: Whether a browser would run any.
        is_made_by_script: Whether it is only a shell, which a script fills in the browser.
        is_partial: Whether a limit of time, memory or links ended the reading.
    """

    title: str = ""
    base: str = ""
    links: list[str] = field(default_factory=list)
    charset: str = ""
    nofollow_links: frozenset[str] = frozenset()
    robots: frozenset[str] = frozenset()
    canonical: str = ""
    headings: str = ""
    text: str = ""
    refresh: Refresh | None = None
    anchors: list[Anchor] = field(default_factory=list)
    assets: list[Mention] = field(default_factory=list)
    outline: Outline | None = None
    metadata: PageMetadata | None = None
    passwords: int = 0
    has_scripts: bool = False
    is_made_by_script: bool = False
    is_partial: bool = False


def parse_html(
    body: bytes,
    content_type: str = "",
    *,
    with_text: bool = False,
    with_anchors: bool = False,
    with_assets: bool = False,
    with_outline: bool = False,
    with_metadata: bool = False,
    agent: str = PRODUCT,
) -> Page:
    """Read a page; any bytes give a Page.

    Args:
        content_type: The header's value.
        with_text: Whether to read text and headings too.
        with_anchors: Whether to read the text of each link too.
        with_assets: Whether to find what a browser loads for it too.
        with_outline: Whether to find the places of all references too.
        with_metadata: Whether to read what a report needs too.
        agent: The name by which a ``<meta>`` may address us.

    >>> parse_html(b"<title>Hi</title><a href=b>x</a><!-- <a href=c> -->").links
    ['b']
    >>> parse_html(b"<nav>Home</nav><h1>Hi</h1><p>You", with_text=True).text
    'Hi You'
    """
    wanted = {
        "anchors": with_anchors,
        "assets": with_assets,
        "outline": with_outline,
        "metadata": with_metadata,
        "text": with_text,
    }
    for size in (len(body), *FIRST_BYTES):
        if size <= len(body):
            with contextlib.suppress(MemoryError):
                page = _read(body[:size], content_type, wanted, agent)
                page.is_partial |= size < len(body)
                return page
    return Page(is_partial=True)


def _read(
    body: bytes, content_type: str, wanted: Mapping[str, bool], agent: str
) -> Page:
    markup, charset = decode_html(body, content_type)
    page = Page(charset=charset)
    if wanted["outline"]:
        page.outline = Outline(is_partial=True)
    xml = is_xml(content_type)
    tree = tree_of(markup, is_xml=xml)
    page.is_partial = tree.is_partial
    try:
        _read_page(page, tree, agent, with_anchors=wanted["anchors"])
        if wanted["assets"]:
            page.assets = _sent_assets(assets_of(tree), charset)
        if wanted["outline"]:
            page.outline = outline_of_tree(tree, charset)
        if wanted["metadata"]:
            page.metadata = metadata_of(tree)
        if wanted["text"]:
            text = text_of(tree)
            if not text.strip() and _TEXT.search(markup):
                # For example, the whole page is in a <nav>.
                bare = tree_of(markup, is_xml=xml, scripting=False)
                text = text_of(bare, is_bare=True)
            page.headings, page.text = headings_and_text(text)
    except (MemoryError, TimeoutError):
        # A sandbox interrupts what takes too long, and what is known by then counts.
        page.is_partial = True
    return page


def _read_page(page: Page, tree: Tree, agent: str, *, with_anchors: bool) -> None:
    charset = page.charset
    for base in tree.tags("base"):
        if base.namespace is Namespace.HTML and (href := base.attr("href")) is not None:
            page.base = href[:MAX_LINK_CHARS]
            break
    links = links_of(tree)
    distinct = _distinct([href for _, href in links], charset)
    page.links = distinct[:MAX_LINKS]
    page.is_partial |= len(distinct) > MAX_LINKS
    types = [(field.attr("type") or "").lower() for field in tree.tags("input")]
    page.passwords = types.count("password")
    followed = [
        href
        for element, href in links
        if not ((rel := element.attr("rel")) and is_nofollow(rel))
    ]
    if len(followed) < len(links):
        followed_links = frozenset(_distinct(followed, charset))
        # The same objects as the links, so that a pickle has each of them once.
        page.nofollow_links = frozenset(
            link for link in page.links if link not in followed_links
        )
    page.title = _title(tree)
    if refreshes := [*filter(None, map(refresh_in, tree.tags("meta")))]:
        page.refresh = refresh_among(refreshes, charset)
    leads_on = page.links or page.refresh is not None and page.refresh.reference
    page.has_scripts = any(map(is_script, tree.tags("script")))
    page.is_made_by_script = page.has_scripts and not leads_on and shows_nothing(tree)
    _read_head(page, tree, agent)
    if with_anchors:
        page.anchors = anchors_of(links, charset)


def _title(tree: Tree) -> str:
    for element in tree.tags("title"):
        if element.namespace is not Namespace.SVG:  # that is a tooltip
            return one_line(element.text, MAX_TITLE_CHARS)
    return ""


def _read_head(page: Page, tree: Tree, agent: str) -> None:
    """Read the robots directives and the canonical link.

    In the head only: the body may contain what users of the site have written.
    """
    names = ("robots", agent.lower())
    for head in tree.tags("head")[:1]:
        for element in head.iter_elements(("link", "meta")):
            if element.tag == "meta":
                if (element.attr("name") or "").strip().lower() in names:
                    page.robots |= directives_in_meta(element.attr("content") or "")
            elif "canonical" in (element.attr("rel") or "").lower().split():
                href = (element.attr("href") or "")[:MAX_LINK_CHARS]
                page.canonical = page.canonical or as_sent([href], page.charset)[0]


def _distinct(hrefs: list[str], charset: str) -> list[str]:
    """Return links without fragments and duplicates, and without those that are too long."""
    # Most are on a page several times, or have no fragment.
    sent = as_sent([*dict.fromkeys(hrefs)], charset)
    links = [without_fragment(link) if "#" in link else link for link in sent]
    return [link for link in dict.fromkeys(links) if len(link) <= MAX_LINK_CHARS]


def _sent_assets(found: list[Mention], charset: str) -> list[Mention]:
    values = [each.value for each in found]
    sent = as_sent(values, charset)
    if sent != values:
        pairs = zip(sent, found, strict=True)
        found = [each._replace(value=value) for value, each in pairs]
    fit = (each for each in found if len(each.value) <= MAX_LINK_CHARS)
    return list(itertools.islice(fit, MAX_LINKS))
