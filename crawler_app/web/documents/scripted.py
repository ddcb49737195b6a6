"""Recognizes a page that a script makes in the browser: what the server sends is a shell.

Pure.  Only a page without links is worth a look.
"""

import re

__all__ = ["is_made_by_script"]

# A shell is small, but its scripts may be in it.
MAX_BYTES = 2 * 2**20

# "Loading ..." in several languages.
MAX_TEXT_BYTES = 60

_HIDDEN = re.compile(
    rb"<!--|<(script|style|noscript|template|title|svg)\b", re.IGNORECASE
)
_END_BY_NAME = {
    name: re.compile(rb"</" + name + rb"[^>]*>", re.IGNORECASE)
    for name in (b"script", b"style", b"noscript", b"template", b"title", b"svg")
}
_TAG = re.compile(rb"<[^<>]*>|&[#\w]+;")

# A page with one of these shows something without a script.
_SHOWN = re.compile(
    rb"<(?:audio|button|embed|form|frame|iframe|img|input|object|picture|table|video)\b",
    re.IGNORECASE,
)


def is_made_by_script(body: bytes) -> bool:
    """Return whether a page without links has scripts, and nothing to show without them.

    >>> is_made_by_script(b"<title>App</title><div id=root></div><script src=a.js></script>")
    True
    >>> is_made_by_script(b"<p>The offices are closed until the end of the month, and the "
    ...     b"phone is answered in the morning only.<script>count()</script>")
    False
    """
    if len(body) > MAX_BYTES or b"<script" not in body.lower():
        return False
    shown = b"".join(_shown_parts(body))
    if _SHOWN.search(shown):
        return False
    return len(b" ".join(_TAG.sub(b" ", shown).split())) <= MAX_TEXT_BYTES


def _shown_parts(body: bytes) -> list[bytes]:
    """Return what is outside of comments and of elements that show nothing."""
    parts, at = [], 0
    while found := _HIDDEN.search(body, at):
        parts.append(body[at : found.start()])
        if found[1] is None:
            at = body.find(b"-->", found.end())
            if at < 0:
                return parts
        else:
            end = _END_BY_NAME[found[1].lower()].search(body, found.end())
            if end is None:
                return parts
            at = end.end()
    return [*parts, body[at:]]
