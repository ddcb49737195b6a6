"""Legacy names of `tornado.ioloop` that `gencoro.ioloop.IOLoop` does not have."""

import asyncio
import contextlib
import functools
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop, BaseAsyncIOLoop

from gencoro.compat.calls.io_loop_arguments import running_loop_replaced
from gencoro.compat.calls.other_threads import is_elsewhere
from gencoro.compat.modules.pollers import LONGEST_S, PolledLoop
from gencoro.ioloop import IOLoop, MainLoop, program_loop

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
    "call_at",
    "clear_current",
    "current",
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
        if type(self) is AsyncIOMainLoop:
            _replace(IOLoop._ioloop_for_asyncio.get(asyncio_loop))
        original(self, asyncio_loop, **kwargs)
        self.__class__ = _LEGACY.get(type(self), type(self))

    return initialize


def _replace(former: Any) -> None:
    """Let ``AsyncIOMainLoop().install()`` follow a call of `IOLoop.current`.

    A program made the first loop by accident, for example by importing a module.
    """
    if former is not None and not (former.handlers or former.asyncio_loop.is_running()):
        del IOLoop._ioloop_for_asyncio[former.asyncio_loop]


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


def call_at(original: Callable[..., Any]) -> Callable[..., Any]:
    """Set a timeout of a loop that runs on another thread: the loop itself sets it."""

    @functools.wraps(original)
    def wrapper(
        self: BaseAsyncIOLoop,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        begin = functools.partial(original, self, when, callback, *args, **kwargs)
        return _SetElsewhere(self, begin) if is_elsewhere(self) else begin()

    return wrapper


class _SetElsewhere:
    """A timeout that another thread than the loop's has set.

    Args:
        begin: Called by the loop to set it; returns asyncio's handle.
    """

    def __init__(self, loop: BaseAsyncIOLoop, begin: Callable[[], Any]) -> None:
        self._loop = loop
        self._handle: Any = None
        self._call(lambda: setattr(self, "_handle", begin()))

    def cancel(self) -> None:
        """Remove it; `IOLoop.remove_timeout` calls this."""
        self._call(lambda: self._handle.cancel())

    def _call(self, function: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.asyncio_loop.call_soon_threadsafe(function)


def _current(instance: bool = True) -> IOLoop | None:
    """Return this thread's loop; on a thread that has none, the program's.

    So a worker thread can pass its result to the program, as until Tornado 4.
    """
    # Tornado knows a loop that runs here only after the first call, as in `asyncio.run`.
    is_running = asyncio._get_running_loop() is not None
    if is_running or threading.current_thread() is threading.main_thread():
        return IOLoop.current(instance)
    own = IOLoop.current(instance=False)
    return own or ((program_loop() or IOLoop.current()) if instance else None)


current = staticmethod(_current)


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


class _LegacyLoop(IOLoop):
    """A loop that can be run by a callback of another one, as until Tornado 4.

    The other one waits meanwhile.  Programs give a blocking interface to coroutines so.
    """

    def start(self) -> None:
        """Run the loop until ``stop``."""
        with self._inside_another():
            super().start()

    def run_sync(self, func: Callable[[], Any], timeout: float | None = None) -> Any:
        """Call a function, run the coroutine that it returns, and return the result."""
        with self._inside_another():
            return super().run_sync(func, timeout)

    def _finish_leftovers(self) -> None:
        """Cancel the requests that wait too, without a log entry for each."""
        for handler in _waiting_handlers(self):
            handler._log = lambda: None
        super()._finish_leftovers()

    def _inside_another(self) -> contextlib.AbstractContextManager[None]:
        running = asyncio._get_running_loop()
        if running is None or running is self.asyncio_loop:
            return contextlib.nullcontext()
        return running_loop_replaced()


def _waiting_handlers(loop: IOLoop) -> list[Any]:
    """Return the handlers of a loop that have not answered their requests."""
    web = sys.modules.get("tornado.web")
    if web is None:
        return []
    # Not isinstance(), which may run code of a proxy object.
    things = [x for x in gc.get_objects() if issubclass(type(x), web.RequestHandler)]
    return [
        handler
        for handler in things
        if not handler._finished and _loop_of(handler) is loop
    ]


def _loop_of(handler: Any) -> IOLoop | None:
    stream = getattr(handler.request.connection, "stream", None)
    return getattr(stream, "io_loop", None)


class PollIOLoop(_LegacyLoop):
    """The loop, with its former names; asyncio does the polling.

    Args:
        impl: The poller; None for asyncio's own selector.
        time_func: The loop's clock, in seconds; None for `time.time`.
    """

    _time_func: Callable[[], float] | None = None

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


class _LegacyMainLoop(PollIOLoop, MainLoop):
    """A loop of Tornado for an asyncio loop that the program has created."""


# What becomes of a loop of Tornado.
_LEGACY: dict[type, type] = {
    AsyncIOLoop: PollIOLoop,
    AsyncIOMainLoop: _LegacyMainLoop,
    BaseAsyncIOLoop: _LegacyMainLoop,
}
