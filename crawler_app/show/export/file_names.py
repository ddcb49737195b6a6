"""File names for URLs, legal on Linux, macOS and Windows.

Pure.  A name shows its URL where that is possible: ``/news?page=2`` is ``news@page=2.html``,
or ``news@page=2.md`` for its Markdown.
Names that differ only in case, or where one is to be both a file and a directory, get a mark
made from the URL, so that a URL keeps its name from one export to the next.
"""

import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

__all__ = [
    "MARKDOWN",
    "MARKER",
    "OTHER_HOSTS",
    "NamedFile",
    "file_names",
    "href_between",
    "wanted_name",
]

# What is not on the main host is below this directory.
OTHER_HOSTS = "hosts"

# A file in each folder; no URL has its name.
MARKER = "gencrawl-folder.json"

# ext4 and APFS allow 255 bytes or letters, Windows 260 characters for a whole path, of which
# the user's own directories take some.
MAX_NAME_BYTES = 100
MAX_PATH_CHARS = 180

# A browser that opens a file knows its type by the suffix alone.
_SUFFIXES_BY_TYPE = {
    "text/html": (".html", ".htm"),
    "application/xhtml+xml": (".xhtml", ".xht"),
    "text/css": (".css",),
    "text/javascript": (".js", ".mjs"),
    "application/javascript": (".js", ".mjs"),
    "image/svg+xml": (".svg",),
    "text/xml": (".xml", ".rss", ".atom"),
    "application/xml": (".xml", ".rss", ".atom"),
    "application/json": (".json", ".map", ".webmanifest"),
    "application/pdf": (".pdf",),
    "image/png": (".png",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "image/avif": (".avif",),
}
# The text of a page, whose own suffix it replaces.
MARKDOWN = "text/markdown"
_PAGE_SUFFIXES = frozenset(
    (".asp", ".aspx", ".htm", ".html", ".jsp", ".md", ".php", ".xhtml")
)

# As these, a file of another type would be shown wrongly, or run.
_MISLEADING = {
    suffix
    for kind, suffixes in _SUFFIXES_BY_TYPE.items()
    if kind.startswith("text/") or "xml" in kind
    for suffix in suffixes
}

_ILLEGAL = re.compile(r'[<>:"/\\|?*%#\x00-\x1f\x7f]')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]"
    r"|gencrawl-folder)(?=\.|\Z)",
    re.IGNORECASE,
)
# Windows drops them, so that ".." would be a directory above.
_END = re.compile(r"[. ]+\Z")
_SAFE_IN_HREF = "/@=~"


class NamedFile(NamedTuple):
    """What the name of a file depends on, besides the others.

    Attributes:
        url: The canonical URL.
        mime: Its MIME type, without parameters; empty for what will be no file.
        digest: Equal for URLs with the same body.
    """

    url: str
    mime: str
    digest: str = ""


def file_names(files: Collection[NamedFile], main_host: str) -> dict[str, str]:
    """Return by URL the path of its file in the folder, with slashes.

    ``/docs/`` and ``/docs/index.html`` are one file if they say the same.

    Args:
        main_host: As in the URLs; its files are at the top of the folder.

    >>> file_names([NamedFile("http://a.test/A", "text/html"),
    ...     NamedFile("http://a.test/a", "text/html", "x"),
    ...     NamedFile("http://b.test:81/", "text/html")], "a.test")
    ... # doctest: +NORMALIZE_WHITESPACE
    {'http://a.test/A': 'A.html', 'http://a.test/a': 'a~0babca87.html',
    'http://b.test:81/': 'hosts/b.test_81/index.html'}
    """
    wanted = {each.url: wanted_name(each, main_host) for each in files}
    digests = {each.url: each.digest for each in files}
    directories = {
        directory for name in wanted.values() for directory in _directories_of(name)
    }
    taken: dict[str, tuple[str, str]] = {}
    first_by_file: dict[tuple[str, str], str] = {}
    for url, name in sorted(wanted.items()):
        this = name, digests[url] or url
        first = first_by_file.setdefault(this, url)
        # Again and again, as the marked name may be that of another URL.
        while (key := _key_of(name)) in directories or (
            taken.setdefault(key, this) != this
        ):
            name = _marked(name, first)
        wanted[url] = name
    return wanted


def href_between(page: str, file: str) -> str:
    """Return the relative reference from one file of the folder to another.

    >>> href_between("a/b.html", "c d.html"), href_between("a.html", "a.html")
    ('../c%20d.html', 'a.html')
    """
    # From a root, so that the working directory need not be looked up.
    path = posixpath.relpath(f"/{file}", posixpath.dirname(f"/{page}"))
    return quote(path, safe=_SAFE_IN_HREF)


def wanted_name(file: NamedFile, main_host: str = "") -> str:
    """Return the name of a file as if there were no others.

    >>> wanted_name(NamedFile("http://a.test/docs/", MARKDOWN), "a.test")
    'docs/index.md'
    """
    parts = urlsplit(file.url)
    *directories, last = [_legal(segment) for segment in parts.path.split("/")[1:]]
    stem, suffix = posixpath.splitext(last or "index")
    if file.mime != MARKDOWN:
        suffix += _added_suffix(suffix.lower(), file.mime)
    elif suffix.lower() in _PAGE_SUFFIXES:
        suffix = ".md"
    else:
        stem, suffix = stem + suffix, ".md"
    if parts.query:
        stem += f"@{_legal(parts.query)}"
    last = _shortened(stem, suffix)
    if parts.netloc != main_host:
        directories = [OTHER_HOSTS, _legal(parts.netloc), *directories]
    # An empty segment would vanish.
    path = "/".join([_shortened(each or "_") for each in directories] + [last])
    if len(path) <= MAX_PATH_CHARS:
        return path
    return f"{OTHER_HOSTS}/long/{_mark_of(file.url)}/{last}"


def _legal(segment: str) -> str:
    text = unicodedata.normalize("NFC", unquote(segment))
    text = "".join(c if c.isprintable() else "_" for c in _ILLEGAL.sub("_", text))
    text = _END.sub(lambda end: "_" * len(end[0]), text)
    return f"_{text}" if _RESERVED.match(text) else text


def _added_suffix(suffix: str, mime: str) -> str:
    """Return what a name must end in besides its own suffix, in lower case."""
    known = _SUFFIXES_BY_TYPE.get(mime, (suffix,))
    if suffix not in known:
        return known[0]
    if mime in _SUFFIXES_BY_TYPE or not mime or suffix not in _MISLEADING:
        return ""
    return ".txt" if mime.startswith("text/") else ".bin"


def _shortened(stem: str, suffix: str = "") -> str:
    """Return a name that is short enough, with a mark if letters were cut off."""
    # Half of the room, even if each letter has four bytes.
    suffix = suffix[-MAX_NAME_BYTES // 8 :]
    if len((stem + suffix).encode()) <= MAX_NAME_BYTES:
        return stem + suffix
    mark = f"~{_mark_of(stem)}{suffix}"
    room = MAX_NAME_BYTES - len(mark.encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + mark


def _marked(name: str, url: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return f"{stem}~{_mark_of(url)}{suffix}"


def _mark_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _directories_of(name: str) -> Iterable[str]:
    """Return the keys of all directories above a file."""
    while name := posixpath.dirname(name):
        yield _key_of(name)


def _key_of(name: str) -> str:
    """Return what is equal for names that some file system takes as one."""
    return unicodedata.normalize("NFC", name.casefold())
