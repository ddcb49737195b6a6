"""An event loop: the one of stages 3, 4 and 5.

With it, a program can wait for many sockets in one thread.
"""

import heapq
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any

__all__ = ["Loop", "Timer"]


class Loop:
    """Calls functions back: soon, when a socket is ready, or when their time has come."""

    def __init__(self) -> None:
        self._ready: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._selector = selectors.DefaultSelector()
        self._timers: list[Timer] = []
        self._is_running = True

    def call_soon(self, callback: Callable[..., Any], *args: Any) -> None:
        """Call a function in this turn of the loop, or in the next if it is under way."""
        self._ready.append((callback, args))

    def call_later(self, delay: float, callback: Callable[[], Any]) -> "Timer":
        """Call a function after a delay in seconds, unless the timer is cancelled."""
        timer = Timer(time.monotonic() + delay, callback)
        heapq.heappush(self._timers, timer)
        return timer

    def when_ready(
        self, sock: socket.socket, event: int, callback: Callable[[], Any]
    ) -> None:
        """Call a function each time that a socket is ready, until `forget`."""
        self._selector.register(sock, event, callback)

    def forget(self, sock: socket.socket) -> None:
        self._selector.unregister(sock)

    def run(self) -> None:
        """Call back until `stop` is called."""
        while self._is_running:
            for key, _event in self._selector.select(self._time_left()):
                key.data()
            while self._timers and self._timers[0].when <= time.monotonic():
                heapq.heappop(self._timers).callback()
            # Those that are added meanwhile wait for the next turn, after the sockets.
            for _ in range(len(self._ready)):
                callback, args = self._ready.popleft()
                callback(*args)
        self._selector.close()

    def stop(self) -> None:
        self._is_running = False

    def _time_left(self) -> float | None:
        """Return how long to wait for a socket; None for as long as it takes."""
        if self._ready:
            return 0.0
        if self._timers:
            return max(0.0, self._timers[0].when - time.monotonic())
        if not self._selector.get_map():
            raise RuntimeError("nothing is left that could ever call back")
        return None


class Timer:
    """A callback and its time."""

    def __init__(self, when: float, callback: Callable[[], Any]) -> None:
        self.when, self.callback = when, callback

    def __lt__(self, other: "Timer") -> bool:
        return self.when < other.when

    def cancel(self) -> None:
        # The timer stays in the heap, but keeps nothing else alive.
        self.callback = lambda: None
