"""Renders search results as text and as JSON."""

from typing import Any

from crawler_app.base.text.escaping import without_commands, without_controls
from crawler_app.store.index import Hit, SearchResult, Snippet

__all__ = ["render_hits", "to_json"]

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def render_hits(result: SearchResult, *, bold: bool) -> str:
    """Return the hits as text, without a newline at the end.

    Args:
        bold: Highlight the words of the query with a terminal's bold.

    >>> hit = Hit("http://a.test/", "Home", Snippet("the mill", [(4, 8)]), 1.0)
    >>> print(render_hits(SearchResult("mill", 1, 0, [hit]), bold=False))
    1 page found for: mill
    <BLANKLINE>
      1. Home
         http://a.test/
         the mill
    """
    blocks = [_total(result)]
    for number, hit in enumerate(result.hits, result.offset + 1):
        blocks.append(_block(number, hit, bold))
    if result.hint:
        blocks.append(without_controls(result.hint))
    return without_commands("\n\n".join(blocks))


def _total(result: SearchResult) -> str:
    query = without_controls(result.query)
    if not result.total:
        return f"no page found for: {query}"
    if result.total == 1:
        return f"1 page found for: {query}"
    total = f"{result.total:,} pages found for: {query}"
    if not result.hits:
        return f"{total} (none after the first {result.offset:,})"
    if len(result.hits) == result.total:
        return total
    first, last = result.offset + 1, result.offset + len(result.hits)
    return f"{total} ({first:,} to {last:,} are shown)"


def _block(number: int, hit: Hit, bold: bool) -> str:
    lines = [
        f"{number:>3}. {without_controls(hit.title) or '(no title)'}",
        f"     {without_controls(hit.url)}",
    ]
    if hit.snippet.text:
        lines.append(f"     {_line(hit.snippet, bold)}")
    return "\n".join(lines)


def _line(snippet: Snippet, bold: bool) -> str:
    """Return a snippet without the page's control characters, but with ours."""
    pieces = []
    for text, is_found in snippet.pieces():
        text = without_controls(text)
        pieces.append(f"{BOLD}{text}{PLAIN}" if bold and is_found else text)
    return "".join(pieces)


def to_json(result: SearchResult) -> dict[str, Any]:
    """Return the result as plain values, for ``search --json``.

    Highlights are offsets in characters (code points) of the snippet.

    >>> hit = Hit("http://a.test/", "Home", Snippet("the mill", [(4, 8)]), 1.0)
    >>> to_json(SearchResult("mill", 1, 0, [hit]))["hits"][0]["highlights"]
    [[4, 8]]
    """
    return {
        "query": result.query,
        "total": result.total,
        "offset": result.offset,
        "hits": [
            {
                "url": hit.url,
                "title": hit.title,
                "snippet": hit.snippet.text,
                "highlights": [list(place) for place in hit.snippet.highlights],
                "score": hit.score,
            }
            for hit in result.hits
        ],
        "hint": result.hint or None,
    }
