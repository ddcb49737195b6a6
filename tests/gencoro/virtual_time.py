"""An asyncio loop without a clock: an hour's sleep takes no time at all.

Virtual time stands still while anything can run, and jumps to the next timer when
nothing can.  Timers that are due at one moment fire in the order of their making.
"""

import asyncio
import heapq
import itertools
from typing import Any

__all__ = ["Idle", "VirtualLoop"]


class Idle(Exception):
    """Nothing can run, and no timer is left that could change this."""


class _Timer(asyncio.TimerHandle):
    # asyncio leaves the order of timers of one moment to its heap.
    _numbers = itertools.count()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.place = (self._when, next(self._numbers))

    def __lt__(self, other: "_Timer") -> bool:
        return self.place < other.place


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs until it is stopped, or raises `Idle` where others would wait for ever."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def call_at(self, when, callback, *args, context=None):
        self._check_closed()
        timer = _Timer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True
        return timer

    def _run_once(self) -> None:
        # A timer that was taken back is no moment in time.
        while self._scheduled and self._scheduled[0]._cancelled:
            self._timer_cancelled_count -= 1
            heapq.heappop(self._scheduled)._scheduled = False
        if not self._ready and not self._stopping:
            if not self._scheduled:
                raise Idle("every coroutine waits, and nothing will ever happen")
            self._now = max(self._now, self._scheduled[0]._when)
        super()._run_once()
