"""How much of a crawl is done, and how long the rest will take.

Pure.  Rule: only URLs that are known count, and what follows from them is called a bound while
new ones are still found.
"""

import collections
from collections.abc import Mapping
from dataclasses import dataclass

from crawler_app.base.models import State

__all__ = ["Estimate", "Progress"]

# Rates are averaged over this many seconds: long enough for a host that is asked seldom.
RATE_OVER_S = 60.0

# New URLs are still found if one was found within this many seconds.
GROWING_WITHIN_S = 20.0

# A rate over a shorter time says little.
MIN_SPAN_S = 3.0


@dataclass(slots=True, frozen=True)
class Progress:
    """How much is done.

    Attributes:
        share: The share of the known URLs that have ended, from 0 to 1; None if none is known.
        is_growing: Whether new URLs are still found, so that the share is an upper bound, and
            the time left a lower one.
        left_s: How long the known URLs will take at the rate of the last minute; None if no
            URL has ended in it.
    """

    share: float | None = None
    is_growing: bool = True
    left_s: float | None = None


class Estimate:
    """Estimates from the counts of a crawl, which are looked at now and then.

    >>> estimate = Estimate()
    >>> counts = {State.DONE: 0, State.QUEUED: 100}
    >>> estimate.look(0.0, counts)
    Progress(share=0.0, is_growing=True, left_s=None)
    >>> estimate.look(30.0, {State.DONE: 60, State.QUEUED: 40})
    Progress(share=0.6, is_growing=False, left_s=20.0)
    """

    def __init__(self) -> None:
        # (time, URLs that had ended), as far back as the rate needs.
        self._ended = collections.deque[tuple[float, int]]()
        self._known = 0
        self._grew_at = 0.0

    def look(self, now: float, count_by_state: Mapping[State, int]) -> Progress:
        """Return the progress.

        Args:
            now: The time, in seconds on any clock.
        """
        count = count_by_state.get
        ended = count(State.DONE, 0) + count(State.FAILED, 0)
        left = count(State.QUEUED, 0) + count(State.CLAIMED, 0)
        if ended + left > self._known:
            self._grew_at = now
        self._known = ended + left
        rate = self._rate(now, ended)
        return Progress(
            ended / self._known if self._known else None,
            now - self._grew_at <= GROWING_WITHIN_S and left > 0,
            left / rate if rate else 0.0 if not left else None,
        )

    def _rate(self, now: float, ended: int) -> float:
        """Return how many URLs end in a second."""
        while self._ended and self._ended[0][0] < now - RATE_OVER_S:
            self._ended.popleft()
        self._ended.append((now, ended))
        then, ended_then = self._ended[0]
        return (ended - ended_then) / (now - then) if now - then >= MIN_SPAN_S else 0.0
