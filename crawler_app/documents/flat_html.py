"""A page read as a row of tags, where a tree of it is too hard or not worth while.

Pure.  A tree parser takes time by the square of the depth, of the options of a select
box, and of the attributes of a tag: a million open ``<div>`` keep lexbor busy for a
quarter of an hour, and the crawl with it.  Browsers cut the tree at a depth of 512.  Here
such a page gives its links, title and text in one pass or a few.

The head of every page is read in this way too, and not for speed alone.  To a parser that
runs no scripts, ``<noscript><img></noscript>`` ends the head, so that in its tree half of
the real heads are cut short; for a browser, and for the author, they go on.
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
_NOFOLLOW = re.compile(
    r"""(?:^|[\s"'/])rel\s*=\s*(?:"[^"]*\bnofollow\b|'[^']*\bnofollow\b|nofollow\b)""",
    re.IGNORECASE,
)

_NOSCRIPT = re.compile(r"<noscript\b(.*?)(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL)

# But of an element that holds no others.
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

# Marks of a heading in a text.  Being white space to Python, they go with the rest of it.
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


def has_open_noscript(text: str) -> bool:
    """Return whether something is opened in a ``<noscript>`` and not closed there.

    To a parser that runs no scripts the rest of the page may be part of it then.

    >>> has_open_noscript("<noscript><p>No scripts!</noscript><p>Text")
    True
    """
    return any(
        len(_START_TAG.findall(piece)) > piece.count("</")
        for piece in _NOSCRIPT.findall(text)
    )


def tags_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tags that matter to a crawl, in the order of the page.

    Each is its name with its ``href``, or ``title`` with the title's text.  After an ``a``
    or ``area`` with ``rel=nofollow`` comes ``nofollow``, with the same ``href``.

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
    """Yield what the head of a page says to robots.

    That is ``robots`` with what they, or the agent among them, are asked for, and
    ``canonical`` with the ``href``.  What stands in the body does not count: it may have
    been written by anybody.

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
    """Return the values of a tag's attributes; the first of a name counts."""
    value_by_name: defaultdict[str, str] = defaultdict(str)
    for name, *values in _ATTRIBUTE.findall(text):
        value_by_name.setdefault(name.lower(), html.unescape("".join(values)))
    return value_by_name


def _elements(names: str) -> re.Pattern[str]:
    # To the end of the text if it is never closed, so that no time is lost on another try.
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
    """Return what a person reads on a page, with marks around the headings.

    White space is left as it is, and there is some where a block begins or ends.

    Args:
        is_bare: Whether to read what stands around the text too.

    >>> text_of("<h2>A</h2>b<i>c</i> &amp;<nav>d</nav><script>e</script>").split()
    ['A', 'bc', '&']
    """
    text = (_BOX if is_bare else _UNREAD).sub(" ", _UNSEEN.sub("", text))
    text = _HEADING_TAG.sub(_heading_mark, text)
    return html.unescape(_OTHER_TAG.sub("", _BLOCK_TAG.sub(" ", text)))


def _heading_mark(tag: re.Match[str]) -> str:
    return HEADING_END if tag[1] else HEADING_START
