"""Targets of broken links: each broken URL, and the redirects that end there.

Pure.  `crawler_app.report.holders` searches for links to any of these.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crawler_app.models import UrlRecord
from crawler_app.report.findings import Broken, HeldLink
from crawler_app.report.holders import FoundLink
from crawler_app.results.redirects import Redirects
from crawler_app.urls import dedup_key

__all__ = ["Targets", "add_first_pages"]


class _Target(NamedTuple):
    """A broken URL, and the redirect that leads to it; empty for the URL itself."""

    broken: Broken
    through: str


class Targets:
    """The URLs to search for, each with a number.

    Attributes:
        number_by_key: The number of each URL, by dedup key.

    >>> from crawler_app.reasons import reason_of_status
    >>> gone = Broken("http://a/gone", 404, reason_of_status(404))
    >>> targets = Targets([gone], Redirects({"http://a/old": "http://a/gone"}))
    >>> number = targets.number_by_key["http://a/old"]
    >>> targets.add_links([FoundLink(number, "http://a/", "Old", "old")])
    >>> gone.links[0].through
    'http://a/old'
    """

    def __init__(self, broken: Iterable[Broken], redirects: Redirects) -> None:
        self._targets: list[_Target] = []
        self.number_by_key: dict[str, int] = {}
        broken_by_key = {dedup_key(each.url): each for each in broken}
        for key, each in broken_by_key.items():
            self._add(key, _Target(each, ""))
        for key, end_key in redirects.end_by_key.items():
            end = broken_by_key.get(end_key)
            if end is not None and key not in self.number_by_key:
                self._add(key, _Target(end, redirects.url_by_key[key]))

    def _add(self, key: str, target: _Target) -> None:
        self.number_by_key[key] = len(self._targets)
        self._targets.append(target)

    def add_links(self, found: Iterable[FoundLink]) -> None:
        """Add the links that were found to their broken URLs."""
        for link in found:
            broken, through = self._targets[link.number]
            broken.links.append(HeldLink(link.page, link.text, link.href, through))


def add_first_pages(broken: Iterable[Broken], failures: Sequence[UrlRecord]) -> None:
    """Sort the links; for a URL without any, add the page that first led to it.

    Args:
        failures: The records of all URLs that failed.
    """
    via_by_url = {record.url: record.via for record in failures}
    for each in broken:
        via = via_by_url.get(each.url, "")
        # Before the end of a seed's redirects comes a redirect, not a page.
        if via and not each.links and not each.is_seed:
            each.links.append(HeldLink(via))
        each.links.sort(key=lambda link: link.page)
