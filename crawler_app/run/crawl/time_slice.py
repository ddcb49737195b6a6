"""Time slices for long work on the event loop, so that other URLs get their turn::

time_slice = TimeSlice()
for link in links:
    ...
    yield from time_slice.rest()
"""

import time

from crawler_app.base.subgenerator import Subgenerator
from gencoro import gen

__all__ = ["TimeSlice"]

# A turn of the loop costs some microseconds, so shorter slices would only cost more; a longer one
# would show in the response times of all other URLs.
SLICE_S = 0.01


class TimeSlice:
    """Says when to yield to the event loop."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + SLICE_S

    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at

    def rest(self) -> Subgenerator[None]:
        """Let the other URLs have their turn if the slice is over; then the next one begins."""
        if self.is_over():
            yield gen.moment
            self._ends_at = time.perf_counter() + SLICE_S
