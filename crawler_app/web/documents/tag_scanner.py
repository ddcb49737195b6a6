"""Reads a page tag by tag, without building a tree.

Pure.  The time that a tree takes can grow with the square of a page's size, and more: a
million open ``<div>`` tags keep lexbor busy for a quarter of an hour.  Here the links, title
and text of such a page are read in a few passes.

The head of every page is read in this way too, and not only for speed.  For a parser without
scripting, ``<noscript><img></noscript>`` ends the head, which truncates half of all real
heads; for a browser, and for the author, the head continues.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator

from crawler_app.web.documents.elements import (
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
    "is_open",
    "tags_of",
    "tags_of_head",
    "text_of",
]

# If an element is never closed, its alternative matches to the end of the text, so that
# nothing is scanned twice.
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|iframe|xmp|noembed|noframes|template)\b.*?(?:</\1|\Z)"
    r"|<title\b[^>]*(?:>(?P<title>.*?)(?:</title|\Z)|\Z)"
    r"|<(?P<tag>/?svg|a|area|base|meta)(?=[\s/>])(?P<attributes>[^>]*)",
    re.IGNORECASE | re.DOTALL,
)
_HREF, _XLINK_HREF = (
    re.compile(
        rf"""[\s"'/]{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
    )
    for name in ("href", "xlink:href")
)
_IS_REFRESH = re.compile(
    r"""(?:^|[\s"'/])http-equiv\s*=\s*["']?refresh(?:["'\s/]|\Z)""", re.IGNORECASE
)
_NOFOLLOW = re.compile(
    r"""(?:^|[\s"'/])rel\s*=\s*(?:"[^"]*\bnofollow\b|'[^']*\bnofollow\b|nofollow\b)""",
    re.IGNORECASE,
)

# Except of void elements.
_START_TAG = re.compile(
    rb"<(?!(?:br|embed|hr|img|input|link|meta|wbr)[\s/>])[a-z]", re.IGNORECASE
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


def is_open(noscript: bytes) -> bool:
    """Return whether an element is opened in a ``<noscript>`` and not closed there.

    For a parser without scripting, the rest of the page may then be part of the noscript.

    >>> is_open(b"<p>No scripts!")
    True
    """
    return len(_START_TAG.findall(noscript)) > noscript.count(b"</")


def tags_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tags that a crawl needs, in document order.

    Each is a pair of the tag's name and its ``href``, of ``title`` and the title's text, or
    of ``refresh`` and the ``content`` of such a ``<meta>``.
    An ``a`` or ``area`` with ``rel=nofollow`` is followed by ``nofollow`` with the same
    ``href``.

    >>> list(tags_of('<TITLE>T</TITLE><!-- <a href=x> --><a class=c href="y&amp;z">'))
    [('title', 'T'), ('a', 'y&z')]
    """
    is_in_svg = False
    for piece in _PIECE.finditer(text):
        if piece["title"] is not None:
            if not is_in_svg:
                yield "title", html.unescape(piece["title"])
        elif piece["tag"]:
            tag, attributes = piece["tag"].lower(), piece["attributes"]
            if tag in ("svg", "/svg"):
                is_in_svg = tag == "svg" and not attributes.endswith("/")
            elif tag == "meta":
                if _IS_REFRESH.search(attributes):
                    yield "refresh", _attributes(attributes)["content"]
            elif tag != "base" or not is_in_svg:
                yield from _link_of(tag, attributes, is_in_svg)


def _link_of(tag: str, attributes: str, is_in_svg: bool) -> Iterator[tuple[str, str]]:
    href = _HREF.search(attributes)
    if not href and is_in_svg:
        href = _XLINK_HREF.search(attributes)
    if href:
        value = html.unescape(next(filter(None, href.groups()), ""))
        yield tag, value
        if tag != "base" and _NOFOLLOW.search(attributes):
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
