"""XML sitemaps and feeds: the URLs of their entries.

Pure.  Not with an XML parser, which ends at the first error, and many sitemaps have one.  All
that counts is in tags, which are found in damaged documents too: an entry begins at its start
tag, wherever that is, and its URLs are its children's.  No entity is expanded but XML's own.

Elements are recognized by prefix and position, not by namespace, because many sites use
``image:loc`` without declaring ``image``.
"""

import html
import re

from crawler_app.web.documents.sitemap_pieces import CutError

__all__ = ["MAX_LOC_CHARS", "Locs", "XmlReader"]

# sitemaps.org allows 2,048, RFC 9110 (4.1) 8,000; anything longer is not a URL.
MAX_LOC_CHARS = 8000

# Tags, or lines of text: a second's work.  50 MiB may hold ten times as many, while 50,000 URLs
# in ten languages each need a million.
MAX_ITEMS = 2_000_000

# As many tags count for a broken one, or for an entry without end: honest documents have few.
BROKEN_ITEMS = 100

# As many for one that is not in an entry, such as the title of a feed.
STRAY_ITEMS = 10

# An incomplete one is scanned again with each piece.
MAX_TAG_CHARS = 4 * 64 * 1024

# A tag ends before the next one at the latest.
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_MARKUP = re.compile(
    # Without the most frequent elements, which have neither a URL nor children.
    r"<(?!/?(?:changefreq|lastmod|priority)>)"
    # The beginning of what has no tags in it, or a slash, a name and attributes.
    r"(?:(!--|!\[CDATA\[|\?|!(?i:doctype)[^<>\[]*+\[)|(/?)([^\s<>/\"'=&]*+)"
    r"""((?:[^<>"']++|"[^"<]*+"?|'[^'<]*+'?|(?!))*+)(>?))"""
)
_ATTRIBUTE = re.compile(r"""([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")

# What has no tags in it, by its beginning, and how it ends.
_DATA_END = "]]>"
_END_OF = {"!--": "-->", "![CDATA[": _DATA_END, "?": "?>"}

_REFERENCE = re.compile("&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);")
_CONTROLS = re.compile(r"[\0-\x08\v\f\x0e-\x1f]")
_NOT_UTF_8 = re.compile("[\ud800-\udfff]")


# The names of an entry, which stands for a page or a sitemap, and of its child with the URL, by
# the name of the root.  sitemaps.org ("Other Sitemap formats") names RSS 2.0 and Atom; RDF is
# the root of RSS 1.0.
NAMES = {
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
        self._items = 0

    def count(self, items: int) -> None:
        self._items += items
        if self._items > MAX_ITEMS:
            raise CutError("too many tags or lines")

    def add(self, loc: str) -> None:
        loc = _CONTROLS.sub("", loc).strip()
        if not loc or loc in self.urls:
            return
        if not loc.isascii() and _NOT_UTF_8.search(loc):
            self.is_cut = True
            return
        if len(self.urls) >= self._max_urls:
            raise CutError("too many URLs")
        self.urls[loc] = None


class XmlReader:
    """Reads the tags of a document, and collects the locs of the entries.

    Attributes:
        root: The name of the root, without its prefix; empty until it has been read.
    """

    def __init__(self, locs: Locs) -> None:
        self.root = ""
        self._locs = locs
        self._root = self._entry = self._loc_name = ""  # with their prefix
        self._is_closed = False
        # How what is being passed over ends; empty if nothing is.
        self._end = ""
        self._rest = ""
        self._is_in_entry = False
        self._depth = 0  # in the entry
        self._has_loc = False
        # Whether a tag was, in the entry or since the last one.
        self._is_broken = False
        self._loc: str | None = None

    @property
    def is_feed(self) -> bool:
        return self._loc_name.endswith("link")

    def feed(self, piece: str) -> None:
        """Read the next piece.

        Raises:
            CutError: a limit is reached, or it is another kind of document.
        """
        self._locs.count(piece.count("<"))
        text, at = self._rest + piece, 0
        self._rest = ""
        while at < len(text):
            if self._end:
                at = self._pass_over(text, at)
                continue
            found = _MARKUP.search(text, at)
            start = found.start() if found else len(text)
            if self._loc is not None:
                self._take_text(text[at:start])
            if found is None:
                break
            at = found.end()
            mark, slash, name, attributes, end = found.groups()
            if mark:
                self._end = _END_OF.get(mark, "")
                if not self._end:
                    # Of entities and default attributes; a sitemap needs none.
                    raise CutError("declarations")
            elif not end:
                if at == len(text):
                    self._keep_for_next(text[start:])
                else:
                    self._note_damage()
                    self._loc = None
            elif slash:
                self._take_end(name)
            elif not name.startswith("!"):
                self._take_start(name, attributes)
                if attributes.endswith("/"):
                    self._take_end(name)

    def close(self) -> None:
        """Note whether the end of the document is missing."""
        self._end_entry()
        self._locs.is_cut |= not self._is_closed

    def _pass_over(self, text: str, at: int) -> int:
        """Return where a comment or the like ends; its characters may be those of a loc."""
        found = text.find(self._end, at)
        # The end may be cut in two.
        end = found if found >= 0 else max(at, len(text) - len(self._end) + 1)
        if self._end == _DATA_END:
            self._take_text(text[at:end].replace("&", "&amp;"))
        if found < 0:
            self._rest = text[end:]
            return len(text)
        end += len(self._end)
        self._end = ""
        return end

    def _keep_for_next(self, text: str) -> None:
        if len(text) > MAX_TAG_CHARS:
            raise CutError("tag too long")
        self._rest = text

    def _take_start(self, name: str, attributes: str) -> None:
        if name == self._entry:
            if self._is_in_entry:
                self._note_damage()
            self._end_entry()
            self._is_in_entry = True
        elif self._is_in_entry:
            self._depth += 1
            if self._depth == 1:
                self._take_child(name, attributes)
        elif not self.root:
            self._take_root(name)
        else:
            self._locs.count(STRAY_ITEMS)
            self._locs.is_cut |= self._is_broken and name == self._loc_name

    def _take_root(self, name: str) -> None:
        prefix, colon, root = name.rpartition(":")
        if root not in NAMES:
            raise CutError("no sitemap")
        self.root, self._root = root, name
        before = "" if root == "RDF" else prefix + colon
        self._entry, self._loc_name = (before + each for each in NAMES[root])

    def _take_child(self, name: str, written: str) -> None:
        if name == self._loc_name and self.root != "feed":
            self._loc = ""
            return
        if not name.endswith(("link", "guid")):
            return
        attributes = {
            key: _unescaped(double or single)
            for key, double, single in _ATTRIBUTE.findall(written)
        }
        if name == self._loc_name:
            if attributes.get("rel", "alternate") == "alternate":
                self._add(attributes.get("href", ""))
        elif name.endswith(":link") and "hreflang" in attributes:
            self._locs.add(attributes.get("href", ""))  # the page in another language
        elif name == "guid" and attributes.get("isPermaLink", "true") == "true":
            self._loc = ""  # RSS: may be the URL

    def _take_text(self, text: str) -> None:
        if self._loc is not None and len(self._loc) <= MAX_LOC_CHARS:
            self._loc += text[: MAX_LOC_CHARS + 1]

    def _take_end(self, name: str) -> None:
        if name == self._entry:
            self._end_entry()
        elif self._is_in_entry:
            if self._loc is not None and self._depth == 1:
                self._end_loc(name, self._loc)
            if self._depth:
                self._depth -= 1
        self._is_closed |= name == self._root

    def _end_loc(self, name: str, written: str) -> None:
        self._loc = None
        loc = _unescaped(written)
        if name not in (self._loc_name, "guid"):
            self._is_broken = True
        elif name != "guid" or loc.startswith(("http://", "https://")):
            self._add(loc if len(written) <= MAX_LOC_CHARS else "")

    def _add(self, loc: str) -> None:
        self._has_loc = True
        self._locs.add(loc)

    def _note_damage(self) -> None:
        self._is_broken = True
        self._locs.count(BROKEN_ITEMS)

    def _end_entry(self) -> None:
        """Note whether an entry has lost its URL."""
        is_damaged = self._is_broken or self._depth > 0
        if self._is_in_entry and not self._has_loc and is_damaged:
            self._locs.is_cut = True
        self._is_in_entry = self._has_loc = self._is_broken = False
        self._depth, self._loc = 0, None


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), text)
