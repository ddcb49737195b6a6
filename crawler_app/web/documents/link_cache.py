"""Skips links already handled: no join, no check, no look-up.

The pages of a site mostly have the same links, written in the same way.  Nine in ten can be
skipped when they are found again, also those such as ``../x`` that directories side by side
have in common.
"""

from collections.abc import Iterable, Iterator

from crawler_app.base.urls import directory_of, origin_of, place_of, written_above

__all__ = ["LinkCache"]

# About 10 MB: most links are short, and longer ones are not worth remembering.
MAX_LINKS = 100_000
MAX_LINK_CHARS = 300


class LinkCache:
    """Remembers links, as written, that are already handled, by the place that they depend on.

    >>> cache = LinkCache()
    >>> cache.add("http://a.test/docs/x.html", "../home")
    >>> [*cache.unseen("http://a.test/docs/y.html", ["../home", "z.html"])]
    ['z.html']
    """

    def __init__(self, max_links: int = MAX_LINKS) -> None:
        self._max_links = max_links
        self._count = 0
        self._links_by_place: dict[str, set[str]] = {}

    def unseen(self, base: str, links: Iterable[str]) -> Iterator[str]:
        """Yield the links that are not in the cache; links have no fragments."""
        found = self._links_by_place.get
        here, on_site = found(directory_of(base), ()), found(origin_of(base), ())
        everywhere = found("", ())
        new = [
            link
            for link in links
            if link not in here and link not in on_site and link not in everywhere
        ]
        for link in new:
            if not (link.startswith("../") and self._is_known_above(base, link)):
                yield link

    def _is_known_above(self, base: str, link: str) -> bool:
        """Return whether a link is in the cache, as pages of a directory above write it."""
        if len(link) > MAX_LINK_CHARS or (above := written_above(base, link)) is None:
            return False
        place, written = above
        if written not in self._links_by_place.get(place, ()):
            return False
        self._add(directory_of(base), link)  # for the other pages of this directory
        return True

    def add(self, base: str, link: str) -> None:
        """Add a link, if it has the same target on other pages."""
        place = place_of(base, link)
        if len(link) > MAX_LINK_CHARS or place is None:
            return
        self._add(place, link)
        if (above := written_above(base, link)) is not None:
            self._add(*above)

    def _add(self, place: str, link: str) -> None:
        self._count += 1
        if self._count > self._max_links:
            # Clearing everything works as well here as evicting the oldest, and adds no
            # cost to look-ups.
            self._links_by_place.clear()
            self._count = 1
        self._links_by_place.setdefault(place, set()).add(link)
