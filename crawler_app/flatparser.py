"""Links and title of a page that is too hard to make a tree of.

Pure.  A tree parser takes time by the square of the depth, of the options of a select
box, and of the attributes of a tag: a million open ``<div>`` keep lexbor busy for a
quarter of an hour, and the crawl with it.  Browsers cut the tree at a depth of 512.  Here
such a page is read as a row of tags, in one pass.
"""

import html
import re
from collections.abc import Iterator

__all__ = ["is_too_hard", "tags_of"]

# Open elements, or options, at which the square begins to hurt: a third of a second.
MAX_DEPTH = 20_000

# Likewise the attributes of one tag, each of two characters at the least.
MAX_ATTRIBUTES = 10_000

# A page of this length cannot hold up anybody for more than half a second.
SMALL_PAGE_CHARS = 100_000

# A start or end tag, but of an element that holds no others, or that the next of its kind
# closes: however many of these are open in the text, the tree gets no deeper.  The end of
# an option is passed over too, so that all options count.
_TAG = re.compile(
    r"<(?!/option)(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr"
    r"|colgroup|p|tbody|td|tfoot|th|thead|tr)[\s/>])([a-z][^\s/>]*)",
    re.IGNORECASE,
)

_TAG_START = re.compile("<[a-zA-Z]")

# Each alternative takes what it began to the end of the text if it is never closed, so
# that nothing is looked at twice.
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|iframe|xmp)\b.*?(?:</\1|\Z)"
    r"|<title\b[^>]*(?:>(?P<title>.*?)(?:</title|\Z)|\Z)"
    r"|<(?P<tag>a|area|base)\s(?P<attributes>[^>]*)",
    re.IGNORECASE | re.DOTALL,
)
_HREF = re.compile(
    r"""(?:^|[\s"'/])href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)


def is_too_hard(text: str) -> bool:
    """Return whether a page may take a tree parser more than about half a second.

    >>> is_too_hard("<div>" * 30_000), is_too_hard("<p></p>" * 30_000)
    (True, False)
    """
    if len(text) < SMALL_PAGE_CHARS:
        return False
    return _is_too_deep(text) or _has_too_many_attributes(text)


def _has_too_many_attributes(text: str) -> bool:
    if _is_often_closed(text):
        return False
    return any(map(_begins_too_long_a_tag, text.split(">")))


def _is_often_closed(text: str) -> bool:
    """Return whether all pieces between two ">" are shorter than 2 * MAX_ATTRIBUTES.

    A longer one would fill a window of half its length, and few windows have to be looked
    into for more than some characters.
    """
    windows = range(0, len(text) - MAX_ATTRIBUTES + 1, MAX_ATTRIBUTES)
    return all(text.find(">", at, at + MAX_ATTRIBUTES) >= 0 for at in windows)


def _begins_too_long_a_tag(piece: str) -> bool:
    start = _TAG_START.search(piece) if len(piece) >= 2 * MAX_ATTRIBUTES else None
    if start is None:
        return False
    return len(piece[start.start() :].split(None, MAX_ATTRIBUTES)) > MAX_ATTRIBUTES


def _is_too_deep(text: str) -> bool:
    # Only start tags lead deeper, and half of all tags are none.
    tags = text.count("<")
    if tags <= MAX_DEPTH or tags - text.count("</") <= MAX_DEPTH:
        return False
    open_by_name: dict[str, int] = {}
    depth = 0
    for match in _TAG.finditer(text):
        is_end, name = match[1], match[2].lower()
        count = open_by_name.get(name, 0)
        if not is_end:
            depth += 1
            if depth > MAX_DEPTH:
                return True
            open_by_name[name] = count + 1
        elif count:
            depth -= 1
            open_by_name[name] = count - 1
    return False


def tags_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tags that matter to a crawl, in the order of the page.

    Each is its name with its ``href``, or ``title`` with the title's text.

    >>> list(tags_of('<TITLE>T</TITLE><!-- <a href=x> --><a class=c href="y&amp;z">'))
    [('title', 'T'), ('a', 'y&z')]
    """
    for piece in _PIECE.finditer(text):
        if piece["title"] is not None:
            yield "title", html.unescape(piece["title"])
        elif piece["tag"]:
            href = _HREF.search(piece["attributes"])
            if href:
                value = next(filter(None, href.groups()), "")
                yield piece["tag"].lower(), html.unescape(value)
