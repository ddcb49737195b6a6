"""Turns of long work on the event loop: after one, the other URLs have theirs.

turn = Turn()
for link in links:
    ...
    if turn.is_over():
        yield gen.moment
        turn = Turn()
"""

import time

__all__ = ["Turn"]

TURN_S = 0.01


class Turn:
    """Tells when the event loop should have its turn."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + TURN_S

    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at
