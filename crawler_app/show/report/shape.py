"""The shape of a site: the number of URLs in each folder, by category.

Pure.  Each URL counts for the folder it is in.  If there are too many folders, the URLs of
further ones count for their parents, so that memory is limited for a site of any
size.  `crawler_app.show.report.treemap` lays it out.
"""

import enum
from collections.abc import Sequence

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import State, UrlRecord
from crawler_app.base.reasons import CONTENT, is_broken
from crawler_app.base.text.escaping import printable
from crawler_app.run.results.redirects import Redirects

__all__ = [
    "Shape",
    "UrlCategory",
    "add_redirects",
    "add_url",
    "folder_of",
    "in_words",
    "parent_of",
]

# About 5 MB.
MAX_FOLDERS = 20_000

# Longer paths, mostly due to a bug of the site, count for a folder further up.
MAX_FOLDER_CHARS = 120


class UrlCategory(enum.IntEnum):
    """How a URL counts.  Skipped URLs are not part of the shape."""

    OK = 0
    FILE = 1
    REDIRECT = 2
    LOOP = 3
    BROKEN = 4
    LEFT = 5


CATEGORIES = len(UrlCategory)  # counted once, as len() of an enum is slow

# Singular and plural.
WORDS_BY_CATEGORY = {
    UrlCategory.OK: ("page", "pages"),
    UrlCategory.FILE: ("file", "files"),
    UrlCategory.REDIRECT: ("redirect", "redirects"),
    UrlCategory.LOOP: ("redirect loop", "redirect loops"),
    UrlCategory.BROKEN: ("broken", "broken"),
    UrlCategory.LEFT: ("not fetched", "not fetched"),
}


def in_words(counts: Sequence[int]) -> str:
    """Return the number of URLs of each `UrlCategory`, in words.

    >>> in_words([1200, 0, 1, 0, 3, 0])
    '1,200 pages, 1 redirect, 3 broken'
    """
    return ", ".join(
        f"{n:,} {words[n != 1]}"
        for n, words in zip(counts, WORDS_BY_CATEGORY.values(), strict=True)
        if n
    )


def folder_of(url: str) -> str:
    """Return the host and the folders of a URL, without empty ones; safe to print.

    >>> folder_of("https://a.test/docs//a.html?x=/y"), folder_of("https://a.test/")
    ('a.test/docs/', 'a.test/')
    """
    rest = url.partition("?")[0].partition("://")[2]
    folder = rest[: rest.rfind("/") + 1]
    if "//" in folder or len(folder) > MAX_FOLDER_CHARS:
        folder = "".join(f"{name}/" for name in folder.split("/") if name)
        folder = folder[: folder.rfind("/", 0, MAX_FOLDER_CHARS) + 1]
    return printable(folder)


def parent_of(folder: str) -> str:
    """Return the parent of a folder; empty for a host.

    >>> parent_of("a.test/docs/"), parent_of("a.test/")
    ('a.test/', '')
    """
    return folder[: folder.rfind("/", 0, -1) + 1]


class Shape:
    """The folders of all URLs that were added.

    Args:
        max_folders: The maximum number of folders.

    >>> shape = Shape()
    >>> for path in ("", "docs/", "docs/a.html", "docs/b.html?page=2"):
    ...     shape.add(f"https://a.test/{path}", UrlCategory.OK)
    >>> {folder: sum(counts) for folder, counts in shape.totals().items()}
    {'': 4, 'a.test/': 4, 'a.test/docs/': 3}
    """

    def __init__(self, *, max_folders: int = MAX_FOLDERS) -> None:
        self._max_folders = max_folders
        self._counts_by_folder: dict[str, list[int]] = {}

    def add(self, url: str, category: UrlCategory) -> None:
        """Count a URL."""
        folder, counts_by_folder = folder_of(url), self._counts_by_folder
        if len(counts_by_folder) >= self._max_folders:
            while folder and folder not in counts_by_folder:
                folder = parent_of(folder)
        counts_by_folder.setdefault(folder, [0] * CATEGORIES)[category] += 1

    def totals(self) -> dict[str, list[int]]:
        """Return the counts by `UrlCategory` of each folder and its subfolders; "" is the total."""
        totals = {"": [0] * CATEGORIES}
        for folder, counts in self._counts_by_folder.items():
            _add(totals, folder, counts)
            while folder:
                folder = parent_of(folder)
                _add(totals, folder, counts)
        return totals


def _add(
    counts_by_folder: dict[str, list[int]], folder: str, more: Sequence[int]
) -> None:
    counts = counts_by_folder.setdefault(folder, [0] * len(more))
    for category, n in enumerate(more):
        counts[category] += n


def add_url(shape: Shape, record: UrlRecord) -> None:
    """Add a URL, unless it was skipped or is a redirect.

    >>> shape = Shape()
    >>> add_url(shape, UrlRecord("http://a.test/", State.QUEUED, depth=0))
    >>> shape.totals()["a.test/"][UrlCategory.LEFT]
    1
    """
    category = _category_of(record)
    if category is not None:
        shape.add(record.url, category)


def add_redirects(shape: Shape, redirects: Redirects) -> None:
    """Add the redirects; the first URL of each loop stands for the loop."""
    first = {loop[0] for loop in redirects.loop_by_key.values()}
    for url in redirects.url_by_key.values():
        shape.add(url, UrlCategory.LOOP if url in first else UrlCategory.REDIRECT)


def _category_of(record: UrlRecord) -> UrlCategory | None:
    outcome = record.outcome
    if record.state is State.EXCLUDED:
        return None
    if outcome is None:
        return UrlCategory.LEFT
    is_page = outcome.status is not None and is_html(outcome.content_type)
    if record.state is State.FAILED:
        if is_broken(outcome.reason):
            return UrlCategory.BROKEN
        return UrlCategory.OK if is_page else UrlCategory.LEFT
    if outcome.reason not in CONTENT:
        return None
    return UrlCategory.OK if is_html(outcome.content_type) else UrlCategory.FILE
