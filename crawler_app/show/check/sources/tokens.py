"""What may be a reference in a source file, with its place and the text beside it.  Pure.

No format is parsed: in each, a reference stands between blanks, quotes, brackets or backticks.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["Token", "is_beside", "normal", "tokens_of", "with_uses", "words_of"]

# One pair of parentheses may be in a URL, as in those of Wikipedia.
_TOKEN = re.compile(
    r"(?:[^\s\"'<>`()\[\]{}|,\\]|\\(?!n|\"))"
    r"(?:[^\s\"'<>`()\[\]{}|,\\]|\\(?!n|\")|,(?=\S)|\([^\s()]*\))*"
)
# Blanks are allowed in these, which are tokens as a whole.
_WHOLE = re.compile(
    r"(?:href|src|url|link|to)\s*[=:]\s*\\?[\"']([^\"'\n\\]+)"
    r"|\]\(<([^>\n]+)>|\]\(([^()<>\n\"]*[^()<>\n\"\s])\)"
    r"|:: +(\S[^\n]*\S) *$|`[^`\n]*<([^>`\n]+)>`",
    re.MULTILINE,
)

# Examples and comments: not shown as links, so only a last resort.
_FENCE = re.compile(
    r"^ *(`{3,}|~{3,})[\s\S]*?(?:^ *\1|\Z)|<!--[\s\S]*?-->", re.MULTILINE
)
_LITERAL = re.compile(
    r"^( *)(?:\.\. (?:code|code-block|sourcecode|parsed-literal)::.*|(?!\.\. ).*::)\n"
    r"(?: *\n|\1 +\S.*\n?)+",
    re.MULTILINE,
)


class Token(NamedTuple):
    """A piece of a line that may be a reference.

    Attributes:
        text: Without escapes.
        column: From 1, in characters.
        is_example: Whether it is in code or in a comment.
    """

    text: str
    line: int
    column: int
    is_example: bool


def tokens_of(text: str, *, is_rst: bool = False) -> Iterator[Token]:
    """Yield what may be references.

    Args:
        is_rst: Whether examples are those of reStructuredText.

    >>> [token.text for token in tokens_of("See [a](b.md#c), or `d <e f.html>`_")]
    ['See', 'a', 'b.md#c', 'or', 'd', 'e', 'f.html', '_', 'b.md#c', 'e f.html']
    """
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    pattern = _LITERAL if is_rst else _FENCE
    examples = [found.span() for found in pattern.finditer(text)]
    for pattern in (_TOKEN, _WHOLE):
        for found in pattern.finditer(text):
            start = found.start(found.lastindex or 0)
            line = bisect_right(starts, start)
            at = bisect_right(examples, (start, len(text))) - 1
            is_example = at >= 0 and start < examples[at][1]
            column = start - starts[line - 1] + 1
            reference = normal(found[found.lastindex or 0])
            yield Token(reference, line, column, is_example)


def normal(reference: str) -> str:
    """Return a reference without escapes, and what punctuation may follow it.

    >>> normal("a%20b?c=d&amp;e=f."), normal("_name:")
    ('a b?c=d&e=f', '_name')
    """
    return unquote(html.unescape(reference)).strip().rstrip(".:;,!*")


def with_uses(lines: list[str], at: int) -> str:
    """Return a line; for ``[label]: URL`` of Markdown, with the lines that name the label."""
    if not (label := re.match(r"\s*(\[[^\]]+\]):", lines[at])):
        return lines[at]
    return "\n".join(line for line in lines if label[1] in line)


def is_beside(text: list[str], lines: list[str], token: Token) -> bool:
    """Return whether a text is just before a token, or after the tag that it is in."""
    at, column = token.line - 1, token.column - 1
    before = "\n".join((*lines[max(0, at - 2) : at], lines[at][:column]))
    after = "\n".join((lines[at][column:], *lines[at + 1 : at + 3])).partition(">")[2]
    beside = words_of(before)[-len(text) :], words_of(after)[: len(text)]
    return bool(text) and text in beside


def words_of(text: str) -> list[str]:
    """Return the words of a text, without marks and case."""
    return re.findall(r"[^\W_]+", text.casefold())
