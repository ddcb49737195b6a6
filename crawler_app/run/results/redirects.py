"""Redirect chains and redirect loops.

Pure.  Two spellings of one URL count as one, as in the frontier.
"""

import functools
from collections.abc import Mapping

from crawler_app.base.urls import dedup_key

__all__ = ["Redirects"]


class Redirects:
    """The redirects of a crawl.

    Args:
        target_by_url: Target of each redirect; all are canonical URLs.

    Attributes:
        target_by_url: Target of each redirect.
        url_by_key: URL of each redirect by its dedup key.
        end_by_key: Dedup key of the URL that each redirect finally leads to; for a loop,
            that of one of its URLs.
        loop_by_key: The loops by that key, each as a list of URLs in order.

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
        """Return the chains of two redirects or more, except those that end in a loop.

        Each begins with a redirect that is not the target of another, and ends with the
        first URL that is not a redirect.
        """
        chains = [
            self.path_from(url)
            for key, url in self.url_by_key.items()
            if key not in self._target_by_key
            and self.end_by_key[key] not in self.loop_by_key
        ]
        return [chain for chain in chains if len(chain) > 2]

    def end_of(self, url: str) -> str:
        """Return the URL that a redirect finally leads to; for a loop, one of its URLs."""
        return self._target_by_key[self.end_by_key[dedup_key(url)]]

    def path_from(self, url: str) -> list[str]:
        """Return a URL and what its redirects lead to; of a loop, each URL once."""
        path = {url: None}
        while (at := self.url_by_key.get(dedup_key(url))) is not None:
            url = self.target_by_url[at]
            if url in path:
                break
            path[url] = None
        return list(path)

    @functools.cached_property
    def _target_by_key(self) -> dict[str, str]:
        return {dedup_key(target): target for target in self.target_by_url.values()}

    def _follow(self, key: str) -> None:
        path: dict[str, None] = {}
        while key in self.url_by_key and key not in self.end_by_key:
            if key in path:
                keys = list(path)[list(path).index(key) :]
                self.loop_by_key[key] = [self.url_by_key[each] for each in keys]
                break
            path[key] = None
            key = dedup_key(self.target_by_url[self.url_by_key[key]])
        end = self.end_by_key.get(key, key)
        self.end_by_key |= dict.fromkeys(path, end)
