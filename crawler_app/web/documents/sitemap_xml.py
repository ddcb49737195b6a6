"""XML sitemaps and feeds: the URLs of their entries.

Pure.  Not with an XML parser, which ends at the first error, and many sitemaps have one.  A
document is split at the start tags of its entries, wherever these are, so that damage loses an
entry at most.  No entity is expanded but XML's own.

Elements are recognized by prefix, not by namespace, because many sites use ``image:loc`` without
declaring ``image``.
"""

import html
import re
from collections.abc import Iterable, Iterator

from crawler_app.web.documents.sitemap_pieces import CutError

__all__ = ["MAX_LOC_CHARS", "Locs", "XmlReader"]

# sitemaps.org allows 2,048, RFC 9110 (4.1) 8,000; anything longer is not a URL.
MAX_LOC_CHARS = 8000

# Only the beginning of a longer entry is read; it is scanned again with each piece.
MAX_ENTRY_CHARS = 256 * 1024

# Those without a URL, or with the URL of another one, count too.
MAX_ENTRIES = 200_000

# A surrogate that no decoder yields.
NOWHERE = "\ud800"

# Attributes, up to the end of a tag, or to the next one.
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_ATTRIBUTES = r"""((?:[^<>"']++|"[^"<]*+"?|'[^'<]*+'?|(?!))*+)"""
_ATTRIBUTE = re.compile(r"""([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")

# Declarations of entities and default attributes are in "[]"; a sitemap needs none.
_ROOT = re.compile(r"\s*+(?:<[!/][^<>\[]*+>[^<]*+|(?!))*+<([^\s<>/!&]+)(?=[\s/>])")

# The page in another language.
_HREFLANG = re.compile(rf"<[^\s<>/:]+:link(?=\s){_ATTRIBUTES}>")
# In RSS it may be the URL.
_GUID = re.compile(rf"<guid{_ATTRIBUTES}>([^<]*)</guid\b")

# What has no tags in it, by its beginning, and how it ends.
_CDATA_END = "]]>"
_END_OF = {"<!--": "-->", "<![CDATA[": _CDATA_END, "<?": "?>"}
_MARK = re.compile(r"<(?:!--|!\[CDATA\[|\?)")
_PART_OF_MARK = re.compile(r"(?:<!?[A-Z\[-]*|--?|\]\]?|\?)\Z")
MAX_MARK_CHARS = len("<![CDATA[")

# What ends a name, or comes after a damaged tag.
_NAME_ENDS = frozenset(" \t\r\n/><")

# Far more than the start tag of an entry has.
MAX_TAG_CHARS = 64

_REFERENCE = re.compile("&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);")
_CONTROLS = re.compile(r"[\0-\x08\v\f\x0e-\x1f]")
_NOT_UTF_8 = re.compile("[\ud800-\udfff]")

# The names of an entry, which stands for a page or a sitemap, and of its child with the URL, by
# the name of the root.  sitemaps.org ("Other Sitemap formats") names RSS 2.0 and Atom; RDF is
# the root of RSS 1.0.
_NAMES = {
    "urlset": ("url", "loc"),
    "sitemapindex": ("sitemap", "loc"),
    "rss": ("item", "link"),
    "RDF": ("item", "link"),
    "feed": ("entry", "link"),
}


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

    def add(self, loc: str) -> None:
        loc = loc.strip()
        if not loc.isprintable():
            if _NOT_UTF_8.search(loc):
                self.is_cut = True
                return
            loc = _CONTROLS.sub("", loc).strip()
        if not loc or loc in self.urls or len(loc) > MAX_LOC_CHARS:
            return
        if len(self.urls) >= self._max_urls:
            raise CutError("too many URLs")
        self.urls[loc] = None


class XmlReader:
    """Finds the entries of a document, and adds their locs.

    Attributes:
        root: The name of the root, without its prefix; empty until it has been read.
    """

    def __init__(self, locs: Locs) -> None:
        self.root = ""
        self._locs = locs
        self._entries = 0
        # With their prefix, and in no text before that is known.
        self._start = self._end = self._root_end = self._loc_name = NOWHERE
        self._loc = re.compile(NOWHERE)

    @property
    def is_feed(self) -> bool:
        return bool(self.root) and _NAMES[self.root][1] == "link"

    def read(self, pieces: Iterable[str]) -> None:
        """Read a document.

        Raises:
            CutError: a limit is reached, or it is another kind of document.
        """
        rest = ""
        is_closed = False
        try:
            for piece in _without_data(pieces):
                text = rest + piece
                if not self.root and (found := _ROOT.match(text)):
                    self._take_root(found[1])
                is_closed = is_closed or self._root_end in text
                # The last entry may go on in the next piece.
                at = max(0, text.rfind(self._start))
                self._read_entries(text[:at])
                rest = text[at:]
                if len(rest) > MAX_ENTRY_CHARS:
                    self._read_entries(rest)
                    rest = rest[-MAX_TAG_CHARS:]
        finally:
            self._read_entries(rest)
            self._locs.is_cut |= not is_closed

    def _take_root(self, name: str) -> None:
        prefix, colon, root = name.rpartition(":")
        if root not in _NAMES:
            raise CutError("no sitemap")
        before = "" if root == "RDF" else prefix + colon
        entry, self._loc_name = (before + each for each in _NAMES[root])
        self._start, self._end = f"<{entry}", f"</{entry}>"
        self._root_end = f"</{name}"
        loc = re.escape(self._loc_name)
        text = "" if root == "feed" else rf"(?:(?<=/>)|([^<]*)</{loc}(?=[\s>]))"
        self._loc = re.compile(rf"<{loc}(?=[\s/>]){_ATTRIBUTES}>{text}")
        self.root = root

    def _read_entries(self, text: str) -> None:
        parts = text.split(self._start)[1:]
        self._entries += len(parts)
        if self._entries > MAX_ENTRIES:
            raise CutError("too many entries")
        for part in parts:
            is_entry = part[:1] in _NAME_ENDS
            entry, _, after = part.partition(self._end)
            # The start tag of an entry may be damaged.
            self._locs.is_cut |= self._end in (after if is_entry else part)
            if is_entry:
                self._read_entry(entry)

    def _read_entry(self, entry: str) -> None:
        """Add the URLs of an entry; a loc that comes after another one is no page's."""
        found = self._loc.search(entry)
        if found is None:
            marks = (f"<{self._loc_name}", f"</{self._loc_name}")
            self._locs.is_cut |= any(mark in entry for mark in marks)
        elif self.root == "feed":
            self._read_links(entry)
        else:
            self._locs.add(_unescaped(found[2] or ""))
        if self.root == "rss" and (guid := _GUID.search(entry)):
            url = _unescaped(guid[2])
            is_link = _attributes_in(guid[1]).get("isPermaLink", "true") == "true"
            if is_link and url.startswith(("http://", "https://")):
                self._locs.add(url)
        if ":link" in entry:
            for tag in _HREFLANG.finditer(entry):
                attributes = _attributes_in(tag[1])
                if "hreflang" in attributes:
                    self._locs.add(attributes.get("href", ""))

    def _read_links(self, entry: str) -> None:
        """Add the links of an entry of Atom, without those of the feed that it is from."""
        source = self._start.replace("entry", "source")
        before, *others = entry.split(source)
        others = [each.partition("source>")[2] for each in others]
        for tag in self._loc.finditer("".join((before, *others))):
            attributes = _attributes_in(tag[1])
            if attributes.get("rel", "alternate") == "alternate":
                self._locs.add(attributes.get("href", ""))


def _without_data(pieces: Iterable[str]) -> Iterator[str]:
    """Yield a text without comments and instructions, and with CDATA sections as text."""
    rest = end = ""
    for piece in pieces:
        text = rest + piece
        part = _PART_OF_MARK.search(text, max(0, len(text) - MAX_MARK_CHARS))
        cut = part.start() if part else len(text)
        text, rest = text[:cut], text[cut:]
        kept = []
        at = 0
        while at < len(text):
            if end:
                found = text.find(end, at)
                until = len(text) if found < 0 else found
                if end == _CDATA_END:
                    kept.append(html.escape(text[at:until], quote=False))
                at = until + len(end)
                end = end if found < 0 else ""
            else:
                mark = _MARK.search(text, at)
                until = mark.start() if mark else len(text)
                kept.append(text[at:until])
                at = mark.end() if mark else until
                end = _END_OF[mark[0]] if mark else ""
        yield "".join(kept)


def _attributes_in(tag: str) -> dict[str, str]:
    return {
        name: _unescaped(double or single)
        for name, double, single in _ATTRIBUTE.findall(tag)
    }


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), text)
