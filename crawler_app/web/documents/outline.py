"""The references of a page or a style sheet with their lines and columns, and its ids.

Pure.  Plain values, which are quickly sent between processes.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler_app.base.http_headers import is_html
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import without_fragment
from crawler_app.web.documents.charset import decode_html
from crawler_app.web.documents.css import decode_css, references_in_css
from crawler_app.web.documents.non_html import assets_of_file, may_have_assets
from crawler_app.web.documents.references import (
    LOADED_USES,
    Reference,
    Use,
    noting_ids,
    references_of,
)
from crawler_app.web.documents.sent_links import as_sent
from crawler_app.web.documents.start_tags import Lines, Place, tags_in

__all__ = ["Mention", "Outline", "mention_of", "outline_of", "words_of"]

# Of the source of a link's text.
MAX_SOURCE_CHARS = 400

MAX_TEXT_CHARS = 80

_TAG = re.compile(r"<[^>]*>?")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


class Mention(NamedTuple):
    """A reference in a document.

    Attributes:
        value: As written, without character references; its query in the document's charset.
        line: From 1; 0 if the document has no lines, as a manifest.
        column: From 1, in characters.
        source: The source of the text of a link; see `words_of`.
    """

    value: str
    use: Use
    element: str
    attribute: str
    line: int = 0
    column: int = 0
    source: str = ""


@dataclass(slots=True)
class Outline:
    """What a document refers to, and what its URLs may refer to in it.

    Attributes:
        base: The ``<base href>`` as written; empty if there is none.
        is_partial: Whether the document was too large to be read.
    """

    base: str = ""
    mentions: list[Mention] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    is_partial: bool = False
    _by_link: dict[str, list[Mention]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def by_link(self) -> Mapping[str, Sequence[Mention]]:
        """Return the mentions by what they refer to, without the fragment."""
        if self._by_link is None:
            self._by_link = {}
            for mention in self.mentions:
                link = without_fragment(mention.value)
                self._by_link.setdefault(link, []).append(mention)
        return self._by_link

    def loaded(self) -> list[Mention]:
        """Return what a browser loads for the document."""
        return [each for each in self.mentions if each.use in LOADED_USES]


def outline_of(body: bytes, content_type: str) -> Outline:
    """Return the outline of a page, a style sheet or a manifest; empty for other types.

    >>> outline_of(b"<p id=a>\\n<a href=b>B</a>", "text/html").mentions
    ... # doctest: +NORMALIZE_WHITESPACE
    [Mention(value='b', use=<Use.LINK: 0>, element='a', attribute='href', line=2, column=9,
    source='B')]
    """
    if is_html(content_type):
        return _of_page(*decode_html(body, content_type))
    if content_type.partition(";")[0].strip().lower() == "text/css":
        return _of_style_sheet(decode_css(body, content_type))
    if may_have_assets(content_type):
        found = assets_of_file(body, content_type)
        mentions = [Mention(each.value, each.use, each.element, "") for each in found]
        return Outline(mentions=mentions)
    return Outline()


def _of_page(markup: str, charset: str) -> Outline:
    mentions: list[Mention] = []
    bases: list[str] = []
    ids: list[str] = []
    lines = Lines(markup)
    # In one pass: lists of all tags and references would keep the garbage collector busy.
    for reference in references_of(noting_ids(tags_in(markup), ids)):
        if reference.use is Use.BASE:
            bases.append(reference.value)
        else:
            place = lines.place(reference.at)
            mentions.append(mention_of(reference, reference.value, place, markup))
    written = [mention.value for mention in mentions]
    sent = as_sent(written, charset)
    if sent is not written:
        pairs = zip(mentions, sent, strict=True)
        mentions = [mention._replace(value=value) for mention, value in pairs]
    return Outline(bases[0] if bases else "", mentions, ids)


def mention_of(reference: Reference, value: str, place: Place, markup: str) -> Mention:
    """Return a reference with its place, and the source of its text.

    Args:
        value: The reference as a browser sends it.
    """
    _, use, element, attribute, _, text_at = reference
    source = ""
    if element == "a" and text_at >= 0:
        end = markup.find("</a", text_at, text_at + MAX_SOURCE_CHARS)
        source = markup[text_at : end if end >= 0 else text_at + MAX_SOURCE_CHARS]
    return Mention(value, use, element, attribute, *place, source)


def _of_style_sheet(text: str) -> Outline:
    lines = Lines(text)
    mentions = []
    for found in references_in_css(text):
        name = "@import" if found.is_import else "url()"
        place = lines.place(found.at)
        mentions.append(Mention(found.value, Use.ASSET, name, "", *place))
    return Outline(mentions=mentions)


def words_of(mention: Mention) -> str:
    """Return the text of a link in one line, or the element of another reference.

    >>> words_of(Mention("b", Use.LINK, "a", "href", source="The <b>other</b>\\npage"))
    'The other page'
    >>> words_of(Mention("b", Use.ASSET, "img", "src"))
    '<img src>'
    """
    if mention.source:
        text = _TAG.sub("", mention.source) or " ".join(
            first or second for first, second in _ALT.findall(mention.source)
        )
        words = one_line(html.unescape(text), MAX_TEXT_CHARS)
        if words:
            return words
    if mention.attribute:
        return f"<{mention.element} {mention.attribute}>"
    return f"<{mention.element}>" if mention.element == "style" else mention.element
