"""Reads a page tag by tag, without building a tree.

Pure.  A tree parser takes time quadratic in the depth, in the options of a select box, and
in the attributes of a tag: a million open ``<div>`` tags block lexbor, and with it the
crawl, for a quarter of an hour.  Browsers limit the tree to a depth of 512.  Here the
links, title and text of such a page are read in a few passes.

The head of every page is read in this way too, and not only for speed.  For a parser without
scripting, ``<noscript><img></noscript>`` ends the head, which truncates half of all real
heads; for a browser, and for the author, the head continues.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator

from crawler_app.documents.elements import (
    AROUND,
    BLOCKS,
    BOXES,
    HEADINGS,
    ROW_HOLDERS,
    ROWS,
    UNSEEN,
)

__all__ = [
    "HEADING_END",
    "HEADING_START",
    "has_open_noscript",
    "is_too_hard",
    "tags_of",
    "tags_of_head",
    "text_of",
]

# Open elements, or options, for which the quadratic time reaches a third of a second.
MAX_DEPTH = 20_000

# The same for the attributes of one tag, each of which has at least two characters.
MAX_ATTRIBUTES = 10_000

# A page of at most this length never takes more than half a second.
SMALL_PAGE_CHARS = 100_000

# A start or end tag, except of void elements and of elements that the next of their kind
# closes: those do not make the tree deeper.  The end tag of an option is skipped too, so
# that all options count.
_TAG = re.compile(
    r"<(?!/option)(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr"
    r"|colgroup|p|tbody|td|tfoot|th|thead|tr)[\s/>])([a-z][^\s/>]*)",
    re.IGNORECASE,
)

_TAG_START = re.compile("<[a-zA-Z]")

# If an element is never closed, its alternative matches to the end of the text, so that
# nothing is scanned twice.
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
_NOFOLLOW = re.compile(
    r"""(?:^|[\s"'/])rel\s*=\s*(?:"[^"]*\bnofollow\b|'[^']*\bnofollow\b|nofollow\b)""",
    re.IGNORECASE,
)

_NOSCRIPT = re.compile(r"<noscript\b(.*?)(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL)

# Except of void elements.
_START_TAG = re.compile(
    r"<(?!(?:br|embed|hr|img|input|link|meta|wbr)[\s/>])[a-z]", re.IGNORECASE
)

_END_OF_HEAD = re.compile(r"</head\s*>|<body[\s>]", re.IGNORECASE)
_HEAD_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(noscript|script|style|template|title)\b[^<]*(?:<(?!/\1)[^<]*)*"
    r"|<(?:link|meta)\s(?P<attributes>[^>]*)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"""
)

# Mark a heading in a text.  Python treats them as white space, so str.split removes them.
HEADING_START, HEADING_END = "\x1c", "\x1d"


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

    A longer piece would fill a window of half its length, and in most windows the search
    ends after a few characters.
    """
    windows = range(0, len(text) - MAX_ATTRIBUTES + 1, MAX_ATTRIBUTES)
    return all(text.find(">", at, at + MAX_ATTRIBUTES) >= 0 for at in windows)


def _begins_too_long_a_tag(piece: str) -> bool:
    start = _TAG_START.search(piece) if len(piece) >= 2 * MAX_ATTRIBUTES else None
    if start is None:
        return False
    return len(piece[start.start() :].split(None, MAX_ATTRIBUTES)) > MAX_ATTRIBUTES


def _is_too_deep(text: str) -> bool:
    # Only start tags add depth, and half of all tags are end tags.
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


def has_open_noscript(text: str) -> bool:
    """Return whether an element is opened in a ``<noscript>`` and not closed there.

    For a parser without scripting, the rest of the page may then be part of the noscript.

    >>> has_open_noscript("<noscript><p>No scripts!</noscript><p>Text")
    True
    """
    return any(
        len(_START_TAG.findall(piece)) > piece.count("</")
        for piece in _NOSCRIPT.findall(text)
    )


def tags_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tags that a crawl needs, in document order.

    Each is a pair of the tag's name and its ``href``, or of ``title`` and the title's text.
    An ``a`` or ``area`` with ``rel=nofollow`` is followed by ``nofollow`` with the same
    ``href``.

    >>> list(tags_of('<TITLE>T</TITLE><!-- <a href=x> --><a class=c href="y&amp;z">'))
    [('title', 'T'), ('a', 'y&z')]
    """
    for piece in _PIECE.finditer(text):
        if piece["title"] is not None:
            yield "title", html.unescape(piece["title"])
        elif piece["tag"]:
            href = _HREF.search(piece["attributes"])
            if href:
                value = html.unescape(next(filter(None, href.groups()), ""))
                tag = piece["tag"].lower()
                yield tag, value
                if tag != "base" and _NOFOLLOW.search(piece["attributes"]):
                    yield "nofollow", value


def tags_of_head(text: str, agent: str) -> Iterator[tuple[str, str]]:
    """Yield the robots directives and the canonical link in the head of a page.

    Each is a pair: ``robots`` and directives for all robots or for the agent, or
    ``canonical`` and the ``href``.  The body is ignored, because it may contain text that
    users of the site have written.

    >>> list(tags_of_head("<link rel=canonical href=/><meta name=x content=none>", "X"))
    [('canonical', '/'), ('robots', 'none')]
    """
    agent = agent.lower()
    end = _END_OF_HEAD.search(text)
    for piece in _HEAD_PIECE.finditer(text, 0, end.start() if end else len(text)):
        words = (piece["attributes"] or "").lower()
        if "canonical" in words or "robots" in words or agent in words:
            value = _attributes(piece["attributes"])
            if value["name"].strip().lower() in ("robots", agent):
                yield "robots", value["content"]
            elif value["href"] and "canonical" in value["rel"].lower().split():
                yield "canonical", value["href"]


def _attributes(text: str) -> defaultdict[str, str]:
    """Return the values of a tag's attributes; of repeated ones, the first counts."""
    value_by_name: defaultdict[str, str] = defaultdict(str)
    for name, *values in _ATTRIBUTE.findall(text):
        value_by_name.setdefault(name.lower(), html.unescape("".join(values)))
    return value_by_name


def _elements(names: str) -> re.Pattern[str]:
    # An element that is never closed ends with the text, so that nothing is scanned twice.
    pattern = rf"<({names})(?![^\s/>]).*?(?:</\1(?![^\s/>])[^>]*|\Z)>?"
    return re.compile(rf"<!--.*?(?:-->|\Z)|{pattern}", re.IGNORECASE | re.DOTALL)


def _tags(names: str) -> re.Pattern[str]:
    pattern = rf"<(/?)(?:{names})(?![^\s/>])[^>]*>?"
    return re.compile(pattern, re.IGNORECASE)


_UNSEEN = _elements(UNSEEN)
_UNREAD = _elements(f"{BOXES}|{AROUND}")
_BOX = _elements(BOXES)
_HEADING_TAG = _tags(HEADINGS)
_BLOCK_TAG = _tags(f"{BLOCKS}|{ROWS}|{ROW_HOLDERS}|{AROUND}")
_OTHER_TAG = re.compile(r"<[!?/a-z][^>]*>?", re.IGNORECASE)


def text_of(text: str, is_bare: bool = False) -> str:
    """Return the visible text of a page, with marks around the headings.

    White space is not normalized; some is inserted where a block begins or ends.

    Args:
        is_bare: Whether to include the parts around the main text, such as navigation.

    >>> text_of("<h2>A</h2>b<i>c</i> &amp;<nav>d</nav><script>e</script>").split()
    ['A', 'bc', '&']
    """
    text = (_BOX if is_bare else _UNREAD).sub(" ", _UNSEEN.sub("", text))
    text = _HEADING_TAG.sub(_heading_mark, text)
    return html.unescape(_OTHER_TAG.sub("", _BLOCK_TAG.sub(" ", text)))


def _heading_mark(tag: re.Match[str]) -> str:
    return HEADING_END if tag[1] else HEADING_START
