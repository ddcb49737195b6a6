"""Text that a page made by a script carries as JSON.

Pure.  Forums in particular show nothing without scripts, but have their posts, in HTML, in an
attribute or a script of the page.
"""

import json
import re
from collections.abc import Iterator
from html import unescape

from turbohtml import Element, parse_fragment

__all__ = ["embedded_text"]

# Strings of JSON may contain JSON.
MAX_DEPTH = 3

_IN_ATTRIBUTE = re.compile(r'\sdata-[a-z-]*+=(?:"(\{[^"]*+)"|\'(\{[^\']*+)\')')
# Neither attributes nor text are read twice, so that no page takes quadratic time.
_SCRIPT = re.compile(
    r"<script(\s[^<>]*+)>([^<]*+(?:<(?!/script)[^<]*+|(?!))*+)", re.IGNORECASE
)
_JSON = "application/json"
_PARAGRAPH_END = "</p>"


def embedded_text(source: str) -> list[Element]:
    """Return the pieces of HTML in the JSON of a page, in their order, as elements.

    >>> page = '<div data-post=\\'{"html": "<p>Hello</p>"}\\'></div>'
    >>> [each.text for each in embedded_text(page)]
    ['Hello']
    """
    found = (unescape(one or other) for one, other in _IN_ATTRIBUTE.findall(source))
    scripts = (
        text
        for attributes, text in _SCRIPT.findall(source)
        if _JSON in attributes.lower()
    )
    texts = [*found, *scripts]
    pieces = dict.fromkeys(piece for text in texts for piece in _pieces_in(text))
    return [parse_fragment(piece, positions=False) for piece in pieces]


def _pieces_in(text: str, depth: int = 0) -> Iterator[str]:
    try:
        values = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while values:  # the first of them is the last of the list
        value = values.pop()
        if isinstance(value, dict):
            values.extend(reversed(value.values()))
        elif isinstance(value, list):
            values.extend(reversed(value))
        elif isinstance(value, str):
            if value[:1] in ("{", "[") and depth < MAX_DEPTH:
                yield from _pieces_in(value, depth + 1)
            elif _PARAGRAPH_END in value:
                yield value
