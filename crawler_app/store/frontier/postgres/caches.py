"""What a worker remembers of the server's answers: counts, recent URLs and recent origins.

A crawl may have more URLs and origins than fit into memory.  The oldest are forgotten; then
the server is sent a link, or asked about an origin, again.  Pure.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from crawler_app.base.models import State
from crawler_app.store.frontier.count_types import StateCounts

__all__ = ["OriginNews", "RecentKeys", "RecentNumbers", "UrlCounts"]

# Two times as many are held, at about 150 bytes each.
MAX_KEYS = 250_000


@dataclass(slots=True, frozen=True)
class OriginNews:
    """What all workers together know of an origin.

    Attributes:
        pauses: How many were made since its last response.
        robots: As it was given to `PostgresFrontier.note_robots`; empty if nothing was.
        cookies: The same for `PostgresFrontier.note_cookies`.
    """

    name: str
    pauses: int
    robots: dict[str, Any]
    cookies: dict[str, list[Any]]


class RecentKeys:
    """Keys, and whether the refusal of their URL is provisional.

    >>> keys = RecentKeys(max_keys=2)
    >>> [keys.add(key, is_provisional=False) for key in "abacdef"]
    [True, True, False, True, True, True, True]
    >>> keys.knows("a"), keys.knows("e")
    (False, True)
    """

    def __init__(self, max_keys: int = MAX_KEYS) -> None:
        self._max_keys = max_keys
        self._newer: dict[str, bool] = {}
        self._older: dict[str, bool] = {}

    def knows(self, key: str) -> bool:
        """Return whether adding a URL again changes nothing."""
        return self._find(key) is False

    def add(self, key: str, *, is_provisional: bool) -> bool:
        """Note a URL; return whether adding it may change something."""
        known = self._find(key)
        if known is not None and (is_provisional or not known):
            return False
        self._newer[key] = is_provisional
        if len(self._newer) > self._max_keys:
            self._newer, self._older = {}, self._newer
        return True

    def clear(self) -> None:
        """Forget all."""
        self._newer, self._older = {}, {}

    def _find(self, key: str) -> bool | None:
        known = self._newer.get(key)
        return self._older.get(key) if known is None else known


class RecentNumbers(dict[str, float]):
    """Numbers by name, of which the oldest are forgotten.

    >>> numbers = RecentNumbers(max_names=2)
    >>> for name in "abac":
    ...     numbers.note(name, 1)
    >>> list(numbers)
    ['a', 'c']
    """

    def __init__(self, max_names: int = MAX_KEYS) -> None:
        super().__init__()
        self._max_names = max_names

    def note(self, name: str, number: float) -> None:
        """Note a number as the newest."""
        self.pop(name, None)
        self[name] = number
        if len(self) > self._max_names:
            del self[next(iter(self))]


class UrlCounts(StateCounts):
    """The counts of URLs in the last answer.

    Args:
        answer: What ``url_counts`` in ``functions.sql`` returns.

    >>> counts = UrlCounts({"urls": [["queued", False, 1, 5]], "claimed": [[False, 2]]})
    >>> counts.urls[State.QUEUED], counts.urls[State.CLAIMED], counts.least_depth()
    (3, 2, 1)
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self._urls_by_depth: Counter[int] = Counter()
        for word, is_non_page, depth, number in answer.get("urls") or ():
            self.add(State(word), number, is_non_page * number)
            if depth is not None:
                self._urls_by_depth[depth] += number
        for is_non_page, number in answer.get("claimed") or ():
            self.add(State.QUEUED, -number, -is_non_page * number)
            self.add(State.CLAIMED, number, is_non_page * number)
        self._late_by_depth: Counter[int] = Counter(dict(answer.get("late") or ()))

    def least_depth(self) -> int | None:
        """Return the least depth of the URLs that have not ended, but for late retries."""
        # The difference keeps only counts above 0.
        return min(self._urls_by_depth - self._late_by_depth, default=None)
