"""Which links of a page are news.

The pages of one directory mostly hold the same links, written in the same way.  Nine in
ten need nothing more the second time they are met: no join, no check, no look-up.
"""

from collections.abc import Iterable

from crawler_app.urls import is_of_directory

__all__ = ["SettledLinks"]

# About 10 MB.
MAX_SETTLED = 100_000


class SettledLinks:
    """Remembers links as written that need nothing more, per directory of their base.

    >>> settled = SettledLinks()
    >>> settled.add("http://a.test/docs/x.html", "../home")
    >>> settled.news("http://a.test/docs/y.html", ["../home#top", "z.html", "z.html#a"])
    ['z.html']
    """

    def __init__(self, max_settled: int = MAX_SETTLED) -> None:
        self._max_settled = max_settled
        self._count = 0
        self._links_by_directory: dict[str, set[str]] = {}

    def news(self, base: str, links: Iterable[str]) -> list[str]:
        """Return the links that are not settled, without fragments, each once."""
        settled = self._links_by_directory.get(_directory(base), ())
        # Most links of a page differ in their fragments only.  No call for each of them.
        fresh = dict.fromkeys([link.partition("#")[0] for link in links])
        return [link for link in fresh if link not in settled]

    def add(self, base: str, link: str) -> None:
        """Settle a link, for all pages of the directory if it means the same there."""
        if not is_of_directory(link):
            return
        self._count += 1
        if self._count > self._max_settled:
            # To forget all at once is as good here as to forget the oldest, and costs
            # a look-up nothing.
            self._links_by_directory.clear()
            self._count = 1
        self._links_by_directory.setdefault(_directory(base), set()).add(link)


def _directory(base: str) -> str:
    return base.partition("?")[0].rpartition("/")[0]
