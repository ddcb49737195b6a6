"""Builds the tree of a page, as browsers do, in a time proportional to its size.

Pure.  The parser is turbohtml, which follows WHATWG.  Two kinds of markup make it take more
than that, and are renamed before it sees them: the attributes of each further ``<html>`` or
``<body>`` are merged with all those before, and elements such as ``<font>`` that are never
closed are opened again in each following block (WHATWG HTML, 13.2.4.3).

Where scripts are taken as enabled, the content of a ``<noscript>`` is text in the tree.
"""

import functools
import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from turbohtml import Element, Node, parse

from crawler_app.web.documents.xhtml import html_of_xhtml

__all__ = [
    "MAX_CHARS",
    "SPACE",
    "START_TAG",
    "Lines",
    "Tree",
    "attribute_finder",
    "is_within",
    "tree_of",
]

# Only the beginning of a longer page is read.
MAX_CHARS = 16 * 1024 * 1024

# White space in HTML, for a character class.
SPACE = r"\t\n\f\r "

# One attribute, whose value may have no end (WHATWG HTML, 13.2.5.32 to 40).
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_ATTRIBUTE = (
    rf"[^{SPACE}/>][^{SPACE}/>=]*+(?:[{SPACE}]*+=[{SPACE}]*+"
    rf"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{SPACE}>"'][^{SPACE}>]*+|(?!))?+|(?!))?+"""
)
START_TAG = re.compile(rf"<[^{SPACE}/>]*+(?:[{SPACE}/]++|{_ATTRIBUTE}|(?!))*+>")

# Browsers have one of each, and add the attributes of all others to it.
MAX_ROOT_TAGS = 4
MAX_ROOT_CHARS = 16 * 1024

# Elements that formatting elements may add to a tree; parsing these takes 0.1 s.
MAX_REOPENED = 500_000

# A page with so few tags adds no more, and merging the roots of so short a page takes 60 ms.
CHEAP_TAGS = 1_400
CHEAP_CHARS = 32 * 1024

# At most this many equal ones are opened again ("Noah's Ark clause").
MAX_EQUAL = 3

# A page with this many tags of formatting elements may not reopen any of them.
MAX_NOTABLE = MAX_REOPENED // MAX_EQUAL + 1

# Not beyond a "<": what looks like a tag with a long attribute may be in a script, and hide
# the tags after it.
_PLAIN = rf"""(?:[^<>=]++|=[{SPACE}]*+(?:"[^"<]*+"|'[^'<]*+'|(?![{SPACE}"']))|(?!))*+"""
# Tags of roots with attributes, and of formatting elements.  Not those whose end tag follows,
# with nothing between but text and ``<span>``.
_NOTABLE = re.compile(
    rf"<(?=[bcefhinstu])(?:(?:html|body)(?=[{SPACE}/])"
    rf"|([bisu]|big|code|em|font|nobr|s(?:mall|trike|trong)|tt)(?=[{SPACE}/>])"
    rf"(?!{_PLAIN}>(?:[^<]++|</?span(?=[{SPACE}/>]){_PLAIN}>|(?!))*+</\1[{SPACE}/>])"
    rf"){_PLAIN}>?",
    re.IGNORECASE | re.ASCII,
)

# A closed shadow root is rendered like an open one, but the parser does not show it.
_CLOSED = re.compile(
    rf"""(\sshadowrootmode[{SPACE}]*+=[{SPACE}]*+)(["']?)closed\2""", re.IGNORECASE
)

# Ancestors examined: those that matter to an element are near it, and pages may be deep.
MAX_STEPS = 32


class Lines:
    """Turns offsets in a text into lines and columns, which begin with 1.

    Attributes:
        starts: The offsets at which the lines begin.

    >>> Lines("ab\\ncd").place(4)
    (2, 2)
    """

    def __init__(self, text: str) -> None:
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


@dataclass(slots=True)
class Tree:
    """The tree of a page, or of a piece of it.

    Attributes:
        source: That of the page.
        roots: The document and the shadow roots in it.
        is_partial: Whether the end of the page was left out.
    """

    source: str
    roots: list[Node]
    is_partial: bool = False
    _parsed: str = ""
    _source_at: Mapping[int, int] | None = None
    _parsed_at: int = 0
    _lines: Lines | None = field(default=None, init=False)

    @property
    def is_xml(self) -> bool:
        """Whether it was read as XML, which is well-formed."""
        return self._source_at is not None

    def tags(self, name: str) -> list[Element]:
        """Return the elements with a name, in document order."""
        if len(self.roots) == 1:
            return self.roots[0].find_all(name)
        return [each for root in self.roots for each in root.find_all(name)]

    def select(self, selector: str) -> Iterator[Element]:
        """Yield the elements that a selector selects."""
        for root in self.roots:
            yield from root.select(selector)

    def offset_of(self, element: Element) -> int:
        """Return where the tag of an element begins in the source."""
        at = self._offset_of(element)
        return at if self._source_at is None else self._source_at.get(at, 0)

    def _offset_of(self, element: Element) -> int:
        position = element.position
        if position is None:  # one that the page leaves out
            return 0
        if self._lines is None:
            self._lines = Lines(self._parsed)
        line, column = position
        return self._parsed_at + self._lines.starts[line - 1] + column

    def lines(self) -> Lines:
        """Return the lines of the source of the page."""
        if self._lines is None or self._parsed is not self.source:
            return Lines(self.source)
        return self._lines

    def noscripts(self, names: Iterable[str]) -> Iterator["Tree"]:
        """Yield what is in each ``<noscript>``, if it has elements with some names."""
        is_in = _start_of_any(frozenset(names)).search
        for element in self.tags("noscript"):
            if is_in(text := element.text):
                at = self._offset_of(element)
                if tag := START_TAG.match(self._parsed, at):
                    at = tag.end()
                yield replace(self, roots=[parse(text)], _parsed=text, _parsed_at=at)


def tree_of(markup: str, *, is_xml: bool = False, scripting: bool = True) -> Tree:
    """Return the tree of a page.

    Args:
        is_xml: Whether to read it as XHTML, if it is well-formed.
        scripting: Whether to read it like a browser that runs scripts.

    Raises:
        MemoryError: the tree is too large for the memory.

    >>> tree = tree_of("<NOSCRIPT><P>A</noscript><a href=b>B")
    >>> [each.attr("href") for each in tree.tags("a")], tree.tags("noscript")[0].text
    (['b'], '<P>A')
    """
    source = markup[:MAX_CHARS]
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    converted = html_of_xhtml(source) if is_xml else None
    html, source_at = converted or (source, None)
    html = _with_bounded_cost(html)
    document = parse(html, scripting=scripting, allow_declarative_shadow_roots=False)
    roots: list[Node] = [document]
    # A search of the source would take half the time of the parser.
    templates = document.find_all("template")
    if any(each.attr("shadowrootmode") is not None for each in templates):
        roots = _shown_roots(html, scripting)
    elif templates:
        document.remove("template")  # which shows nothing
    return Tree(source, roots, len(markup) > MAX_CHARS, html, source_at)


def _shown_roots(html: str, scripting: bool) -> list[Node]:
    """Return a page and its shadow roots, without templates."""
    roots: list[Node] = [parse(_CLOSED.sub(r"\1\2open\2  ", html), scripting=scripting)]
    for root in roots:
        root.remove("template")  # nor do hosts in it show anything
        hosts = (each.shadow_root for each in root.iter_elements())
        roots += [shadow for shadow in hosts if shadow is not None]
    return roots


@functools.cache
def _start_of_any(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"<(?:{'|'.join(sorted(names))})[{SPACE}/>]", re.IGNORECASE)


def _with_bounded_cost(html: str) -> str:
    """Return a page with other names in the tags that would cost too much.

    Those names are as long as the right ones, and mean nothing.
    """
    if len(html) <= CHEAP_CHARS and html.count("<") <= CHEAP_TAGS:
        return html
    notable = [*itertools.islice(_NOTABLE.finditer(html), MAX_NOTABLE)]
    roots = [tag for tag in notable if tag[1] is None]
    kept_roots = {tag.start() for tag in roots[:MAX_ROOT_TAGS] if _is_short(tag)}
    # At each tag, at most those before it are opened again: a number of each kind.  One that is
    # not seen whole is of a kind of its own.
    kinds = {
        tag[0] if tag[0].endswith(">") else tag.start() for tag in notable if tag[1]
    }
    most = MAX_EQUAL * len(kinds)
    # Counting takes a thirtieth of the time of the parser, and most pages have few kinds.
    keeps_formatting = (
        most * len(html) <= MAX_REOPENED or most * html.count("<") <= MAX_REOPENED
    )
    if keeps_formatting and len(kept_roots) == len(roots):
        return html

    def replaced(tag: re.Match[str]) -> str:
        is_kept = keeps_formatting if tag[1] else tag.start() in kept_roots
        return tag[0] if is_kept else f"<x{tag[0][2:]}"

    return _NOTABLE.sub(replaced, html)


def _is_short(root_tag: re.Match[str]) -> bool:
    whole = START_TAG.match(root_tag.string, root_tag.start())
    return whole is not None and len(whole[0]) <= MAX_ROOT_CHARS


@functools.cache
def attribute_finder(name: str) -> Callable[[str, int], re.Match[str] | None]:
    """Return what finds an attribute in the start tag at an offset; the first of several counts.

    The groups of the match are the attribute with the space before it, its ``name``, and the
    ``quote`` before its value: empty without quotes, None without a value.

    >>> found = attribute_finder("href")("<a id=b HREF = 'c'>", 0)
    >>> found[1], found["name"], found["quote"]
    (" HREF = 'c'", 'HREF', "'")
    """
    name = f"{name}(?=[{SPACE}/>=])"
    return re.compile(
        rf"<[^{SPACE}/>]*+(?:[{SPACE}/]*+(?!{name}){_ATTRIBUTE}|(?!))*+"
        rf"""([{SPACE}/]*+(?P<name>{name})(?:[{SPACE}]*+=[{SPACE}]*+(?P<quote>["']?)"""
        rf"""(?:(?<=")[^"]*+"|(?<=')[^']*+'|(?<!["'])[^{SPACE}>]*+))?)""",
        re.IGNORECASE,
    ).match


def is_within(node: Node, names: Container[str]) -> bool:
    """Return whether one of the nearest ancestors of a node has one of some names."""
    nearest = itertools.islice(node.ancestors, MAX_STEPS)
    return any(isinstance(each, Element) and each.tag in names for each in nearest)
