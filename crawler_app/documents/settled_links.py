"""Skips links already handled in the same directory.

The pages of one directory mostly have the same links, written in the same way.  Nine in ten
can be skipped the second time they are found: no join, no check, no look-up.
"""

from collections.abc import Iterable

from crawler_app.urls import is_of_directory

__all__ = ["SettledLinks"]

# About 10 MB: most links are short, and longer ones are not worth remembering.
MAX_SETTLED = 100_000
MAX_LINK_CHARS = 300


class SettledLinks:
    """Remembers links, as written, that are already handled, by directory of their base.

    >>> settled = SettledLinks()
    >>> settled.add("http://a.test/docs/x.html", "../home")
    >>> settled.unsettled("http://a.test/docs/y.html", ["../home", "z.html"])
    ['z.html']
    """

    def __init__(self, max_settled: int = MAX_SETTLED) -> None:
        self._max_settled = max_settled
        self._count = 0
        self._links_by_directory: dict[str, set[str]] = {}

    def unsettled(self, base: str, links: Iterable[str]) -> list[str]:
        """Return the links that are not settled; links have no fragments."""
        settled = self._links_by_directory.get(_directory(base), ())
        return [link for link in links if link not in settled]

    def add(self, base: str, link: str) -> None:
        """Settle a link, if it has the same target on all pages of the directory."""
        if len(link) > MAX_LINK_CHARS or not is_of_directory(link):
            return
        self._count += 1
        if self._count > self._max_settled:
            # Clearing everything works as well here as evicting the oldest, and adds no
            # cost to look-ups.
            self._links_by_directory.clear()
            self._count = 1
        self._links_by_directory.setdefault(_directory(base), set()).add(link)


def _directory(base: str) -> str:
    return base.partition("?")[0].rpartition("/")[0]
