"""Where redirects lead in the end: their chains, and their loops.

Pure.  Two spellings of one URL are one here, as they are to the frontier.
"""

from collections.abc import Mapping

from crawler_app.urls import dedup_key

__all__ = ["Redirects"]


class Redirects:
    """The redirects of a crawl.

    Args:
        target_by_url: Where each leads, as canonical URLs.

    Attributes:
        target_by_url: The same.
        url_by_key: Each redirect by its dedup key.
        end_by_key: Of each redirect the dedup key of what it ends at; of one that ends
            nowhere, that of a URL of its loop.
        loop_by_key: The loops, each by that key; a list of URLs in their order.

    >>> redirects = Redirects({"http://a/1": "http://a/2", "http://a/2": "http://a/3"})
    >>> redirects.chains()
    [['http://a/1', 'http://a/2', 'http://a/3']]
    """

    def __init__(self, target_by_url: Mapping[str, str]) -> None:
        self.target_by_url = target_by_url
        self.url_by_key = {dedup_key(url): url for url in target_by_url}
        self.end_by_key: dict[str, str] = {}
        self.loop_by_key: dict[str, list[str]] = {}
        for key in self.url_by_key:
            self._follow(key)

    def __len__(self) -> int:
        return len(self.target_by_url)

    def chains(self) -> list[list[str]]:
        """Return the ways of two redirects or more that end somewhere, each in full.

        Each begins with a redirect that no other leads to, and ends with what is none.
        """
        later = {dedup_key(target) for target in self.target_by_url.values()}
        ways = [
            self._way_from(url)
            for key, url in self.url_by_key.items()
            if key not in later and self.end_by_key[key] not in self.loop_by_key
        ]
        return [way for way in ways if len(way) > 2]

    def _next(self, key: str) -> str:
        return dedup_key(self.target_by_url[self.url_by_key[key]])

    def _way_from(self, url: str) -> list[str]:
        way = [url]
        while (at := self.url_by_key.get(dedup_key(way[-1]))) is not None:
            way.append(self.target_by_url[at])
        return way

    def _follow(self, key: str) -> None:
        way: dict[str, None] = {}
        while key in self.url_by_key and key not in self.end_by_key:
            if key in way:
                keys = list(way)[list(way).index(key) :]
                self.loop_by_key[key] = [self.url_by_key[each] for each in keys]
                break
            way[key] = None
            key = self._next(key)
        end = self.end_by_key.get(key, key)
        self.end_by_key |= dict.fromkeys(way, end)
