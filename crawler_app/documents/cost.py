"""Tells pages that are certainly cheap to parse.

Pure.  The time for a tree grows with the square of a page's depth or of the attributes of a
tag.  Worse are elements such as ``<font>`` that are never closed: the standard has the parser
open all of them again in each following block, with all their attributes (WHATWG HTML,
13.2.4.3), so that a page of 30 KB makes a tree of two million elements.  All of these are
bounded here from above, by counting in the bytes.
"""

import re
from collections import Counter

__all__ = ["is_cheap"]

# The most elements, and tags of any kind; at both limits, the worst page takes 40 ms.  Pages of
# 100 KB that people have written have half as many.
MAX_ELEMENTS = 3_000
MAX_TAGS = 5_000

# A page takes 1 ms for 50 KB besides.
MAX_BYTES = 512 * 1024

# The sum of the squares of the bytes of the tags, since an attribute takes two bytes: 2,200
# attributes in one tag take 12 ms.  Shorter tags do not add up to more than that.
MAX_SQUARES = 20_000_000
_LONG_TAG = re.compile(rb"<[a-zA-Z][^>]{99,}+")

# Bytes of the start tags that may be reopened, times the tags that may reopen them.  This
# much takes about ten milliseconds; a page that people have written has a tenth of it.
MAX_WORK = 500_000

# At most this many equal ones are reopened ("Noah's Ark clause").
MAX_EQUAL = 3

# Start tags of elements that may be reopened, up to their ends.  Those whose end tag follows,
# with nothing but text and ``<span>`` between, are closed for certain.  The look at the first
# letters spares most tags a comparison with each name.
_FORMATTING = re.compile(
    rb"<(?=[abcefinstu][eiomtu\s/>])"
    rb"((a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])[^>]*+)"
    rb"(>(?:[^<]++|</?span(?=[\s/>])[^>]*+>)*+</\2>)?",
    re.IGNORECASE,
)

# A quoted value with a ">" in it, behind which the tag goes on; rare.
_HIDDEN_END = re.compile(rb"""=\s*+(?:"[^">]*+>|'[^'>]*+>)""")

# Bytes that hide tags, in UTF-16 and in ISO-2022-JP.
_ZERO, _ESCAPE = b"\x00", b"\x1b"


def is_cheap(body: bytes, patience: float = 1) -> bool:
    """Return whether a page can be parsed in a few dozen milliseconds, even if hostile.

    Args:
        patience: A factor for the page; in the worst case, the time grows with its square.

    >>> is_cheap(b"<p>A <b>short</b> page"), is_cheap(b"<p>" * 10_000)
    (True, False)
    >>> is_cheap(b"".join(b"<p><font a%d>" % number for number in range(500)))
    False
    """
    if _ZERO in body or _ESCAPE in body or len(body) > patience * MAX_BYTES:
        return False
    tags = body.count(b"<")
    if len(body) ** 2 <= MAX_SQUARES and tags * len(body) <= MAX_WORK:
        return True
    if tags > patience * MAX_TAGS:
        return False
    if tags - body.count(b"</") > patience * MAX_ELEMENTS:
        return False
    # A tag ends at the next ">", unless that is in a quoted value.
    return (
        not _HIDDEN_END.search(body)
        and sum(len(tag) ** 2 for tag in _LONG_TAG.findall(body)) <= MAX_SQUARES
        and tags * _reopened_bytes(body) <= patience * MAX_WORK
    )


def _reopened_bytes(body: bytes) -> int:
    """Return a bound for the bytes of the start tags that are reopened at one place."""
    longest_link = 0
    starts: Counter[bytes] = Counter()
    for start, name, end in _FORMATTING.findall(body):
        if name in b"aA":
            # A link ends the one before it, so at most one is open.
            longest_link = max(longest_link, len(start))
        elif not end:
            starts[start] += 1
    return longest_link + sum(
        len(start) * min(times, MAX_EQUAL) for start, times in starts.items()
    )
