"""Where references lead: most stand on many pages, and are resolved once for all of a site or a directory.  Pure."""

from collections.abc import Callable
from typing import Generic, TypeVar

from crawler_app.base.urls import join_or_nothing, origin_of, place_of
from crawler_app.web.documents.malformed import problem_in

__all__ = ["LinkResolver"]

# About 8 MB: most links are short, and longer ones are not worth remembering.
MAX_LINKS = 20_000
MAX_LINK_CHARS = 300

Found = TypeVar("Found")


class LinkResolver(Generic[Found]):
    """Resolves references, and remembers what is known of their targets.

    Args:
        look_up: Called with a URL, empty if a reference leads nowhere, and with what is wrong
            with the reference; returns what is to be remembered.

    >>> resolver = LinkResolver(lambda url, problem: url or problem)
    >>> resolver.find("http://a.test/b/", "../c"), resolver.find("http://a.test/", "")
    ('http://a.test/c', 'http://a.test/')
    """

    def __init__(self, look_up: Callable[[str, str], Found]) -> None:
        self._look_up = look_up
        self._found_by_place: dict[tuple[str, str], Found] = {}

    def find(self, base: str, link: str) -> Found:
        """Return what is known of the target of a reference without a fragment."""
        # Whether the host of the base is private decides what is wrong with a reference.
        shared = place_of(base, link)
        place = base if shared is None else shared or origin_of(base), link
        found = self._found_by_place.get(place)
        if found is None:
            # An empty reference is the document itself.
            url = join_or_nothing(base, link) if link else base
            found = self._look_up(url, problem_in(base, link))
            if len(link) > MAX_LINK_CHARS:
                return found
            if len(self._found_by_place) >= MAX_LINKS:
                self._found_by_place.clear()
            self._found_by_place[place] = found
        return found
