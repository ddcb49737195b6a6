"""The few URLs of a crawl that took longest, or are largest."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["RANKED", "Ranked", "Ranking"]

# How many are kept.
RANKED = 100


@dataclass(slots=True, frozen=True)
class Ranked:
    """One URL of a list of the slowest or the largest."""

    url: str
    took_s: float
    size_bytes: int
    content_type: str = ""


class Ranking:
    """Keeps the best of what it is shown; of equals, those shown first.

    >>> ranking = Ranking(lambda ranked: ranked.took_s, kept=1)
    >>> ranking.add(Ranked("http://a.test/slow", 2.0, 10))
    >>> ranking.add(Ranked("http://a.test/", 1.0, 10))
    >>> [ranked.url for ranked in ranking.best()]
    ['http://a.test/slow']
    """

    def __init__(self, worth: Callable[[Ranked], float], kept: int = RANKED) -> None:
        self._worth = worth
        self._kept = kept
        self._heap: list[tuple[float, int, Ranked]] = []
        self._shown = 0

    def add(self, ranked: Ranked) -> None:
        """Take one more into account."""
        self._shown += 1
        entry = self._worth(ranked), -self._shown, ranked
        if len(self._heap) < self._kept:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def best(self) -> list[Ranked]:
        """Return those kept, the best first."""
        return [ranked for *_, ranked in sorted(self._heap, reverse=True)]
