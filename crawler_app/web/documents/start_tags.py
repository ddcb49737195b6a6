"""The start tags of a page, with their places in the source.

Pure.  A tree does not say where in the source an element is, so this reads the source as the
tokenizer of the standard does (WHATWG HTML, 13.2.5): nothing in comments, scripts, style
sheets and attribute values is taken for a tag.  The time is proportional to the page's size.
"""

import html.entities
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = [
    "Attribute",
    "Lines",
    "Place",
    "Tag",
    "attributes_of",
    "plain_href",
    "tags_in",
    "unescaped",
]

# White space in HTML, for a character class.
_SPACE = r"\t\n\f\r "

# Elements that refer to something, or say something of the page.
_TELLING = (
    *(
        "a",
        "area",
        "audio",
        "base",
        "embed",
        "feimage",
        "frame",
        "h1",
        "iframe",
        "image",
        "img",
    ),
    *("input", "link", "math", "meta", "noembed", "noframes", "noscript", "object"),
    *("plaintext", "script", "source", "style", "svg", "template", "textarea", "title"),
    *("track", "use", "video", "xmp"),
)

# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
# As most programs write them.
_PLAIN = rf"""(?:[{_SPACE}]++[a-z-]++="[^"]*+"|(?!))*+(?=>)"""
# Up to the ">" of a tag, or the end of the page.  A quote begins a value only after a "=".
_ATTRIBUTES = (
    rf"""(?:[^>=]++|=[{_SPACE}]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{_SPACE}>"']"""
    rf"[^{_SPACE}>]*+|(?!))?+|(?!))*+"
)
# Tags that tell nothing, and text: most of a page, passed over at once.  Only in lower case,
# because a search that ignores case takes twice the time.
_WORTHLESS = (
    r"(?:[^<]++|</(?!(?:math|noscript|svg|template)>)[a-z][a-z0-9]*+>"
    rf"|<(?!(?:{'|'.join(_TELLING)})[{_SPACE}/>])[a-z][a-z0-9-]*+"
    r"""(?:\ class="[^"]*+"|(?!))?+>|<(?![a-zA-Z/!?])|(?!))*+"""
)
_MARKUP = re.compile(
    rf"{_WORTHLESS}(?:"
    rf"<(?P<name>/?[a-zA-Z][^{_SPACE}/>]*+)(?P<attributes>{_PLAIN}|{_ATTRIBUTES})"
    r"(?:(?P<end>>)|\Z)"
    r"|<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?/][^>]*+(?:>|\Z)|\Z)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rf"([^{_SPACE}/>][^{_SPACE}/>=]*+)"
    rf"""(?:[{_SPACE}]*+=[{_SPACE}]*+(?:"([^"]*+)"|'([^']*+)'|([^{_SPACE}>]*+))|(?!))?+"""
)
# As most programs write it, after other attributes with values in double quotes.
_PLAIN_HREF = re.compile(
    rf"""(?:[{_SPACE}]++(?!href=)[a-z-]++="[^"]*+"|(?!))*+[{_SPACE}]++href="([^"]++)["]"""
)
_REFERENCE = re.compile(
    "&(?:#(?:[0-9]+|[xX][0-9a-fA-F]+);?|([a-zA-Z][a-zA-Z0-9]*+)(;|(?!=)))"
)

# What is in these is text, up to their end tags.
_RAW = frozenset(
    ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
)
_SPECIAL = _RAW | {"math", "/math", "plaintext", "svg", "/svg"}
_END_OF_RAW = {
    name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in _RAW
}
_IN_SCRIPT = re.compile(rf"<!--|-->|<(/?)script(?=[{_SPACE}/>])", re.IGNORECASE)


class Tag(NamedTuple):
    """A start tag, or an end tag, whose name begins with a slash.

    Attributes:
        name: In lower case.
        attributes: Their source, for `attributes_of`.
        at: The offset of its "<".
        attributes_at: The offset of the attributes.
        end: The offset behind its ">".
        content: The text of an element that contains no tags, such as ``<style>``.
    """

    name: str
    attributes: str
    at: int
    attributes_at: int
    end: int
    content: str = ""


class Attribute(NamedTuple):
    """An attribute's value, unescaped, and the offset of its source."""

    value: str
    at: int


class Place(NamedTuple):
    """A place in a document; both numbers begin with 1, and columns count characters."""

    line: int
    column: int


def tags_in(markup: str) -> Iterator[Tag]:
    """Yield the tags of a page, except most of those that tell nothing.

    >>> [tag.name for tag in tags_in("<P title='<b>'><!-- <i> --><b><a>x</a><svg></svg>")]
    ['p', 'a', 'svg', '/svg']
    """
    at, foreign, length = 0, 0, len(markup)
    while at < length:
        found = _MARKUP.match(markup, at)
        assert found is not None
        behind = at = found.end()
        if (
            found.lastgroup != "end"
        ):  # a comment, or a tag that the end of the page cuts
            continue
        name, attributes = found.group(1, 2)
        attributes_at = behind - 1 - len(attributes)
        tag_at = attributes_at - len(name) - 1
        name, content = name.lower(), ""
        if name not in _SPECIAL:  # the most frequent case
            pass
        elif name in ("svg", "math"):
            foreign += not attributes.endswith("/")
        elif name in ("/svg", "/math"):
            foreign = max(0, foreign - 1)
        elif name == "plaintext" and not foreign:
            at = len(markup)
        elif name in _RAW and not (foreign and attributes.endswith("/")):
            end = _end_of_raw(markup, name, at)
            content, at = markup[at:end], end
        yield Tag(name, attributes, tag_at, attributes_at, behind, content)


def _end_of_raw(markup: str, name: str, at: int) -> int:
    if name == "script":
        return _end_of_script(markup, at)
    end = _END_OF_RAW[name].search(markup, at)
    return len(markup) if end is None else end.start()


def _end_of_script(markup: str, at: int) -> int:
    """Return where a script ends: not in a script within a comment, for old browsers."""
    is_comment = is_inner = False
    for found in _IN_SCRIPT.finditer(markup, at):
        if found[0] == "<!--":
            is_comment = True
        elif found[0] == "-->":
            is_comment = is_inner = False
        elif not found[1]:
            is_inner = is_comment
        elif is_inner:
            is_inner = False
        else:
            return found.start()
    return len(markup)


def attributes_of(tag: Tag) -> dict[str, Attribute]:
    """Return the attributes of a tag by name, in lower case; of equal ones, the first.

    >>> (tag,) = tags_in("<a HREF='/?a=1&amp;copy=2' download>")
    >>> attributes_of(tag)
    {'href': Attribute(value='/?a=1&copy=2', at=9), 'download': Attribute(value='', at=-1)}
    """
    found: dict[str, Attribute] = {}
    for each in _ATTRIBUTE.finditer(tag.attributes):
        name = each[1].lower()
        if name not in found:
            found[name] = _attribute(tag, each)
    return found


def plain_href(tag: Tag) -> Attribute | None:
    """Return the ``href`` of a tag, as `attributes_of` does, if it is written plainly."""
    plain = _PLAIN_HREF.match(tag.attributes)
    if plain is None:
        return None
    return Attribute(unescaped(plain[1]), tag.attributes_at + plain.start(1))


def _attribute(tag: Tag, found: re.Match[str]) -> Attribute:
    group = found.lastindex or 1
    if group == 1:
        return Attribute("", -1)
    return Attribute(unescaped(found[group]), tag.attributes_at + found.start(group))


def unescaped(value: str) -> str:
    """Return the value of an attribute without character references.

    Unlike in text, one without a semicolon counts only if no letter, digit or "=" follows.

    >>> unescaped("?a&copy=1&amp;b"), unescaped("&copy &#x41;")
    ('?a&copy=1&b', '© A')
    """
    return _REFERENCE.sub(_character, value) if "&" in value else value


def _character(reference: re.Match[str]) -> str:
    name, end = reference.groups()
    if name is None:
        return html.unescape(reference[0])
    return html.entities.html5.get(name + end, reference[0])


class Lines:
    """Turns offsets in a text into places; quickest from one to the next.

    >>> Lines("ab\\ncd").place(4)
    Place(line=2, column=2)
    """

    def __init__(self, text: str) -> None:
        if "\r" in text:  # a "\n" in the same place
            text = text.replace("\r\n", " \n").replace("\r", "\n")
        self._text = text
        self._at = self._start = 0
        self._line = 1

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        if offset >= self._at:
            breaks = self._text.count("\n", self._at, offset)
            first = self._at
        else:
            breaks = -self._text.count("\n", offset, self._at)
            first = 0
        if breaks:
            self._start = self._text.rfind("\n", first, offset) + 1
            self._line += breaks
        self._at = offset
        return Place(self._line, offset - self._start + 1)
