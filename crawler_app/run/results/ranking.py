"""The slowest or the largest URLs of a crawl."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

from crawler_app.base.models import Outcome
from crawler_app.store.frontier.count_types import RANKED

__all__ = ["Ranked", "Ranking"]


@dataclass(slots=True, frozen=True)
class Ranked:
    """A URL in the list of the slowest or of the largest."""

    url: str
    took_s: float
    size_bytes: int
    content_type: str = ""

    @classmethod
    def of(cls, url: str, outcome: Outcome) -> "Ranked":
        """Return the entry of a URL that was fetched."""
        took_s = outcome.took_s or 0.0
        return cls(url, took_s, outcome.size_bytes, outcome.content_type)


class Ranking:
    """Keeps the highest-ranked of the added URLs; of equals, those added first.

    >>> ranking = Ranking(lambda ranked: ranked.took_s, kept=1)
    >>> ranking.add(Ranked("http://a.test/slow", 2.0, 10))
    >>> ranking.add(Ranked("http://a.test/", 1.0, 10))
    >>> [ranked.url for ranked in ranking.best()]
    ['http://a.test/slow']
    """

    def __init__(self, value: Callable[[Ranked], float], kept: int = RANKED) -> None:
        self._value = value
        self._kept = kept
        self._heap: list[tuple[float, int, Ranked]] = []
        self._added = 0

    def add(self, ranked: Ranked) -> None:
        """Add a URL, if it is among the highest-ranked."""
        self._added += 1
        entry = self._value(ranked), -self._added, ranked
        if len(self._heap) < self._kept:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def best(self) -> list[Ranked]:
        """Return the kept URLs, highest first."""
        return [ranked for *_, ranked in sorted(self._heap, reverse=True)]
