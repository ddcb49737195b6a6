"""One crawl, many browsers: each sample is sent to all that look on.

Rule: nothing waits for a browser, and nothing is kept for one.  Who has not taken the
last sample is passed over until it has; who takes nothing for long is dropped.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from crawler_app.crawl.monitor import Monitor, Sample
from crawler_app.dashboard.messages import begin_event, end_event, sample_event
from gencoro.concurrent import Future

__all__ = ["Feed", "Viewer"]

# Each costs as much as the sending of its samples.
MAX_VIEWERS = 20

# How long a browser may take nothing; longer than a pause of its machine's network.
PATIENCE_S = 30.0


class Viewer(Protocol):
    """A browser that looks on."""

    def send(self, event: bytes) -> "Future[None]":
        """Send an event; the Future is done when the system has taken all of it."""

    def end(self) -> None:
        """Tell it that no more events come."""

    def drop(self) -> None:
        """Close its connection; what it has not taken is lost."""


class Feed:
    """Sends the samples of a monitor to those who look on.

    Args:
        can_search: Whether there is an index to search in.
        clock: The current time in seconds, for patience.

    Attributes:
        is_full: Whether no other may look on.
    """

    def __init__(
        self,
        monitor: Monitor,
        *,
        can_search: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monitor = monitor
        self._can_search = can_search
        self._clock = clock
        # When each was sent its last event, and whether it has taken it.
        self._last_by_viewer: dict[Viewer, tuple[float, Future[None]]] = {}
        monitor.listen(self.publish)

    def __len__(self) -> int:
        """Return how many look on."""
        return len(self._last_by_viewer)

    @property
    def is_full(self) -> bool:
        return len(self) >= MAX_VIEWERS

    def latest(self) -> Sample:
        """Return the last sample, or take the first one."""
        history = self._monitor.history
        return history[-1] if history else self._monitor.look()

    @contextlib.contextmanager
    def joined(self, viewer: Viewer) -> Iterator[None]:
        """Send to a viewer what was so far, and what comes while this is entered."""
        latest = self.latest()
        seeds, history = self._monitor.crawl.config.seeds, self._monitor.history
        event = begin_event(seeds, history, latest, can_search=self._can_search)
        self._send(viewer, event)
        try:
            yield
        finally:
            self._last_by_viewer.pop(viewer, None)

    def publish(self, sample: Sample) -> None:
        """Send a sample to all that have taken the one before."""
        if not self._last_by_viewer:
            return
        event = sample_event(sample)
        for viewer, (sent_at, taken) in list(self._last_by_viewer.items()):
            if taken.done():
                self._send(viewer, event)
            elif self._clock() - sent_at > PATIENCE_S:
                del self._last_by_viewer[viewer]
                viewer.drop()

    def close(self) -> None:
        """Tell all that the crawl has ended, as the last sample says it did."""
        if not self._last_by_viewer:
            return
        event = end_event(self.latest())
        for viewer, (_, taken) in list(self._last_by_viewer.items()):
            if taken.done():
                viewer.send(event)
                viewer.end()
            else:
                viewer.drop()
        self._last_by_viewer.clear()

    def _send(self, viewer: Viewer, event: bytes) -> None:
        self._last_by_viewer[viewer] = self._clock(), viewer.send(event)
