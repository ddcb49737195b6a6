"""XML sitemaps and feeds: the URLs of their entries.

Pure.  It uses expat directly, not `xml.etree`, which builds a tree that is not needed and does
not report entity declarations.  Elements are recognized by prefix and position, not by
namespace, because many sites use ``image:loc`` without declaring ``image``.

After an error, reading continues with the repaired entry that contains it, or the next one.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.parsers import expat

from crawler_app.web.documents.sitemap_pieces import CutError

__all__ = ["MAX_LOC_CHARS", "Locs", "NoSitemapError", "XmlReader", "read_xml"]

# sitemaps.org allows 2,048, RFC 9110 (4.1) 8,000; anything longer is not a URL.
MAX_LOC_CHARS = 8000

# XML elements, or lines of text: half a second's work.  50 MiB may hold twenty times as
# many, while 50,000 URLs in ten languages each need a million.
MAX_ITEMS = 2_000_000

# Deeper than any known extension, and shallow enough to need little memory.
MAX_DEPTH = 50

# A tag, comment or attribute: expat parses it again from its start with each piece until it
# is complete (CVE-2023-52425), and keeps it in memory.
MAX_TOKEN_BYTES = 4 * 64 * 1024

# After each, a new parser reads the rest of a piece.  Bare ampersands and bad characters are
# mended, so they make one error at most.
MAX_ERRORS = 1000

_CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\t\r\n"))
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
_DATA = re.compile(rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))", re.DOTALL)


class Form(NamedTuple):
    """Where a document has its URLs.

    Attributes:
        entry: The name of the element that stands for a page or a sitemap.
        loc: The name of its child with the URL.
        around: The element around the entries, apart from the root.
    """

    entry: str
    loc: str
    around: str = ""


# By the name of the root.  sitemaps.org ("Other Sitemap formats") names RSS 2.0 and Atom; RDF
# is the root of RSS 1.0.
FORMS = {
    "urlset": Form("url", "loc"),
    "sitemapindex": Form("sitemap", "loc"),
    "rss": Form("item", "link", "channel"),
    "RDF": Form("item", "link"),
    "feed": Form("entry", "link"),
}


class NoSitemapError(Exception):
    """The document is of another kind."""


class _UnclosedElementError(Exception):
    """An entry begins within another element; with its place."""


class Locs:
    """Collects distinct URLs, within limits.

    Attributes:
        urls: In order.
        is_cut: Whether one is known to be lost.
    """

    def __init__(self, max_urls: int) -> None:
        self.urls: dict[str, None] = {}
        self.is_cut = False
        self._max_urls = max_urls
        self._items = 0

    def count_item(self) -> None:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise CutError("too many elements or lines")

    def add(self, loc: str) -> None:
        loc = loc.strip()
        if not loc or loc in self.urls:
            return
        if len(self.urls) >= self._max_urls:
            raise CutError("too many URLs")
        self.urls[loc] = None


class XmlReader:
    """Handles expat's events, and collects the locs of the entries.

    Attributes:
        root: The name of the root, without its prefix; empty until it has been read.
        is_closed: Whether the end of the root was met in, or before, what was passed over.
    """

    def __init__(self, locs: Locs) -> None:
        self.root = ""
        self.is_closed = False
        self._locs = locs
        self._count_item = locs.count_item
        self._entry = self._loc_name = ""  # with their prefix
        self._opening = ""
        self._entry_depth = 2
        self._depth = 0
        self._is_in_entry = False
        self._has_loc = False
        self._is_mended = False
        self._loc: list[str] | None = None
        self._loc_chars = 0

    @property
    def is_feed(self) -> bool:
        return self._loc_name.endswith("link")

    def new_parser(self) -> expat.XMLParserType:
        # The pieces are in UTF-8, whatever the document declares.
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._take_doctype
        parser.StartElementHandler = self._take_start
        parser.CharacterDataHandler = self._take_text
        parser.EndElementHandler = self._take_end
        return parser

    def new_parser_in_root(self) -> tuple[expat.XMLParserType, int]:
        """Return a parser that is about to read an entry, and how much it has read."""
        self._depth, self._is_mended = 0, True
        self._is_in_entry, self._loc = False, None
        parser = self.new_parser()
        opening = self._opening.encode()
        parser.Parse(opening, False)
        return parser, len(opening)

    def leave_entry(self) -> None:
        """Note what is lost if the rest of an entry is passed over."""
        self.is_closed = self._depth == 0
        if self._is_in_entry and not self._has_loc:
            self._locs.is_cut = True
        self._is_in_entry, self._loc = False, None

    def start_of_entry(self, content: bytes, end: int) -> int:
        """Return where the entry that is being read begins; the end if it is none."""
        if not self._is_in_entry:
            return end
        starts = (tag.start() for tag in self._start_tags(content))
        return max((start for start in starts if start <= end), default=end)

    def from_next_entry(self, content: bytes) -> bytes:
        """Return the content from its next entry on; empty if there is none."""
        entry = next(self._start_tags(content), None)
        skipped = content[: entry.start()] if entry else content
        if f"<{self._loc_name}>".encode() in skipped:
            self._locs.is_cut = True
        self.is_closed |= f"{self.root}>".encode() in skipped
        return content[len(skipped) :]

    def _start_tags(self, content: bytes) -> Iterator[re.Match[bytes]]:
        entry = re.escape(self._entry.encode())
        return re.finditer(rb"<%b(?=[\s/>])" % entry, content)

    def _take_doctype(
        self, name: str, system_id: str | None, public_id: str | None, has_subset: int
    ) -> None:
        # An internal subset declares entities and default attributes, which can expand to
        # any size; a sitemap needs none.  Expat does not fetch an external subset.
        if has_subset:
            raise CutError("declarations")

    def _take_start(self, name: str, attributes: dict[str, str]) -> None:
        self._count_item()
        depth = self._depth = self._depth + 1
        if depth == self._entry_depth:
            self._is_in_entry = name == self._entry
            self._has_loc = False
        elif name == self._entry:
            raise _UnclosedElementError(self._parser.CurrentByteIndex)
        elif depth == self._entry_depth + 1:
            if self._is_in_entry:
                self._take_child(name, attributes)
        elif depth == 1:
            self._take_root(name)
        elif depth > MAX_DEPTH:
            raise CutError("too many levels")

    def _take_root(self, name: str) -> None:
        prefix, colon, root = name.rpartition(":")
        form = FORMS.get(root)
        if form is None:
            raise NoSitemapError(name)
        self.root = root
        before = "" if root == "RDF" else prefix + colon
        self._entry, self._loc_name = before + form.entry, before + form.loc
        self._entry_depth = 3 if form.around else 2
        self._opening = f"<{name}>" + (f"<{form.around}>" if form.around else "")

    def _take_child(self, name: str, attributes: dict[str, str]) -> None:
        if name == self._loc_name:
            if self.root != "feed":
                self._loc, self._loc_chars = [], 0
            elif attributes.get("rel", "alternate") == "alternate":
                self._add(attributes.get("href", ""))
        elif name.endswith(":link") and "hreflang" in attributes:
            self._locs.add(attributes.get("href", ""))  # the page in another language
        elif name == "guid" and attributes.get("isPermaLink", "true") == "true":
            self._loc, self._loc_chars = [], 0  # RSS: may be the URL

    def _take_text(self, text: str) -> None:
        if self._loc is not None:
            self._loc_chars += len(text)
            if self._loc_chars <= MAX_LOC_CHARS:
                self._loc.append(text)

    def _take_end(self, name: str) -> None:
        if self._loc is not None and self._depth == self._entry_depth + 1:
            loc, self._loc = "".join(self._loc), None
            is_url = name == self._loc_name or loc.startswith(("http://", "https://"))
            if self._loc_chars <= MAX_LOC_CHARS and is_url:
                self._add(loc)
        elif self._depth == self._entry_depth:
            self._is_in_entry = False
        self._depth -= 1

    def _add(self, loc: str) -> None:
        self._has_loc = True
        if self._is_mended and "\N{REPLACEMENT CHARACTER}" in loc:
            self._locs.is_cut = True  # it has bytes that are no UTF-8
        else:
            self._locs.add(loc)


def read_xml(reader: XmlReader, pieces: Iterable[bytes]) -> None:
    """Read a document in UTF-8.

    Raises:
        CutError: a limit is reached, or it is no XML.
        ExpatError: it ends early.
        NoSitemapError: it is of another kind.
    """
    parser = reader.new_parser()
    pieces = iter(pieces)
    before, end = b"", 0
    for piece in pieces:
        end += len(piece)
        error_at = _parse(parser, piece, end)
        if error_at is None:
            before = piece
            continue
        if not reader.root:
            raise CutError("no XML")
        content = before + piece
        error_at -= end - len(content)
        start = reader.start_of_entry(content, error_at)
        if start == error_at:
            reader.leave_entry()
        _read_after_error(reader, itertools.chain([content[max(start, 0) :]], pieces))
        return
    parser.Parse(b"", True)


def _parse(parser: expat.XMLParserType, piece: bytes, end: int) -> int | None:
    """Return where in the document an error is, if any; ``end`` is that of the piece."""
    try:
        parser.Parse(piece, False)
    except expat.ExpatError:
        return parser.ErrorByteIndex
    except _UnclosedElementError as exc:
        return int(exc.args[0])
    if end - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
        raise CutError("tag too long")
    return None


def _read_after_error(reader: XmlReader, pieces: Iterable[bytes]) -> None:
    """Read the entries of the rest of a document, passing over broken ones."""
    parser, end, errors = None, 0, 0
    for piece in _mended(pieces):
        while piece := piece if parser else reader.from_next_entry(piece):
            is_new = parser is None
            if parser is None:
                parser, end = reader.new_parser_in_root()
            start, end = end, end + len(piece)
            error_at = _parse(parser, piece, end)
            if error_at is None:
                break
            errors += 1
            if errors > MAX_ERRORS:
                raise CutError("too many errors")
            reader.leave_entry()
            parser = None
            piece = piece[max(error_at - start, int(is_new)) :]
    if parser is not None:
        parser.Parse(b"", True)
    elif not reader.is_closed:
        raise CutError("no end")


def _mended(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces that end before a tag, with the most frequent errors mended."""
    rest = b""
    for piece in itertools.chain(pieces, [b"<"]):
        rest += piece
        end = rest.rfind(b"<")
        if end <= 0 and len(rest) > MAX_TOKEN_BYTES:
            raise CutError("tag too long")
        if end > 0:
            text = rest[:end].translate(None, _CONTROL_CHARACTERS)
            text = text.decode("utf-8", "replace").encode()
            yield _escaped(text)
            rest = rest[end:]


def _escaped(text: bytes) -> bytes:
    """Escape the bare ampersands, except in CDATA sections, where they are right."""
    parts = _DATA.split(text)
    parts[::2] = [_BARE_AMPERSAND.sub(b"&amp;", part) for part in parts[::2]]
    return b"".join(parts)
