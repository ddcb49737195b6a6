"""Private attributes of Tornado 4's loop, which recipes for shutting down read.

Rule: they are computed from asyncio's loop, and what they return is a copy.
"""

import types
from typing import Any

from gencoro.compat.calls.default_attributes import ByDefault
from gencoro.ioloop import IOLoop

__all__ = [
    "blocking_signal_threshold",
    "callbacks",
    "cancellations",
    "closing",
    "events",
    "handlers",
    "running",
    "stopped",
    "thread_ident",
    "time_func",
    "timeouts",
    "waker",
]


def _active(loop: IOLoop, name: str) -> list[Any]:
    # A loop in C, such as uvloop's, keeps them to itself.
    handles = list(getattr(loop.asyncio_loop, name, ()))
    return [handle for handle in handles if not handle.cancelled()]


# What the loop has to call, now and later.
callbacks = ByDefault(lambda loop: _active(loop, "_ready"))
timeouts = ByDefault(lambda loop: _active(loop, "_scheduled"))

# How many timeouts have been cancelled, and are still stored.
cancellations = ByDefault(
    lambda loop: getattr(loop.asyncio_loop, "_timer_cancelled_count", 0)
)

# The (file, handler) pairs by file descriptor; and events that wait for their handlers, of
# which asyncio stores none.
handlers = ByDefault(lambda loop: dict(loop.handlers))
events = ByDefault(lambda loop: {})

# As in Tornado, it is false from the call of stop() on.
running = ByDefault(
    lambda loop: loop.asyncio_loop.is_running() and not loop._is_stopped
)
closing = ByDefault(lambda loop: loop.asyncio_loop.is_closed())
thread_ident = ByDefault(lambda loop: getattr(loop.asyncio_loop, "_thread_id", None))

blocking_signal_threshold = ByDefault(
    lambda loop: None if loop._watch is None else loop._watch.seconds
)
time_func = ByDefault(lambda loop: loop.time)

# Its method makes a waiting loop go on, and may be called on any thread.
waker = ByDefault(
    lambda loop: types.SimpleNamespace(wake=lambda: loop.add_callback(bool))
)


def _is_stopped(self: IOLoop) -> bool:
    return self._is_stopped


def _set_stopped(self: IOLoop, stopped: bool) -> None:
    if stopped:
        self.stop()
    else:  # take back a stop() that has not taken effect
        self._is_stopped = self.asyncio_loop._stopping = False  # type: ignore[attr-defined]


# Whether stop() has been called since the last run; programs set it too.
stopped = property(_is_stopped, _set_stopped)
