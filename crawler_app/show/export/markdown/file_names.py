"""The file of each page, with a name that is legal on every system.  Pure."""

import hashlib
import re
from posixpath import dirname, relpath
from urllib.parse import quote, unquote, urlsplit

__all__ = ["FileNames"]

SUFFIX = ".md"

# Bytes; file systems allow 255.
MAX_NAME_BYTES = 120
# Of a whole path, macOS allows 1,024.
MAX_PATH_BYTES = 500

# Not allowed on Windows; the others have a meaning there or in shells.
_NOT_ALLOWED = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff<>:\"/\\|?*]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$", re.IGNORECASE)
_PAGE_SUFFIX = re.compile(r"\.(?:x?html?|php|aspx?|jsp|md)$", re.IGNORECASE)


class FileNames:
    """Relative paths of files, each for one URL.

    A name that had to be changed, and one that is taken, gets a digest of its URL, so that
    no two are equal where upper and lower case are the same.

    >>> names = FileNames()
    >>> names.add("http://a.test/docs/"), names.add("http://a.test/docs/b.html")
    ('a.test/docs/index.md', 'a.test/docs/b.md')
    >>> names.add("http://a.test/docs/B.html")
    'a.test/docs/B~7143dd.md'
    >>> names.link("http://a.test/docs/", "http://a.test/docs/b.html")
    'b.md'
    """

    def __init__(self) -> None:
        self._name_by_url: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, url: str) -> str:
        """Return the file of a URL that has none."""
        name = _path_of(url)
        while name.lower() in self._taken:
            name = f"{name.removesuffix(SUFFIX)}~{_digest(url)}{SUFFIX}"
        self._taken.add(name.lower())
        self._name_by_url[url] = name
        return name

    def get(self, url: str) -> str | None:
        """Return the file of a URL; None if it has none."""
        return self._name_by_url.get(url)

    def link(self, source: str, target: str) -> str:
        """Return a link from the file of one URL to that of another."""
        here, there = self._name_by_url[source], self._name_by_url[target]
        return quote(relpath(there, dirname(here)), safe="/~()!$&'*+,;=@")


def _path_of(url: str) -> str:
    parts = urlsplit(url)
    *folders, last = unquote(parts.path).removeprefix("/").split("/")
    last = _PAGE_SUFFIX.sub("", last) or "index"
    if parts.query:
        last = f"{last}@{unquote(parts.query)}"
    # A folder must not have the name of a file.
    folders = [
        f"{each}_" if each.lower().endswith(SUFFIX) else each for each in folders
    ]
    host = parts.netloc.replace(":", "_")
    path = "/".join(map(_legal, [host, *folders, last])) + SUFFIX
    if len(path.encode()) <= MAX_PATH_BYTES:
        return path
    return "/".join(map(_legal, [host, f"long~{_digest(url)}", last])) + SUFFIX


def _legal(name: str) -> str:
    legal = _NOT_ALLOWED.sub("_", name)
    encoded = legal.encode()
    if len(encoded) > MAX_NAME_BYTES:
        legal = encoded[:MAX_NAME_BYTES].decode(errors="ignore")
    if _RESERVED.match(legal) or legal.endswith((".", " ")) or not legal:
        legal += "_"
    return legal if legal == name else f"{legal}~{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
