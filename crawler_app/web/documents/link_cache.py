"""Skips links already handled: no join, no check, no look-up.

The pages of one directory mostly have the same links, written in the same way, and a link that
names its host has the same target everywhere.  Nine in ten can be skipped when they are found
again.
"""

import functools
from collections.abc import Iterable

from crawler_app.base.urls import is_of_directory

__all__ = ["LinkCache"]

# About 10 MB: most links are short, and longer ones are not worth remembering.
MAX_LINKS = 100_000
MAX_LINK_CHARS = 300


class LinkCache:
    """Remembers links, as written, that are already handled, by directory of their base.

    A link that names its host is remembered for all directories.

    >>> cache = LinkCache()
    >>> cache.add("http://a.test/docs/x.html", "../home")
    >>> cache.unseen("http://a.test/docs/y.html", ["../home", "z.html"])
    ['z.html']
    """

    def __init__(self, max_links: int = MAX_LINKS) -> None:
        self._max_links = max_links
        self._count = 0
        self._links_by_directory: dict[str, set[str]] = {}
        self._links_with_host: set[str] = set()

    def unseen(self, base: str, links: Iterable[str]) -> list[str]:
        """Return the links that are not in the cache; links have no fragments."""
        here = self._links_by_directory.get(_directory(base), ())
        everywhere = self._links_with_host
        return [link for link in links if link not in here and link not in everywhere]

    def add(self, base: str, link: str) -> None:
        """Add a link, if it has the same target on all pages of the directory."""
        has_host = link.startswith(("https://", "http://"))
        if len(link) > MAX_LINK_CHARS or not (has_host or is_of_directory(link)):
            return
        self._count += 1
        if self._count > self._max_links:
            # Clearing everything works as well here as evicting the oldest, and adds no
            # cost to look-ups.
            self._links_by_directory.clear()
            self._links_with_host.clear()
            self._count = 1
        if has_host:
            self._links_with_host.add(link)
        else:
            self._links_by_directory.setdefault(_directory(base), set()).add(link)


@functools.lru_cache(maxsize=64)  # the links of a page have the same base
def _directory(base: str) -> str:
    return base.partition("?")[0].rpartition("/")[0]
