"""The shape of a site: how many URLs each folder has, and what became of them.

Pure.  Each URL counts for the folder that it is in.  When there are too many folders,
those with the fewest URLs are counted with the folder around them, so that a site of any
size takes limited memory.  `crawler_app.report.treemap` lays it out.
"""

import enum
import statistics
from collections.abc import Sequence

from crawler_app.text.escaping import printable

__all__ = ["Kind", "Shape", "folder_of", "in_words", "parent_of"]

# About 5 MB.
MAX_FOLDERS = 20_000

# Longer paths, mostly made by a fault of the site, count for a folder further up.
MAX_FOLDER_CHARS = 120


class Kind(enum.IntEnum):
    """What became of a URL.  What was never to be fetched is no part of the shape."""

    OK = 0
    FILE = 1
    REDIRECT = 2
    BROKEN = 3
    LEFT = 4


KINDS = len(Kind)  # counted once: an enum takes its time

# One of them, and several.
WORDS_BY_KIND = {
    Kind.OK: ("page", "pages"),
    Kind.FILE: ("file", "files"),
    Kind.REDIRECT: ("redirect", "redirects"),
    Kind.BROKEN: ("broken", "broken"),
    Kind.LEFT: ("not fetched yet", "not fetched yet"),
}


def in_words(counts: Sequence[int]) -> str:
    """Return numbers of URLs, one of each `Kind`, as a person says them.

    >>> in_words([1200, 0, 1, 3, 0])
    '1,200 pages, 1 redirect, 3 broken'
    """
    return ", ".join(
        f"{n:,} {words[n != 1]}"
        for n, words in zip(counts, WORDS_BY_KIND.values(), strict=True)
        if n
    )


def folder_of(url: str) -> str:
    """Return the host and the folders of a URL, without empty ones; safe to be printed.

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
    """Return the folder around another; that of a host is empty.

    >>> parent_of("a.test/docs/"), parent_of("a.test/")
    ('a.test/', '')
    """
    return folder[: folder.rfind("/", 0, -1) + 1]


class Shape:
    """The folders of all URLs that were added.

    Args:
        max_folders: How many there may be.

    >>> shape = Shape()
    >>> for path in ("", "docs/", "docs/a.html", "docs/b.html?page=2"):
    ...     shape.add(f"https://a.test/{path}", Kind.OK)
    >>> {folder: sum(counts) for folder, counts in shape.totals().items()}
    {'': 4, 'a.test/': 4, 'a.test/docs/': 3}
    """

    def __init__(self, *, max_folders: int = MAX_FOLDERS) -> None:
        self._max_folders = max_folders
        self._counts_by_folder: dict[str, list[int]] = {}

    def add(self, url: str, kind: Kind) -> None:
        """Count one more URL."""
        folder = folder_of(url)
        counts = self._counts_by_folder.get(folder)
        if counts is None:
            counts = self._counts_by_folder[folder] = [0] * KINDS
        counts[kind] += 1
        if len(self._counts_by_folder) > self._max_folders:
            self._fold()

    def totals(self) -> dict[str, list[int]]:
        """Return the URLs of each `Kind` in each folder and below; "" is for all."""
        totals = {"": [0] * KINDS}
        for folder, counts in self._counts_by_folder.items():
            _add(totals, folder, counts)
            while folder:
                folder = parent_of(folder)
                _add(totals, folder, counts)
        return totals

    def _fold(self) -> None:
        """Count the smaller half of all folders with their parents, until few are left.

        At least ``max_folders / 2`` new folders come between two times, so it costs each
        of them little.

        Source: "lossy counting" in Manku and Motwani, Approximate Frequency Counts over
        Data Streams, 2002.
        """
        counts_by_folder = self._counts_by_folder
        while len(counts_by_folder) > max(1, self._max_folders // 2):
            totals = {f: sum(counts) for f, counts in counts_by_folder.items() if f}
            most = statistics.median_low(totals.values())
            for folder, total in totals.items():
                if total <= most:
                    counts = counts_by_folder.pop(folder)
                    _add(counts_by_folder, parent_of(folder), counts)


def _add(
    counts_by_folder: dict[str, list[int]], folder: str, more: Sequence[int]
) -> None:
    counts = counts_by_folder.setdefault(folder, [0] * len(more))
    for kind, n in enumerate(more):
        counts[kind] += n
