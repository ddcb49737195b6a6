"""Recognizes pages that are certainly cheap to parse.

Pure.  The time for a tree grows with the square of a page's depth or of the attributes of a
tag.  Worse are elements such as ``<font>`` that are never closed: the standard has the parser
open all of them again in each following block, with all their attributes (WHATWG HTML,
13.2.4.3), so that a page of 30 KB makes a tree of two million elements.  All of these are
bounded here from above, by counting in the bytes.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable

import re2

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

# Start tags of elements that may be reopened; of links, only one at a time.  The look at the
# first letters spares most tags a comparison with each name.
_NAMES = rb"b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMATTING = re.compile(
    rb"<(?=[bcefinstu][eiomtu\s/>])(?:%b)(?=[\s/>])[^>]*+" % _NAMES, re.IGNORECASE
)

# The same and links, up to their ends.  Those whose end tag follows, with nothing between but
# text, ``<span>`` and elements that contain only text, are closed for certain.
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_FORMATTING_TO_END = re.compile(
    rb"<(?=[abcefinstu][eiomtu\s/>])((a|%b)(?=[\s/>])[^>]*+)"
    rb"(>(?:[^<]++|</?span(?=[\s/>])[^>]*+>|<(%b)>[^<]*+</\4>|(?!))*+</\2>)?"
    % (_NAMES, _NAMES),
    re.IGNORECASE,
)

# A tag ends at the next ">", unless that is in a quoted value; rare.
_HIDDEN_END = rb"""=\s*(?:"[^">]*>|'[^'>]*>)"""

# Nineteen in twenty pages of manuals have shorter tags only.
SHORT_BYTES = 250

# Bytes that hide tags, in UTF-16 and in ISO-2022-JP.
_ZERO, _ESCAPE = b"\x00", b"\x1b"


def is_cheap(body: bytes) -> bool:
    """Return whether a page can be parsed in a few dozen milliseconds, even if hostile.

    >>> is_cheap(b"<p>A <b>short</b> page"), is_cheap(b"<p>" * 10_000)
    (True, False)
    >>> is_cheap(b"".join(b"<p><font a%d>" % number for number in range(500)))
    False
    """
    if _ZERO in body or _ESCAPE in body or len(body) > MAX_BYTES:
        return False
    tags = body.count(b"<")
    if len(body) ** 2 <= MAX_SQUARES and tags * len(body) <= MAX_WORK:
        return True
    if tags > MAX_TAGS:
        return False
    if tags > MAX_ELEMENTS and tags - body.count(b"</") > MAX_ELEMENTS:
        return False
    find_unusual, find_hidden_end = _searches()
    if SHORT_BYTES * len(body) <= MAX_SQUARES and not find_unusual(body):
        starts = sum(map(len, set(_FORMATTING.findall(body))))
        if tags * (SHORT_BYTES + MAX_EQUAL * starts) <= MAX_WORK:
            return True
    elif find_hidden_end(body):
        return False
    return (
        sum(len(tag) ** 2 for tag in _LONG_TAG.findall(body)) <= MAX_SQUARES
        and tags * _reopened_bytes(body) <= MAX_WORK
    )


@functools.cache
def _searches() -> tuple[Callable[[bytes], object], Callable[[bytes], object]]:
    """Return searches for a tag that is not short or has a hidden end, and for the latter.

    With RE2, which takes the same time for each byte, however many tags there are.
    """
    options = re2.Options()
    # In UTF-8, a class does not match invalid bytes.
    options.encoding = re2.Options.Encoding.LATIN1
    unusual = rb"%b|<[a-zA-Z][^>]{%d}" % (_HIDDEN_END, SHORT_BYTES - 1)
    hidden_end = re2.compile(_HIDDEN_END, options)
    return re2.compile(unusual, options).search, hidden_end.search


def _reopened_bytes(body: bytes) -> int:
    """Return a bound for the bytes of the start tags that are reopened at one place."""
    longest_link = 0
    starts: Counter[bytes] = Counter()
    for start, name, end, _ in _FORMATTING_TO_END.findall(body):
        if end:
            continue
        if name in b"aA":
            # A link ends the one before it, so at most one is open.
            longest_link = max(longest_link, len(start))
        else:
            starts[start] += 1
    return longest_link + sum(
        len(start) * min(times, MAX_EQUAL) for start, times in starts.items()
    )
