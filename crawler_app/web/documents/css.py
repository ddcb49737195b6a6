"""References in style sheets: ``url()``, ``src()``, ``@import`` and ``image-set()``.

Pure.  Reads the tokens that matter and skips comments, strings and everything else, as CSS
Syntax Module Level 3 has it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import webencodings

from crawler_app.web.documents.charset import charset_of_header

__all__ = ["StyleReference", "decode_css", "references_in_css"]

_SPACE = r"[ \t\n\r\f]"
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_STRING = (
    r""""(?:[^"\\\n\r\f]++|\\(?:\r\n|[\s\S])|(?!))*+"?"""
    r"""|'(?:[^'\\\n\r\f]++|\\(?:\r\n|[\s\S])|(?!))*+'?"""
)
_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"


def _letter(letter: str) -> str:
    """Return a pattern for a letter, as it is or escaped."""
    codes = "|".join(f"{ord(each):x}" for each in (letter, letter.upper()))
    return rf"(?:{letter}|\\{letter}|\\0{{0,4}}(?:{codes}){_SPACE}?)"


# A letter from "a" to "f" after a backslash is a code, so "src(" has fewer spellings.
_URL = "".join(map(_letter, "url"))
_PIECE = re.compile(
    rf"{_COMMENT}|(?P<string>{_STRING})"
    rf"|(?P<rule>@(?:import|namespace|document|-moz-document)(?![\w\-\\]))"
    rf"|(?<![\w\-\\])(?:(?P<url>(?:{_URL}|src)\({_SPACE}*+)|(?P<set>(?:-webkit-)?image-set\())"
    r"|(?P<mark>[{;])",
    re.IGNORECASE,
)
_IN_SET = re.compile(
    rf"{_COMMENT}|(?P<string>{_STRING})|(?P<url>{_URL}\({_SPACE}*+)|(?P<paren>[()])",
    re.IGNORECASE,
)
_QUOTED = re.compile(_STRING)
_UNQUOTED = re.compile(r"(?:[^)\\\s\"'(]++|\\[^\n\r\f]|(?!))*+")
_END_OF_URL = re.compile(rf"{_SPACE}*+(?:\)|\Z)")
_ESCAPE = re.compile(
    r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?|(\r\n|[\n\r\f])|([\s\S])|\Z)"
)
_CHARSET = re.compile(rb'@charset "([^"]{1,40})";')


class StyleReference(NamedTuple):
    """A reference in a style sheet.

    Attributes:
        value: Unescaped.
        at: Its offset in the text.
        is_import: Whether it is that of an ``@import``.
    """

    value: str
    at: int
    is_import: bool = False


def decode_css(body: bytes, content_type: str = "") -> str:
    """Return the text of a style sheet.

    The charset is that of a byte order mark, of the header, or of an ``@charset`` rule,
    otherwise UTF-8.

    >>> decode_css(b'@charset "latin1"; a { content: "\\xe9" }')[-5:]
    '"é" }'
    """
    label = charset_of_header(content_type)
    if not label and (found := _CHARSET.match(body)):
        label = found[1].decode("latin-1")
    encoding = webencodings.lookup(label) if label else None
    text, _ = webencodings.decode(body, encoding or webencodings.UTF8)
    return text


def references_in_css(
    text: str, *, is_attribute: bool = False
) -> Iterator[StyleReference]:
    """Yield what a style sheet refers to, in order; empty references and fragments too.

    Args:
        is_attribute: Whether it is the value of a ``style`` attribute, without rules.

    >>> [found.value for found in references_in_css('@import "a.css"; p {x: url(b)}')]
    ['a.css', 'b']
    """
    lowered = text.lower()
    if not any(
        word in lowered for word in ("url", "@import", "\\", "src(", "image-set")
    ):
        return
    rule, may_import, at = "", not is_attribute, 0
    while (found := _PIECE.search(text, at)) is not None:
        at = found.end()
        if found["mark"]:
            # An @import counts only before other rules.
            may_import = may_import and found["mark"] == ";"
            rule = ""
        elif found["rule"]:
            rule = found["rule"].lower()
        elif found["string"]:
            if rule == "@import" and may_import:
                yield StyleReference(_string(found[0]), found.start() + 1, True)
                rule = "done"
        elif found["url"]:
            reference, at = _url(text, at)
            if reference is not None and (
                not rule or (rule == "@import" and may_import)
            ):
                yield reference._replace(is_import=bool(rule))
                rule = rule and "done"
        elif found["set"]:
            end = at
            for reference, end in _image_set(text, at):
                if reference is not None:
                    yield reference
            at = end


def _url(text: str, at: int) -> tuple[StyleReference | None, int]:
    """Return the reference in a ``url(``, and where it ends; None if it is invalid."""
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return StyleReference(_string(quoted[0]), at + 1), quoted.end()
    unquoted = _UNQUOTED.match(text, at)
    assert unquoted is not None
    end = _END_OF_URL.match(text, unquoted.end())
    if end is None:  # a "bad url"
        close = text.find(")", unquoted.end())
        return None, len(text) if close < 0 else close + 1
    return StyleReference(_unescaped(unquoted[0]), at), end.end()


def _image_set(text: str, at: int) -> Iterator[tuple[StyleReference | None, int]]:
    """Yield the references in an ``image-set(``, and after each how far it was read."""
    depth = 1
    while depth and (found := _IN_SET.search(text, at)) is not None:
        at, reference = found.end(), None
        if found["paren"]:
            depth += 1 if found[0] == "(" else -1
        elif found["url"]:
            reference, at = _url(text, at)
            if reference is not None and text[reference.at - 1 : reference.at] in "\"'":
                depth += 1  # the ")" is still to come
        elif found["string"] and depth == 1:  # deeper ones name types
            reference = StyleReference(_string(found[0]), found.start() + 1)
        yield reference, at


def _string(quoted: str) -> str:
    end = -1 if len(quoted) > 1 and quoted[-1] == quoted[0] else None
    return _unescaped(quoted[1:end])


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    code, line_break, char = escape.groups()
    if code is not None:
        number = int(code, 16)
        is_valid = 0 < number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
        return chr(number) if is_valid else "\N{REPLACEMENT CHARACTER}"
    return "" if line_break else char or ""
