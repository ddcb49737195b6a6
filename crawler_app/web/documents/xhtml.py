"""Turns XHTML into HTML that means the same, so that one reader reads both.

Pure.  In XML, any element may be empty (``<script src="a.js"/>``), a prefix may stand for
XHTML, a name in capitals is another name, what is in a CDATA section is text, and an
instruction before the root may name a style sheet.  There are no shadow roots.
"""

import html
import html.entities
import re
from collections.abc import Mapping
from xml.parsers import expat

from crawler_app.base.http_headers import media_type

__all__ = ["html_of_xhtml", "is_xhtml", "is_xml"]

_NAMESPACE = "http://www.w3.org/1999/xhtml"

# Names in the others mean nothing to a browser.  In HTML these are known by their elements.
_KNOWN = frozenset(
    (_NAMESPACE, "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML")
)
_XLINK = "http://www.w3.org/1999/xlink"

_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link"),
        *("meta", "param", "source", "track", "wbr"),
    )
)
# In HTML, tags in these are text; in XML they are not.
_RAW = frozenset(["noembed", "noframes", "noscript", "plaintext", "xmp"])
_CODE = frozenset(("script", "style"))

# What the document types of XHTML define, and all others too in our reading.
_ENTITIES = "".join(
    f'<!ENTITY {name} "&#{code};">'
    for name, code in html.entities.name2codepoint.items()
    if name not in ("amp", "gt", "lt", "quot")
).encode()

_ROOT = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?:\s++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[.*?\]\s*+)?>|(?!))*+
    <(?:[\w.-]++:)?html\s(?=[^>]*\bxmlns(?::[\w.-]++)?\s*+=\s*+["']%b["'])"""
    % _NAMESPACE.encode(),
    re.DOTALL | re.VERBOSE,
)


def is_xml(content_type: str) -> bool:
    """Return whether browsers take a document of this type for XML.

    >>> is_xml("application/xhtml+xml; charset=utf-8"), is_xml("text/html")
    (True, False)
    """
    essence = media_type(content_type)
    return essence in ("text/xml", "application/xml") or essence.endswith("+xml")


def is_xhtml(body: bytes) -> bool:
    """Return whether an XML document is a page to a browser.

    >>> is_xhtml(b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>')
    True
    """
    return _ROOT.match(body[:4096]) is not None


def html_of_xhtml(source: str) -> tuple[str, Mapping[int, int]] | None:
    """Return a page as HTML, and by the offset of each tag in that the one in the source.

    None if the page is not well-formed.

    >>> html_of_xhtml(f'<html xmlns="{_NAMESPACE}"><a href="b"/></html>')
    ('<html><a href="b"></a></html>', {0: 0, 6: 43})
    """
    converter = _Converter(source)
    try:
        converter.parser.Parse(source.encode("utf-8", "replace"), True)
    except expat.ExpatError:
        return None
    return "".join(converter.pieces), converter.source_at


class _Converter:
    """Writes HTML from the events of an XML parser."""

    def __init__(self, source: str) -> None:
        self.pieces: list[str] = []
        # The offsets in the source, in characters, by those in the HTML.
        self.source_at: dict[int, int] = {}
        self._line_starts = [0, *(end.end() for end in re.finditer("\n", source))]
        self._length = 0
        self._open: list[str] = []
        self.parser = parser = expat.ParserCreate("utf-8", " ")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.ProcessingInstructionHandler = self._instruction
        # The document type, or in its place if there is none.
        parser.UseForeignDTD(True)
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        parser.ExternalEntityRefHandler = self._external

    def _external(self, context: str | None, *_ids: str | None) -> int:
        if context is None:  # not an entity of the page's own
            entities = self.parser.ExternalEntityParserCreate(context)
            entities.Parse(_ENTITIES, True)
        return 1

    def _note_place(self) -> None:
        """Note where what is written next has its tag in the source."""
        line = self._line_starts[self.parser.CurrentLineNumber - 1]
        self.source_at[self._length] = line + self.parser.CurrentColumnNumber

    def _write(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)

    def _start(self, full_name: str, attributes: list[str]) -> None:
        name = _html_name(full_name)
        self._open.append(name)
        self._note_place()
        values = zip(
            map(_attribute_name, attributes[::2]), attributes[1::2], strict=True
        )
        written = "".join(
            f' {key}="{html.escape(value)}"' for key, value in values if key
        )
        self._write(f"<{name}{written}>")

    def _end(self, _full_name: str) -> None:
        name = self._open.pop()
        if name not in _VOID:
            self._write(f"</{name}>")

    def _instruction(self, target: str, data: str) -> None:
        """Write a style sheet that the page asks for before its root."""
        if target == "xml-stylesheet" and not self._open and "<" not in data:
            self._note_place()
            self._write(f'<link rel="stylesheet" {data}>')

    def _text(self, text: str) -> None:
        if self._open[-1] in _CODE:
            self._write(text.replace("</", "<\\/"))
        else:
            self._write(html.escape(text, quote=False))


def _html_name(full_name: str) -> str:
    namespace, _, name = full_name.rpartition(" ")
    is_other = namespace not in _KNOWN or (
        namespace == _NAMESPACE and (name != name.lower() or name in _RAW)
    )
    return f"x-{name}" if is_other else name


def _attribute_name(full_name: str) -> str:
    namespace, _, name = full_name.rpartition(" ")
    if namespace == _XLINK:
        return f"xlink:{name}"
    is_other = namespace or name != name.lower() or name == "shadowrootmode"
    return "" if is_other else name
