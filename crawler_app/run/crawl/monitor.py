"""Samples a crawl once a second, for the terminal, the dashboard and the metrics.

Rule: the cost of a sample does not grow with the crawl: it reads only counts that are in
memory.
"""

import collections
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, Self

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.run.crawl import Failure
from crawler_app.run.crawl.estimate import Estimate, Progress
from crawler_app.run.crawl.pace import Pace, pace_of
from gencoro.ioloop import PeriodicCallback

__all__ = ["SHOWN_URLS", "Monitor", "Sample", "Watched"]

# As often as a person can follow.
EVERY_S = 1.0

# Ten minutes of history.
KEPT_SAMPLES = 600

# Shorter waits are not shown: every crawl waits a little between two fetches from one host.
MIN_WAIT_S = 2.0

# Rates are averaged over this many seconds, so that they are readable.
RATE_OVER_S = 5.0

# URLs under way that are listed.
SHOWN_URLS = 20


@dataclass(slots=True, frozen=True)
class Sample:
    """The state of a crawl at one moment.

    Attributes:
        at: The time, in seconds since the epoch.
        elapsed_s: Time since the monitor was created.
        phase: ``running``, ``paused``, ``stopping``, or ``waiting`` if no queued URL is due
            yet.
        waiting_s: Time until the next URL is due; None unless the crawl is waiting.
        fetched: Exchanges made in this run, including robots.txt and retries.
        size_bytes: The size of their bodies, after decompression.
        fetches_per_s: Average over the last seconds.
        bytes_per_s: Average over the last seconds.
        count_by_state: The number of URLs in each state.
        under_way_by_host: Fetches under way, the busiest host first.
        failures: The URLs that failed most recently, the latest first.
        under_way: URLs under way, the oldest first, and for how many seconds.
        pace: How fast the crawl may be; see `crawler_app.run.crawl.pace`.
        progress: How much is done.
        waiting_for: The host that the crawl is waiting for, and why; empty if unknown.
    """

    at: float
    elapsed_s: float
    phase: str
    waiting_s: float | None
    fetched: int
    size_bytes: int
    fetches_per_s: float
    bytes_per_s: float
    count_by_state: dict[State, int]
    under_way_by_host: list[tuple[str, int]]
    failures: list[Failure]
    under_way: list[tuple[str, float]] = field(default_factory=list)
    pace: Pace = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    waiting_for: str = ""


class Watched(Protocol):
    """A running crawl: a `Crawl`, or one by several processes."""

    @property
    def config(self) -> CrawlConfig: ...

    @property
    def stats(self) -> collections.Counter[str]: ...

    @property
    def is_paused(self) -> bool: ...

    @property
    def is_stopping(self) -> bool: ...

    @property
    def last_failures(self) -> collections.deque[Failure]: ...

    def count(self, state: State) -> int: ...

    def under_way_by_host(self) -> collections.Counter[str]: ...

    def oldest_under_way(self, now: float, most: int) -> list[tuple[str, float]]: ...

    def next_at(self, now: float) -> float | None: ...

    def waiting_for(self, now: float) -> str: ...

    def pause(self) -> None: ...

    def unpause(self) -> None: ...

    def stop(self) -> None: ...

    def change_pace(self, pace: Pace) -> None: ...


class Monitor:
    """A context manager that takes a sample every second.

    Args:
        clock: Returns seconds; used for durations.

    Attributes:
        crawl: The crawl that is sampled.
        history: The samples of the last ten minutes, the oldest first.
    """

    def __init__(
        self, crawl: Watched, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.crawl = crawl
        self._clock = clock
        self.history: collections.deque[Sample] = collections.deque(maxlen=KEPT_SAMPLES)
        self._listeners: list[Callable[[Sample], object]] = []
        self._started_at = clock()
        # (time, exchanges, bytes), as far back as the rates need.
        self._recent = collections.deque([(0.0, 0, 0)])
        self._estimate = Estimate()
        self._timer = PeriodicCallback(self.look, EVERY_S * 1000)

    def listen(self, listener: Callable[[Sample], object]) -> None:
        """Call a function with each new sample."""
        self._listeners.append(listener)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._timer.stop()

    def look(self) -> Sample:
        """Take a sample, store it, and pass it to the listeners."""
        sample = self._sample()
        self.history.append(sample)
        for listener in self._listeners:
            listener(sample)
        return sample

    def _sample(self) -> Sample:
        crawl = self.crawl
        elapsed_s = self._clock() - self._started_at
        fetched, size_bytes = crawl.stats["fetched"], crawl.stats["bytes"]
        fetches_per_s, bytes_per_s = self._rates(elapsed_s, fetched, size_bytes)
        now = time.time()
        waiting_s = self._waiting_s(now)
        count_by_state = {state: crawl.count(state) for state in State}
        return Sample(
            now,
            elapsed_s,
            self._phase(waiting_s),
            waiting_s,
            fetched,
            size_bytes,
            fetches_per_s,
            bytes_per_s,
            count_by_state,
            crawl.under_way_by_host().most_common(),
            list(reversed(crawl.last_failures)),
            crawl.oldest_under_way(now, SHOWN_URLS),
            pace_of(crawl.config),
            self._estimate.look(elapsed_s, count_by_state),
            "" if waiting_s is None else crawl.waiting_for(now),
        )

    def _rates(
        self, elapsed_s: float, fetched: int, size_bytes: int
    ) -> tuple[float, float]:
        while len(self._recent) > 1 and self._recent[0][0] < elapsed_s - RATE_OVER_S:
            self._recent.popleft()
        then_s, fetched_then, bytes_then = self._recent[0]
        self._recent.append((elapsed_s, fetched, size_bytes))
        # At the start, a very short span would give an exaggerated rate.
        span_s = max(elapsed_s - then_s, EVERY_S)
        return (fetched - fetched_then) / span_s, (size_bytes - bytes_then) / span_s

    def _phase(self, waiting_s: float | None) -> str:
        if self.crawl.is_stopping:
            return "stopping"
        if self.crawl.is_paused:
            return "paused"
        return "running" if waiting_s is None else "waiting"

    def _waiting_s(self, now: float) -> float | None:
        """Return the seconds until the next URL is due; None if work is running.

        Other workers of the crawl may be running, too.
        """
        if self.crawl.count(State.CLAIMED) or self.crawl.is_paused:
            return None
        next_at = self.crawl.next_at(now)
        if next_at is None or next_at - now < MIN_WAIT_S:
            return None
        return next_at - now
