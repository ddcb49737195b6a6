"""Sends the samples of a crawl to all connected browsers.

Rule: nothing waits for a browser, and nothing is buffered for one.  A browser that has
not received the last sample is skipped until then; one that stalls is disconnected.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from crawler_app.run.crawl.monitor import Monitor, Sample
from crawler_app.show.dashboard.events import (
    Ending,
    begin_event,
    end_event,
    sample_event,
)
from gencoro.concurrent import Future

__all__ = ["Feed", "Viewer"]

# The cost of each is that of sending its samples.
MAX_VIEWERS = 20

# How long a browser may stall; longer than a short outage of its network.
PATIENCE_S = 30.0


class Viewer(Protocol):
    """A connected browser."""

    def send(self, event: bytes) -> "Future[None]":
        """Send an event; the Future is done when all of it is in the socket's buffer."""

    def end(self) -> None:
        """End the stream of events."""

    def drop(self) -> None:
        """Close the connection; unsent events are lost."""


class Feed:
    """Sends the samples of a monitor to viewers.

    Args:
        can_search: Whether there is an index to search.
        clock: Returns the current time in seconds.

    Attributes:
        is_full: Whether the maximum number of viewers is reached.
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
        # When each was sent its last event, and the Future of that.
        self._last_by_viewer: dict[Viewer, tuple[float, Future[None]]] = {}
        self._end_event = b""
        monitor.listen(self.publish)

    def __len__(self) -> int:
        """Return the number of viewers."""
        return len(self._last_by_viewer)

    @property
    def is_full(self) -> bool:
        return len(self) >= MAX_VIEWERS

    def latest(self) -> Sample:
        """Return the latest sample; takes the first one if there is none."""
        history = self._monitor.history
        return history[-1] if history else self._monitor.look()

    @contextlib.contextmanager
    def joined(self, viewer: Viewer) -> Iterator[None]:
        """Send a viewer the history, and new samples while this is entered.

        After the end it gets the history and the end.
        """
        latest = self.latest()
        seeds, history = self._monitor.crawl.config.seeds, self._monitor.history
        event = begin_event(seeds, history, latest, can_search=self._can_search)
        self._send(viewer, event)
        if self._end_event:
            self._send(viewer, self._end_event)
            viewer.end()
        try:
            yield
        finally:
            self._last_by_viewer.pop(viewer, None)

    def publish(self, sample: Sample) -> None:
        """Send a sample to all viewers that have received the one before."""
        if not self._last_by_viewer:
            return
        event = sample_event(sample)
        for viewer, (sent_at, taken) in list(self._last_by_viewer.items()):
            if taken.done():
                self._send(viewer, event)
            elif self._clock() - sent_at > PATIENCE_S:
                del self._last_by_viewer[viewer]
                viewer.drop()

    def end(self, ending: Ending) -> None:
        """Send the last sample and the ending to all viewers, and end their streams."""
        # Without a sample the crawl has failed at its start, and nothing can be read of it.
        if self._end_event or not self._monitor.history:
            return
        event = self._end_event = end_event(self.latest(), ending)
        for viewer, (_, taken) in list(self._last_by_viewer.items()):
            if taken.done():
                viewer.send(event)
                viewer.end()
            else:
                viewer.drop()
        self._last_by_viewer.clear()

    def _send(self, viewer: Viewer, event: bytes) -> None:
        self._last_by_viewer[viewer] = self._clock(), viewer.send(event)
