"""Time slices for long work on the event loop, so that other URLs get their turn::

time_slice = TimeSlice()
for link in links:
    ...
    if time_slice.is_over():
        yield gen.moment
        time_slice = TimeSlice()
"""

import time

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
