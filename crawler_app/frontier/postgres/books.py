"""How many URLs there are, as the server has told a worker last.  Pure."""

from collections import Counter
from typing import Any

from crawler_app.models import State

__all__ = ["Books"]


class Books:
    """The numbers of one answer.

    Args:
        answer: What ``books`` in ``functions.sql`` returns.

    Attributes:
        urls: By state.
        extras: The requisites and probes among them.

    >>> books = Books({"urls": [["queued", False, 1, 5]], "claimed": [[False, 2]]})
    >>> books.urls[State.QUEUED], books.urls[State.CLAIMED], books.least_depth()
    (3, 2, 1)
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        self.urls: Counter[State] = Counter()
        self.extras: Counter[State] = Counter()
        self._urls_by_depth: Counter[int] = Counter()
        for word, is_extra, depth, number in answer.get("urls") or ():
            self._count(State(word), is_extra, number)
            if depth is not None:
                self._urls_by_depth[depth] += number
        for is_extra, number in answer.get("claimed") or ():
            self._count(State.QUEUED, is_extra, -number)
            self._count(State.CLAIMED, is_extra, number)
        self._late_by_depth: Counter[int] = Counter(dict(answer.get("late") or ()))

    def _count(self, state: State, is_extra: bool, number: int) -> None:
        self.urls[state] += number
        self.extras[state] += is_extra * number

    def least_depth(self) -> int | None:
        """Return the least depth of the URLs that have not ended, but for late retries."""
        # The difference keeps only counts above 0.
        return min(self._urls_by_depth - self._late_by_depth, default=None)
