"""The references of a page or a style sheet with their lines and columns, and its ids.

Pure.  Plain values, which are quickly sent between processes.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from crawler_app.base.http_headers import is_html, links_in, media_type
from crawler_app.base.models import Fetched
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import without_fragment
from crawler_app.web.documents.charset import as_sent, decode_html
from crawler_app.web.documents.links import text_of_link
from crawler_app.web.documents.named_urls import urls_named_in
from crawler_app.web.documents.non_html import SVG_TYPE, mentions_in_file
from crawler_app.web.documents.references import (
    LOADED_USES,
    MAX_LINKS,
    REFERRING,
    Mention,
    Reference,
    Use,
    references_of,
    refers_to_url,
)
from crawler_app.web.documents.refresh import parse_refresh
from crawler_app.web.documents.tree import START_TAG, Tree, attribute_finder, tree_of
from crawler_app.web.documents.xhtml import is_xml

__all__ = [
    "Outline",
    "kind_of",
    "mentions_in_headers",
    "outline_of",
    "outline_of_tree",
    "upgraded",
    "words_of",
]

MAX_TEXT_CHARS = 80

# How a page asks for it, in a header or an element.
_UPGRADE = "upgrade-insecure-requests"
_HTTP = re.compile(r"\A\s*http:", re.IGNORECASE)
_UPGRADES = re.compile(rb"<meta\b[^>]*upgrade-insecure-requests", re.IGNORECASE)


@dataclass(slots=True)
class Outline:
    """What a document refers to, and what its URLs may refer to in it.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        is_partial: Whether the document was too large to be read.
        is_rendered: Whether it is what the scripts of a page have made of it.
    """

    base: str = ""
    mentions: list[Mention] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    is_partial: bool = False
    is_rendered: bool = False
    _by_link: dict[str, list[Mention]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def by_link(self) -> Mapping[str, Sequence[Mention]]:
        """Return the mentions by what they refer to, without the fragment."""
        if self._by_link is None:
            self._by_link = {}
            for mention in self.mentions:
                value = mention.value
                link = without_fragment(value) if "#" in value else value
                self._by_link.setdefault(link, []).append(mention)
        return self._by_link

    def loaded(self) -> list[Mention]:
        """Return what a browser loads for the document."""
        return [each for each in self.mentions if each.use in LOADED_USES]


def outline_of(body: bytes, content_type: str) -> Outline:
    """Return the outline of a page or a file; empty for types without references.

    >>> outline_of(b"<p id=a>\\n<a href=b>B</a>", "text/html").mentions
    ... # doctest: +NORMALIZE_WHITESPACE
    [Mention(value='b', use=<Use.LINK: 0>, element='a', attribute='href', line=2, column=9,
    text='B', is_place=False, rel='')]
    """
    if is_html(content_type) or media_type(content_type) == SVG_TYPE:
        markup, charset = decode_html(body, content_type)
        tree = tree_of(markup, is_xml=is_xml(content_type))
        return outline_of_tree(tree, charset)
    return Outline(mentions=mentions_in_file(body, content_type))


def outline_of_tree(tree: Tree, charset: str) -> Outline:
    """Return the outline of a page."""
    bases = []
    found = []
    for each in itertools.chain(references_of(tree), urls_named_in(tree)):
        if each.use is Use.BASE:
            bases.append(each.value)
        else:
            found.append(_mention_of(tree, each))
    for noscript in tree.noscripts(REFERRING):
        # A browser that runs scripts loads none of it, but may come to all of it.
        for each in references_of(noscript):
            if each.use is not Use.BASE:
                use = Use.LINK if each.use in LOADED_USES else each.use
                found.append(_mention_of(noscript, each._replace(use=use)))
    found.sort(key=itemgetter(0))
    # What stands in several places of the tree is once in the source.
    found[1:] = [
        each
        for last, each in itertools.pairwise(found)
        if each[0] != last[0] or each[:5] != last[:5]
    ]
    values = as_sent([each[1] for each in found], charset)
    place = tree.lines().place
    mentions = [
        Mention(value, use, name, attribute, *place(at), text, is_place, rel)
        for value, (at, _, use, name, attribute, text, is_place, rel) in zip(
            values, found, strict=True
        )
    ]
    is_partial = tree.is_partial or len(tree.tags("a")) > MAX_LINKS
    return Outline(bases[0] if bases else "", mentions, _ids_in(tree), is_partial)


def mentions_in_headers(headers: Mapping[str, str]) -> list[Mention]:
    """Return the references in Link and Refresh headers.

    >>> mentions_in_headers({"Link": "</a>; rel=next"})[0][:3]
    ('/a', <Use.NAMED: 4>, 'Link header')
    """
    mentions = [
        Mention(target, Use.NAMED, "Link header", "", rel=" ".join(rels))
        for target, rels in links_in(headers)
        if refers_to_url(rels)
    ]
    found = parse_refresh(headers.get("Refresh", ""))
    if found is not None:
        mentions.append(Mention(found.reference, Use.LINK, "Refresh header", ""))
    return mentions


def _mention_of(
    tree: Tree, reference: Reference
) -> tuple[int, str, Use, str, str, str, bool, str]:
    """Return the offset of a reference, by which it is sorted, and the rest of a mention."""
    element, value, use, name, attribute, offset = reference
    at = tree.offset_of(element)
    if not attribute:
        tag = START_TAG.match(tree.source, at)
        at = tag.end() + offset if tag else at
    elif (found := attribute_finder(attribute)(tree.source, at)) and found[
        "quote"
    ] is not None:
        at = found.end("quote") + (0 if attribute == "srcdoc" else offset)
    is_link = name in ("a", "area") and attribute in ("href", "xlink:href")
    text = text_of_link(element)[: 4 * MAX_TEXT_CHARS] if is_link else ""
    # "/page" that MyST could not resolve is "#/page" in a link of docutils' class.
    is_place = (
        is_link
        and value.startswith("#/")
        and "internal" in (element.attr("class") or "")
    )
    rel = element.attr("rel") if name in ("a", "area", "link") else None
    rel = (rel or "")[:MAX_TEXT_CHARS]
    return at, value, use, name, attribute, text, is_place, rel


def _ids_in(tree: Tree) -> list[str]:
    """Return what the fragment of a link to the page may name; nothing in shadow roots."""
    document = tree.roots[0]
    names = [each.attr("name") for each in document.find_all("a")]
    found = [each.attr("id") for each in document.select("[id]")]
    return list(dict.fromkeys(each for each in (*found, *names) if each is not None))


def words_of(mention: Mention) -> str:
    """Return the text of a link in one line, or the element of another reference.

    >>> words_of(Mention("b", Use.LINK, "a", "href", text="The other\\npage"))
    'The other page'
    >>> words_of(Mention("b", Use.ASSET, "img", "src"))
    '<img src>'
    """
    return one_line(mention.text, MAX_TEXT_CHARS) or kind_of(mention)


def kind_of(mention: Mention) -> str:
    """Return the element and the attribute of a reference, or another name for its place.

    >>> kind_of(Mention("b", Use.LINK, "a", "href", text="B"))
    '<a href>'
    """
    if mention.attribute:
        return f"<{mention.element} {mention.attribute}>"
    return f"<{mention.element}>" if mention.element == "style" else mention.element


def upgraded(references: list[Mention], page: Fetched) -> list[Mention]:
    """Return references with https where the page asks browsers to load http things over it.

    Source: W3C, Upgrade Insecure Requests, 3.2.

    >>> page = Fetched("https://a.test/", 200, {"Content-Security-Policy": _UPGRADE}, b"", 0)
    >>> upgraded([Mention("http://b.test/c.png", Use.ASSET, "img", "src")], page)[0].value
    'https://b.test/c.png'
    """
    # Before the search of the page, which takes as long as parsing it.
    if not any(map(_is_http_thing, references)):
        return references
    policy = page.headers.get("Content-Security-Policy", "")
    if not (_UPGRADE in policy.lower() or _UPGRADES.search(page.body)):
        return references
    return [
        each._replace(value=_HTTP.sub("https:", each.value, 1))
        if _is_http_thing(each)
        else each
        for each in references
    ]


def _is_http_thing(reference: Mention) -> bool:
    return reference.use in LOADED_USES and _HTTP.match(reference.value) is not None
