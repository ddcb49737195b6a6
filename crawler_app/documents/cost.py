"""Tells pages that are certainly cheap to parse.

Pure.  The time for a tree grows with the square of a page's depth, of the attributes of a
tag, or of the options of a select box; that is harmless in a small page.  Worse are elements
such as ``<font>`` that are never closed: the standard has the parser open all of them again
in each following block, with all their attributes (WHATWG HTML, 13.2.4.3), so that a page of
30 KB makes a tree of two million elements.  Their number is bounded here from above.
"""

import re

__all__ = ["is_cheap"]

# A page of this size takes at most about twenty milliseconds, unless elements are reopened.
MAX_BYTES = 12 * 1024

# Bytes of the start tags that may be reopened, times the tags that may reopen them.  This
# much takes about ten milliseconds; a page that people have written has a tenth of it.
MAX_WORK = 500_000

# A quoted value may contain a ">".  A quote that is none only makes the match too long, and
# one without end takes all the rest: the bytes of a start tag are never left out.
_FORMATTING = re.compile(
    rb"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])"
    rb"""(?:[^>"']|"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))*""",
    re.IGNORECASE,
)

# At most this many equal ones are reopened ("Noah's Ark clause").
MAX_EQUAL = 3

# Bytes that hide tags: those of UTF-16, and the escapes of ISO-2022-JP.
_HIDING = (b"\x00", b"\x1b")


def is_cheap(body: bytes, patience: float = 1) -> bool:
    """Return whether a page can be parsed in a few dozen milliseconds, even if hostile.

    Args:
        patience: A factor for the time.  The size of the page may grow with it; in the
            worst case the time grows with the square of the size.

    >>> is_cheap(b"<p>A <b>short</b> page"), is_cheap(b"<p>" * 10_000)
    (True, False)
    >>> is_cheap(b"".join(b"<p><font a%d>" % number for number in range(500)))
    False
    """
    max_work = patience * MAX_WORK
    if len(body) > patience * MAX_BYTES or any(byte in body for byte in _HIDING):
        return False
    tags = body.count(b"<")
    return tags * len(body) <= max_work or tags * _reopened_bytes(body) <= max_work


def _reopened_bytes(body: bytes) -> int:
    """Return a bound for the bytes of the start tags that are reopened at one place."""
    tags = set(_FORMATTING.findall(body))
    # A link ends the one before it, so at most one is open.
    links = {tag for tag in tags if tag[:2].lower() == b"<a"}
    longest_link = max(map(len, links), default=0)
    return MAX_EQUAL * sum(map(len, tags - links)) + longest_link
