"""Legacy names of `tornado.ioloop` that `gencoro.ioloop.IOLoop` does not have."""

import functools
import threading
from collections.abc import Callable
from typing import Any

from tornado.platform.asyncio import BaseAsyncIOLoop

from gencoro.compat.tornado_.pollers import LONGEST_S, PolledLoop
from gencoro.ioloop import IOLoop, adopt, program_loop

__all__ = [
    "EPOLLERR",
    "EPOLLET",
    "EPOLLHUP",
    "EPOLLIN",
    "EPOLLONESHOT",
    "EPOLLOUT",
    "EPOLLPRI",
    "EPOLLRDHUP",
    "POLL_TIMEOUT",
    "PollIOLoop",
    "clear_current",
    "instance",
    "make_current",
    "making_ours",
    "running",
]

# Linux's, whatever the system: Tornado gave them to its own pollers only.
EPOLLIN = 0x001
EPOLLPRI = 0x002
EPOLLOUT = 0x004
EPOLLERR = 0x008
EPOLLHUP = 0x010
EPOLLRDHUP = 0x2000
EPOLLONESHOT = 1 << 30
EPOLLET = 1 << 31

# Seconds that a loop with nothing to do slept.  asyncio sleeps for as long as it may.
POLL_TIMEOUT = LONGEST_S


def making_ours(original: Callable[..., None]) -> Callable[..., None]:
    """Have each loop that Tornado makes be one of ours from the start."""

    @functools.wraps(original)
    def initialize(self: BaseAsyncIOLoop, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        adopt(self)

    return initialize


def _instance() -> IOLoop:
    """Return the program's loop on any thread but the main one, as it was until Tornado 4.

    Threads that have loops of their own count on it: its ``add_callback`` brings a result
    to the program.
    """
    if threading.current_thread() is not threading.main_thread():
        return program_loop() or IOLoop.instance()
    return IOLoop.instance()


instance = staticmethod(_instance)


def make_current(self: IOLoop) -> None:
    """Make the loop that of this thread; today's Tornado warns of it."""
    self._make_current()


def _clear_current() -> None:
    """Have no loop on this thread; today's Tornado warns of it."""
    IOLoop._clear_current()


clear_current = staticmethod(_clear_current)


def running(self: IOLoop) -> bool:
    """Return whether the loop runs."""
    return self.asyncio_loop.is_running()


class PollIOLoop(IOLoop):
    """The loop by any of its former names; it is asyncio that polls.

    Args:
        impl: What is asked which files are ready; None for whatever asyncio uses.
        time_func: The loop's clock, in seconds; None for `time.time`.
    """

    def initialize(  # type: ignore[override]
        self,
        impl: Any = None,
        time_func: Callable[[], float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Be a loop of asyncio."""
        if impl is not None:
            kwargs["asyncio_loop"] = PolledLoop(impl, time_func)
        self._time_func = time_func
        super().initialize(**kwargs)

    def time(self) -> float:
        """Return the time, of whatever clock was given."""
        return super().time() if self._time_func is None else self._time_func()
