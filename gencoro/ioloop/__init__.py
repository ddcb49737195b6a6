"""`IOLoop`: Tornado's event loop with a better `run_sync`; and `PeriodicCallback`.

Rule: an asyncio loop has exactly one IOLoop, whether gencoro or Tornado is asked for it.
Queues, locks, servers and clients of Tornado run on it unchanged.

This and `gencoro.virtual_clock` are the lowest modules that import Tornado.

Inside::

    run_sync    one call of run_sync, from start to outcome
    callbacks   how callbacks run, and what happens to their errors
    periodic    PeriodicCallback
    signals     wakes up a waiting loop when a signal arrives
    watchdog    reports a blocked loop
"""

import asyncio
import atexit
import builtins
import concurrent.futures.thread  # noqa: F401 (before we register at exit)
import logging
import os
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

from gencoro import needs_tornado  # noqa: F401

# isort: split
import tornado.ioloop
from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop

from gencoro import closing
from gencoro.deprecated import warn_legacy
from gencoro.futures import app_log
from gencoro.ioloop.callbacks import CallbackLoop
from gencoro.ioloop.periodic import PeriodicCallback
from gencoro.ioloop.run_sync import MainCall
from gencoro.ioloop.signals import woken_by_signals
from gencoro.ioloop.watchdog import Action, Watch
from gencoro.waiting import wall_time
from gencoro.yieldables import Waitable

__all__ = ["IOLoop", "PeriodicCallback"]

# Names of tornado.ioloop that programs use.
TimeoutError = builtins.TimeoutError
_Selectable = tornado.ioloop._Selectable

# Looked up once: compat may replace them with ours.
_tornado_configure = tornado.ioloop.IOLoop.configure
_tornado_current = tornado.ioloop.IOLoop.current

# Tornado's own registry of IOLoops by asyncio loop.  Private, but `IOLoop.current` is called
# for each timer, stream and client, and a lookup here is twice as fast as Tornado's function.
_by_asyncio_loop = tornado.ioloop.IOLoop._ioloop_for_asyncio

T = TypeVar("T")

gen_log = logging.getLogger("tornado.general")


class IOLoop(CallbackLoop):
    """Tornado's asyncio loop, with a `run_sync` that cancels, cleans up and explains.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def main():
    ...     yield gen.sleep(0.001)
    ...     return 42
    >>> loop = IOLoop(make_current=False)
    >>> loop.run_sync(main)
    42
    >>> loop.close()
    """

    # AsyncIOMainLoop, which `current` may adopt, has no such attribute of its own.
    is_current = False

    # Set by `set_blocking_signal_threshold`.
    _watch: Watch | None = None

    @overload
    @staticmethod
    def current() -> "IOLoop": ...

    @overload
    @staticmethod
    def current(instance: bool = True) -> "IOLoop | None": ...

    @staticmethod
    def current(instance: bool = True) -> "IOLoop | None":
        """Return the running loop of this thread, or the one made current.

        If there is none, create one, or return None if ``instance`` is false.  It is the
        same object that ``tornado.ioloop.IOLoop.current()`` returns.
        """
        # The public function raises if there is none, which takes ten times as long.
        running = asyncio._get_running_loop()
        if running is not None:
            known = _by_asyncio_loop.get(running)
            if isinstance(known, IOLoop):
                return known
            loop = _tornado_current(instance)
        else:
            loop = _current_at_rest(instance)
        if loop is not None:
            adopt(loop)
        return cast("IOLoop | None", loop)

    @classmethod
    def configure(cls, impl: Any, **kwargs: Any) -> None:
        """Like Tornado's: every loop is an asyncio loop, and no other can be chosen.

        Raises:
            RuntimeError: impl is not an asyncio loop.
        """
        _tornado_configure(impl, **kwargs)

    @staticmethod
    def instance() -> "IOLoop":
        """Return the loop of this thread, or else the loop of the program.

        So a worker thread gets the loop for its ``add_callback``, as it did until Tornado
        4.  The loop of the program is the installed one, or the one last started on the
        main thread, or that thread's first one.  If another thread asks before there is
        any, it is created, and becomes the main thread's.
        """
        warn_legacy("IOLoop.instance()", "use IOLoop.current()")
        own = IOLoop.current(instance=False)
        return own or _program.loop() or _program.create()

    @staticmethod
    def initialized() -> bool:
        """Return True if the program has a loop for `instance` to return."""
        warn_legacy("IOLoop.initialized()", "use IOLoop.current(instance=False)")
        return _program.loop() is not None

    def install(self) -> None:
        """Make this the loop of the program, and the current loop.

        Raises:
            RuntimeError: another loop is installed, and is not closed.
        """
        warn_legacy(
            "IOLoop.install()", "leave it out: IOLoop.current() is the running loop"
        )
        installed = _program.installed
        if installed not in (None, self) and not installed.asyncio_loop.is_closed():
            raise RuntimeError(
                f"{installed!r} is installed already; call IOLoop.clear_instance() first"
            )
        _program.installed = self
        asyncio.set_event_loop(self.asyncio_loop)

    @staticmethod
    def clear_instance() -> None:
        """Forget the loop of the program."""
        warn_legacy(
            "IOLoop.clear_instance()", "leave it out: a closed loop is forgotten"
        )
        _program.installed = _program.started = None

    def start(self) -> None:
        """Run the loop until ``stop``."""
        if threading.current_thread() is not threading.main_thread():
            super().start()
            return
        outer, _program.started = _program.started, self
        try:
            with woken_by_signals(self.asyncio_loop):
                self._start_watched()
        finally:
            if outer is not None and outer.asyncio_loop.is_running():
                _program.started = outer  # one of its callbacks has run this one

    def _start_watched(self) -> None:
        if self._watch is None:
            super().start()
            return
        self._watch.begin()
        try:
            super().start()
        finally:
            if self._watch is not None:  # a callback may have ended it
                self._watch.end()

    def set_blocking_signal_threshold(
        self, seconds: float | None, action: Action
    ) -> None:
        """Run an action when the loop has been blocked for ``seconds``.

        Args:
            seconds: The threshold; None turns the watchdog off.
            action: A function, called with the number of the signal and the running
                frame; ``signal.SIG_DFL`` or None ends the process; ``signal.SIG_IGN`` has
                no effect.

        Raises:
            RuntimeError: not called on the main thread, or the system has no timer signals.
            ValueError: seconds is not a positive finite number.
        """
        new = None if seconds is None else Watch(self.asyncio_loop, seconds, action)
        if self._watch is not None:
            self._watch.end()
        self._watch = new
        if new is not None and self.asyncio_loop.is_running():
            new.begin()

    def set_blocking_log_threshold(self, seconds: float | None) -> None:
        """Log the stack of the loop when it has been blocked for ``seconds``."""
        self.set_blocking_signal_threshold(seconds, self.log_stack)

    def log_stack(self, signal: int, frame: types.FrameType | None) -> None:
        """Log the stack of the blocked loop; used by `set_blocking_log_threshold`."""
        gen_log.warning(
            "IOLoop blocked for %f seconds in\n%s",
            self._watch.seconds if self._watch is not None else 0.0,
            "".join(traceback.format_stack(frame)),
        )

    def time(self) -> float:
        """Return the time of `time.time`, or the virtual time of the asyncio loop."""
        return wall_time(self.asyncio_loop)

    @overload
    def run_sync(
        self, func: Callable[[], Waitable[T]], timeout: float | None = None
    ) -> T: ...

    @overload
    def run_sync(
        self, func: Callable[[], Any], timeout: float | None = None
    ) -> Any: ...

    def run_sync(self, func: Callable[[], Any], timeout: float | None = None) -> Any:
        """Call a function, run the coroutine that it returns, and return the result.

        Ctrl-C and a timeout cancel the coroutine and wait for it to clean up; a second
        Ctrl-C does not wait.  It can be called repeatedly, on any thread that does not run
        a loop, while this loop is not running.

        Args:
            func: Called with the loop running; returns a yieldable or None.
            timeout: Limit for the whole call, in seconds.

        Raises:
            TimeoutError: the limit was exceeded; the traceback leads to the ``yield`` where
                the coroutine was stuck, and the text says if it did not end even then.
            KeyboardInterrupt: Ctrl-C was pressed, and the coroutine ended as cancelled.
            BadYieldError: the result of the function cannot be waited for.
            RuntimeError: a loop is already running in this thread, this one is closed or
                running, or it was stopped before the coroutine had ended.
            TypeError: func is not a function, or timeout is not a number.
        """
        running = asyncio._get_running_loop()
        # nest_asyncio, which notebooks use, makes a loop run inside itself.
        if running is not None and not hasattr(self.asyncio_loop, "_nest_patched"):
            raise RuntimeError(
                f"run_sync({func!r}) was called inside a running event loop, which "
                "cannot run another; in a coroutine, yield (or await) what the function "
                "returns instead"
            )
        if self.asyncio_loop.is_closed() or (
            self.asyncio_loop.is_running() and self.asyncio_loop is not running
        ):
            state = "closed" if self.asyncio_loop.is_closed() else "running elsewhere"
            raise RuntimeError(
                f"run_sync({func!r}) was called on a loop that is {state}"
            )
        if not callable(func):
            raise TypeError(
                f"run_sync({func!r}) takes a function; write run_sync(main) in place of "
                "run_sync(main()), and run_sync(lambda: main(...)) if it has arguments"
            )
        if not isinstance(timeout, (int, float, type(None))):
            raise TypeError(f"run_sync(timeout={timeout!r}): give a number of seconds")
        _used[self] = threading.current_thread()
        main = MainCall(self, func)
        with main.interrupted_by_ctrl_c():
            if timeout is not None:
                main.call_later(timeout, main.time_out)
            self.asyncio_loop.call_soon(main.start)
            try:
                self.start()
            except (KeyboardInterrupt, SystemExit):
                if main.interrupts > 1:  # do not wait at exit either
                    _used.pop(self, None)
                else:
                    main.clean_up()
                raise
            finally:
                main.close()
        return main.outcome(timeout).result()

    def close(self, all_fds: bool = False) -> None:
        """Close the loop after ending what is left on it.

        Suspended coroutines and Tasks are cancelled and may clean up; then asynchronous
        generators are closed, then the default executor.
        Each of these steps takes at most 5 seconds.  Inside another running loop close()
        cannot wait, and suspended coroutines are abandoned.  Closing it again has no effect.

        Raises:
            RuntimeError: the loop is running.
        """
        if self.asyncio_loop.is_running():
            raise RuntimeError("close() was called on a running loop; stop() it first")
        is_at_rest = asyncio._get_running_loop() is None
        if is_at_rest and self.is_current:
            # Otherwise Tornado would replace the current loop with the previous one.
            self.is_current = IOLoop.current(instance=False) is self
        try:
            if is_at_rest and not self.asyncio_loop.is_closed():
                self._finish_leftovers()
        finally:
            # Tornado deletes it from there, also if it has done so before: without the entry,
            # closing twice would be a KeyError.
            _by_asyncio_loop.setdefault(self.asyncio_loop, self)
            super().close(all_fds)
            _program.forget(self)

    def _finish_leftovers(self) -> None:
        """End what is left on the loop, which is closed then or at the end of the script."""
        closing.finish_leftovers(self.asyncio_loop)


class MainLoop(IOLoop, AsyncIOMainLoop):
    """An IOLoop for an asyncio loop that the program created, and will close.

    `tornado.testing` decides by the class which loops to close.
    """


def adopt(loop: tornado.ioloop.IOLoop) -> None:
    """Turn a loop of Tornado into an `IOLoop` of gencoro.

    Code may hold references to it already, so the object stays the same and its class
    changes.  Subclasses defined elsewhere are left alone.
    """
    if type(loop) is AsyncIOLoop:
        loop.__class__ = IOLoop
    elif type(loop) is AsyncIOMainLoop:
        loop.__class__ = MainLoop


def _current_at_rest(instance: bool) -> IOLoop | None:
    """Return the current loop of a thread that runs none."""
    if threading.current_thread() is not threading.main_thread():
        return _current_or_created(instance)
    _program.claim()
    loop = _current_or_created(instance)
    if loop is not None and _program.loop() is None:
        _program.started = loop
    return loop


def _current_or_created(instance: bool) -> IOLoop | None:
    if sys.version_info < (3, 12):
        return cast("IOLoop | None", _tornado_current(instance))
    with warnings.catch_warnings():
        # Python 3.12 and 3.13 warn that a loop is created, as intended here.
        warnings.filterwarnings("ignore", "There is no current event loop")
        return cast("IOLoop | None", _tornado_current(instance))


def program_loop() -> IOLoop | None:
    """Return the loop that `IOLoop.instance` returns on threads without a loop."""
    return _program.loop()


class _Program:
    """The loops for threads without a loop of their own, and for the main thread.

    Attributes:
        installed: The installed loop.
        started: The loop last started on the main thread, or that thread's first one.
        unclaimed: The loop that another thread created for the main thread.
    """

    installed: IOLoop | None = None
    started: IOLoop | None = None
    unclaimed: IOLoop | None = None

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def create(self) -> IOLoop:
        """Create the loop, on any thread, unless another thread has just done so."""
        with self._lock:
            loop = self.loop()
            if loop is None:
                loop = self.started = IOLoop.current()
                if threading.current_thread() is not threading.main_thread():
                    self.unclaimed = loop
            return loop

    def claim(self) -> None:
        """Make the loop that another thread created the main thread's current one.

        A loop that the other thread runs stays that thread's, and so does a loop that the
        main thread has.
        """
        loop, self.unclaimed = self.unclaimed, None
        if loop is None or loop is not self.loop() or loop.asyncio_loop.is_running():
            return
        if _current_or_created(False) is None:
            asyncio.set_event_loop(loop.asyncio_loop)

    def loop(self) -> IOLoop | None:
        for loop in (self.installed, self.started):
            # The asyncio loop may be closed directly.
            if loop is not None and not loop.asyncio_loop.is_closed():
                return loop
        return None

    def forget(self, loop: IOLoop) -> None:
        if self.installed is loop:
            self.installed = None
        if self.started is loop:
            self.started = None


_program = _Program()

# The loops that run_sync has used, each with the thread that last did so.
_used: "weakref.WeakKeyDictionary[IOLoop, threading.Thread]"
_used = weakref.WeakKeyDictionary()


def _finish_at_exit() -> None:
    """End what scripts left on their loops, without closing them: atexit may use them."""
    for loop, thread in list(_used.items()):
        asyncio_loop = loop.asyncio_loop
        is_idle = thread is threading.current_thread() or not thread.is_alive()
        if not is_idle or asyncio_loop.is_running() or asyncio_loop.is_closed():
            continue
        try:
            loop._finish_leftovers()
        except KeyboardInterrupt:  # the user does not want to wait
            return
        except BaseException:  # must not keep Python from waiting for other threads
            app_log.exception("What was left on %r could not be ended", loop)


# Runs before Python waits for the threads of executors, which cleaning up may need.  That
# is earlier than atexit, and in reverse order: concurrent.futures.thread, imported above,
# runs after us.  The name is private; without it we use atexit.
getattr(threading, "_register_atexit", atexit.register)(_finish_at_exit)


def _leave_to_parent() -> None:
    """Forget the loops inherited by a fork."""
    _used.clear()
    _program.installed = _program.started = None


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_leave_to_parent)
