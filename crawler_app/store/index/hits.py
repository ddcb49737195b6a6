"""Search results: hits with snippets and highlights.  Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from crawler_app.store.index.letters import CLOSE, OPEN, shown

__all__ = ["Hit", "SearchResult", "Snippet", "read_snippet"]

# Some pages hold "words" of thousands of characters.
MAX_SNIPPET_CHARS = 400

_MARK = re.compile(f"([{OPEN}{CLOSE}])")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a page's text.

    Attributes:
        highlights: Start and end of each highlight, in characters of the text.
    """

    text: str
    highlights: list[tuple[int, int]] = field(default_factory=list)

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """Yield the text in pieces, and whether each is highlighted.

        >>> list(Snippet("an event loop", [(3, 8)]).pieces())
        [('an ', False), ('event', True), (' loop', False)]
        """
        end_before = 0
        for start, end in self.highlights:
            if start > end_before:
                yield self.text[end_before:start], False
            yield self.text[start:end], True
            end_before = end
        if end_before < len(self.text):
            yield self.text[end_before:], False


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that matches a query.

    Attributes:
        url: The canonical URL.
        title: Its title; empty if it has none.
        snippet: A piece of its text, with the words that were found.
        score: Relevance; comparable only within the hits of one query.
        is_title: Whether its whole title is the query; such pages come first.
    """

    url: str
    title: str
    snippet: Snippet
    score: float
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a query.

    Attributes:
        query: The query as given.
        total: Number of pages that match.
        offset: How many of them come before those in ``hits``.
        hits: The pages, best match first.
        hint: What to try if there are none; otherwise empty.
    """

    query: str
    total: int
    offset: int
    hits: list[Hit]
    hint: str = ""


def read_snippet(marked: str) -> Snippet:
    """Return the snippet of a stored text in which FTS5 has marked the matches.

    >>> read_snippet("an  \x02event loop\x03 is")
    Snippet(text='an event loop is', highlights=[(3, 13)])
    """
    text = ""
    highlights: list[tuple[int, int]] = []
    is_found = False
    for piece in _MARK.split(marked):
        if piece in (OPEN, CLOSE):
            is_found = piece == OPEN
            continue
        start = len(text)
        text += _one_line(shown(piece), text)
        if is_found and len(text) > start:
            highlights.append((start, len(text)))
    return _cut(text, highlights)


def _one_line(piece: str, before: str) -> str:
    piece = re.sub(r"\s+", " ", piece)
    return piece.lstrip() if not before or before.endswith(" ") else piece


def _cut(text: str, highlights: list[tuple[int, int]]) -> Snippet:
    """Shorten a text to what is around its first highlight."""
    start = 0
    if len(text) > MAX_SNIPPET_CHARS and highlights:
        start = max(0, highlights[0][0] - MAX_SNIPPET_CHARS // 4)
    text = text[start : start + MAX_SNIPPET_CHARS].rstrip()
    inside = [(max(a - start, 0), min(b - start, len(text))) for a, b in highlights]
    return Snippet(text, [(a, b) for a, b in inside if a < b])
