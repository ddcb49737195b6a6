"""The counts of URLs in the last answer of the server.  Pure."""

from collections import Counter
from typing import Any

from crawler_app.base.models import State
from crawler_app.store.frontier.count_types import StateCounts

__all__ = ["UrlCounts"]


class UrlCounts(StateCounts):
    """The numbers of one answer.

    Args:
        answer: What ``books`` in ``functions.sql`` returns.

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
