"""Legacy names of `tornado.ioloop` that `gencoro.ioloop.IOLoop` does not have."""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

from tornado.platform.asyncio import AsyncIOMainLoop, BaseAsyncIOLoop

from gencoro.compat.modules.pollers import LONGEST_S, PolledLoop
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
    "make_base_current",
    "make_current",
    "making_ours",
    "running",
]

# The values of Linux on every system: Tornado passed them only to its own pollers.
EPOLLIN = 0x001
EPOLLPRI = 0x002
EPOLLOUT = 0x004
EPOLLERR = 0x008
EPOLLHUP = 0x010
EPOLLRDHUP = 0x2000
EPOLLONESHOT = 1 << 30
EPOLLET = 1 << 31

# The longest sleep of an idle loop, in seconds.  asyncio has no such limit.
POLL_TIMEOUT = LONGEST_S


def making_ours(original: Callable[..., None]) -> Callable[..., None]:
    """Make each loop that Tornado creates a gencoro IOLoop from the start.

    A legacy one becomes current only if there is no current loop.  Also accepts
    ``BaseAsyncIOLoop(asyncio_loop, close_loop)``; closing it always closes the asyncio loop,
    as in Tornado 5.
    """

    @functools.wraps(original)
    def initialize(
        self: BaseAsyncIOLoop,
        asyncio_loop: Any,
        close_loop: bool = False,
        **kwargs: Any,
    ) -> None:
        del close_loop
        # `gencoro.ioloop.IOLoop` itself is not legacy.
        if not isinstance(self, IOLoop) or isinstance(self, PollIOLoop):
            kwargs["make_current"] = _becomes_current(kwargs.get("make_current"))
        original(self, asyncio_loop, **kwargs)
        if type(self) is BaseAsyncIOLoop:
            self.__class__ = AsyncIOMainLoop
        adopt(self)

    return initialize


def _becomes_current(make_current: bool | None) -> bool:
    """Return True if a new loop is to become the current one.

    Raises:
        RuntimeError: it must, and there is a current loop.
    """
    if make_current is not None and not make_current:
        return False
    current = IOLoop.current(instance=False)
    if make_current and current is not None:
        raise RuntimeError(
            f"IOLoop(make_current=True) was called beside {current!r}, which is current; "
            "leave the argument out, or call make_current() of the new loop"
        )
    return current is None


def make_base_current(self: BaseAsyncIOLoop) -> None:
    """Make a loop of the base class, or of a program's subclass, the current one."""
    asyncio.set_event_loop(self.asyncio_loop)


def _instance() -> IOLoop:
    """Return the program's loop on any thread except the main one, as in Tornado 4.

    Threads with their own loops rely on it: they pass results to the program through its
    ``add_callback``.
    """
    if threading.current_thread() is not threading.main_thread():
        return program_loop() or IOLoop.instance()
    return IOLoop.instance()


instance = staticmethod(_instance)


def make_current(self: IOLoop) -> None:
    """Make this the current loop of the thread, without Tornado's warning."""
    self._make_current()


def _clear_current() -> None:
    """Unset the current loop of the thread, without Tornado's warning."""
    IOLoop._clear_current()


clear_current = staticmethod(_clear_current)


def running(self: IOLoop) -> bool:
    """Return True if the loop is running."""
    return self.asyncio_loop.is_running()


class PollIOLoop(IOLoop):
    """The loop under its former names; asyncio does the polling.

    Args:
        impl: The poller; None for asyncio's own selector.
        time_func: The loop's clock, in seconds; None for `time.time`.
    """

    def initialize(  # type: ignore[override]
        self,
        impl: Any = None,
        time_func: Callable[[], float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the asyncio loop, with the poller if there is one."""
        self._time_func = time_func
        if impl is None:
            super().initialize(**kwargs)
            return
        loop = PolledLoop(impl, time_func)
        try:
            super().initialize(asyncio_loop=loop, **kwargs)
        except RuntimeError:  # there is a current loop
            loop.close()
            raise

    def time(self) -> float:
        """Return the time of the loop's clock."""
        return super().time() if self._time_func is None else self._time_func()
