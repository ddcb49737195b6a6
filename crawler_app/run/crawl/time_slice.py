"""Time slices of long work on the event loop: after each, the other URLs have their turn.

time_slice = TimeSlice()
for link in links:
    ...
    if time_slice.is_over():
        yield gen.moment
        time_slice = TimeSlice()
"""

import time

__all__ = ["TimeSlice"]

SLICE_S = 0.01


class TimeSlice:
    """Tells when the event loop should have its turn."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + SLICE_S

    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at
