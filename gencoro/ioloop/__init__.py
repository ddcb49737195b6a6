"""The loop that scripts run on: Tornado's own, with a better `run_sync`.

Rule: one asyncio loop has one IOLoop, whichever package is asked for it.  Queues,
locks, servers and clients of Tornado run on it unchanged.

This is the first module that imports Tornado.
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
from typing import Any, cast, overload

import tornado.ioloop
from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop

from gencoro.deprecated import warn_legacy
from gencoro.futures import app_log
from gencoro.introspect.on_signal import woken_by_signals
from gencoro.ioloop import run_sync
from gencoro.ioloop.callbacks import CallbackLoop
from gencoro.ioloop.closing import finish_leftovers
from gencoro.ioloop.periodic import PeriodicCallback
from gencoro.ioloop.run_sync import MainCall
from gencoro.ioloop.watchdog import Action, Watch
from gencoro.waiting import wall_time
from gencoro.yieldables import held_tasks

__all__ = ["IOLoop", "PeriodicCallback"]

# Names that code written for tornado.ioloop finds there.
TimeoutError = builtins.TimeoutError
_Selectable = tornado.ioloop._Selectable

# Looked up once: compat may put our IOLoop in the place of Tornado's.
_tornado_configure = tornado.ioloop.IOLoop.configure
_tornado_current = tornado.ioloop.IOLoop.current

# Tornado's own; to look it up here is twice as quick as to ask.
_by_asyncio_loop = tornado.ioloop.IOLoop._ioloop_for_asyncio

gen_log = logging.getLogger("tornado.general")


class IOLoop(CallbackLoop):
    """Tornado's asyncio loop, whose `run_sync` cancels, cleans up and explains.

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

    # Set when somebody wants to know what blocks the loop.
    _watch: Watch | None = None

    @overload
    @staticmethod
    def current() -> "IOLoop": ...

    @overload
    @staticmethod
    def current(instance: bool = True) -> "IOLoop | None": ...

    @staticmethod
    def current(instance: bool = True) -> "IOLoop | None":
        """Return the loop of this thread: the running one, or the one made current.

        If there is none, make one, or return None where ``instance`` is false.  It is
        the same object that ``tornado.ioloop.IOLoop.current()`` returns.
        """
        running = asyncio._get_running_loop()
        if running is not None:
            known = _by_asyncio_loop.get(running)
            if isinstance(known, IOLoop):
                return known
        if running is not None or sys.version_info < (3, 12):
            loop = _tornado_current(instance)
        else:
            with warnings.catch_warnings():
                # Python 3.12 and 3.13 warn that a loop is made, which is the point.
                warnings.filterwarnings("ignore", "There is no current event loop")
                loop = _tornado_current(instance)
        if loop is not None:
            adopt(loop)
        return cast("IOLoop | None", loop)

    @classmethod
    def configure(cls, impl: Any, **kwargs: Any) -> None:
        """Do as Tornado does: all loops are asyncio's, and nothing else can be chosen.

        Raises:
            RuntimeError: another loop than one of asyncio's was chosen.
        """
        _tornado_configure(impl, **kwargs)

    @staticmethod
    def instance() -> "IOLoop":
        """Return the loop of this thread; on one without, that of the program.

        So a worker thread finds the loop whose ``add_callback`` it wants, as it did until
        Tornado 4.  The loop of the program is the one that was installed, or that
        the main thread has started last, or the first that this function has made.
        """
        warn_legacy("IOLoop.instance()", "use IOLoop.current()")
        own = IOLoop.current(instance=False)
        if _program.loop() is None:
            own = _program.started = own or IOLoop.current()
        return own or cast(IOLoop, _program.loop())

    @staticmethod
    def initialized() -> bool:
        """Return whether the program has a loop that `instance` would return."""
        warn_legacy("IOLoop.initialized()", "use IOLoop.current(instance=False)")
        return _program.loop() is not None

    def install(self) -> None:
        """Make this the loop of the program, and the current one.

        Raises:
            RuntimeError: the program has another one, which is not closed.
        """
        warn_legacy(
            "IOLoop.install()", "leave it out: IOLoop.current() is the loop that runs"
        )
        installed = _program.installed
        if installed not in (None, self) and not installed.asyncio_loop.is_closed():
            raise RuntimeError(
                f"{installed!r} is installed already; IOLoop.clear_instance() ends that"
            )
        _program.installed = self
        asyncio.set_event_loop(self.asyncio_loop)

    @staticmethod
    def clear_instance() -> None:
        """Have no loop of the program any more."""
        warn_legacy(
            "IOLoop.clear_instance()", "leave it out: a closed loop is forgotten"
        )
        _program.installed = _program.started = None

    def start(self) -> None:
        """Run the loop until ``stop``."""
        if threading.current_thread() is not threading.main_thread():
            super().start()
            return
        _program.started = self
        with woken_by_signals(self.asyncio_loop):
            self._start_watched()

    def _start_watched(self) -> None:
        if self._watch is None:
            super().start()
            return
        self._watch.begin()
        try:
            super().start()
        finally:
            if self._watch is not None:  # nobody has ended it meanwhile
                self._watch.end()

    def set_blocking_signal_threshold(
        self, seconds: float | None, action: Action
    ) -> None:
        """Have a signal sent when the loop has been blocked for so many seconds.

        Args:
            seconds: None ends it.
            action: See `gencoro.ioloop.watchdog.Watch`, which this makes.

        Raises:
            RuntimeError: called on another thread than the main one, or where the system
                has no timer signals.
            ValueError: seconds is not positive, or not finite.
        """
        new = None if seconds is None else Watch(self.asyncio_loop, seconds, action)
        if self._watch is not None:
            self._watch.end()
        self._watch = new
        if new is not None and self.asyncio_loop.is_running():
            new.begin()

    def set_blocking_log_threshold(self, seconds: float | None) -> None:
        """Log where the loop is when it has been blocked for so many seconds."""
        self.set_blocking_signal_threshold(seconds, self.log_stack)

    def log_stack(self, signal: int, frame: types.FrameType | None) -> None:
        """Log where the loop is blocked; the action of `set_blocking_log_threshold`."""
        gen_log.warning(
            "IOLoop blocked for %f seconds in\n%s",
            self._watch.seconds if self._watch is not None else 0.0,
            "".join(traceback.format_stack(frame)),
        )

    def time(self) -> float:
        """Return the time of `time.time`, or of the loop below if that is virtual."""
        return wall_time(self.asyncio_loop)

    def run_sync(self, func: Callable[[], Any], timeout: float | None = None) -> Any:
        """Run a function and the coroutine it returns; return the coroutine's result.

        Ctrl-C and a time-out cancel the coroutine and wait for it to clean up; a second
        Ctrl-C does not wait.  Can be called again and again, on any thread that does
        not run a loop, as long as nobody else runs this one.

        Args:
            func: Called with the loop running; returns a yieldable or None.
            timeout: Longest time for all of it, in seconds.

        Raises:
            TimeoutError: the time was over; the traceback leads to the ``yield`` where the
                coroutine was stuck, and the text says if it did not end even then.
            KeyboardInterrupt: Ctrl-C, and the coroutine let itself be cancelled.
            BadYieldError: the function returned what cannot be waited for.
            RuntimeError: a loop is running in this thread already, this one is closed or
                running, or somebody stopped it before the coroutine had ended.
            TypeError: the time-out is no number.
        """
        if _is_a_loop_running():
            raise RuntimeError(
                f"run_sync({func!r}) was called inside a running event loop, which "
                "cannot run another; in a coroutine, yield (or await) what the function "
                "returns instead"
            )
        if self.asyncio_loop.is_closed() or self.asyncio_loop.is_running():
            state = "closed" if self.asyncio_loop.is_closed() else "running elsewhere"
            raise RuntimeError(
                f"run_sync({func!r}) was called on a loop that is {state}"
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
                if main.interrupts > 1:  # nor is anything waited for at exit
                    _used.pop(self, None)
                else:
                    main.clean_up()
                raise
            finally:
                main.close()
        return main.outcome(timeout).result()

    def close(self, all_fds: bool = False) -> None:
        """Close the loop, after what it has left was ended, in this order.

        Coroutines that are suspended are cancelled and may clean up, as are native ones
        that were yielded; then asynchronous generators are closed, then the default
        executor.  Each is waited for 5 seconds at the longest.  Inside another running
        loop nothing can be waited for: what is suspended is given up.

        Raises:
            RuntimeError: the loop is running.
        """
        if self.asyncio_loop.is_running():
            raise RuntimeError(
                "close() was called on a loop that is running; stop() it"
            )
        if not _is_a_loop_running() and self.is_current:
            # Tornado would put the loop of before in the place of whichever is current.
            self.is_current = IOLoop.current(instance=False) is self
        try:
            if not (_is_a_loop_running() or self.asyncio_loop.is_closed()):
                tasks = held_tasks(self.asyncio_loop)
                finish_leftovers(self.asyncio_loop, tasks, run_sync.CLEAN_UP_S)
        finally:
            super().close(all_fds)
            _program.forget(self)


class _MainLoop(IOLoop, AsyncIOMainLoop):
    """An IOLoop of a loop that asyncio's own user has made, and will close.

    `tornado.testing` tells by the class which loops are its to close.
    """


def adopt(loop: tornado.ioloop.IOLoop) -> None:
    """Make a loop of Tornado's own one of ours.

    Others may have it in hand already: the object has to stay the same, so its class
    changes.  Subclasses by others are left alone.
    """
    if type(loop) is AsyncIOLoop:
        loop.__class__ = IOLoop
    elif type(loop) is AsyncIOMainLoop:
        loop.__class__ = _MainLoop


def program_loop() -> IOLoop | None:
    """Return the loop that threads without one get from `IOLoop.instance`."""
    return _program.loop()


class _Program:
    """The loops that threads without a loop of their own may get.

    Attributes:
        installed: The one that was installed.
        started: The one that the main thread has started last.
    """

    installed: IOLoop | None = None
    started: IOLoop | None = None

    def loop(self) -> IOLoop | None:
        for loop in (self.installed, self.started):
            # Others may close the asyncio loop without us.
            if loop is not None and not loop.asyncio_loop.is_closed():
                return loop
        return None

    def forget(self, loop: IOLoop) -> None:
        if self.installed is loop:
            self.installed = None
        if self.started is loop:
            self.started = None


_program = _Program()

# The loops that run_sync has used, each with the thread that was the last to do so.
_used: "weakref.WeakKeyDictionary[IOLoop, threading.Thread]"
_used = weakref.WeakKeyDictionary()


def _finish_at_exit() -> None:
    """End what scripts have left on their loops, but close none: atexit may use them."""
    for loop, thread in list(_used.items()):
        asyncio_loop = loop.asyncio_loop
        is_idle = thread is threading.current_thread() or not thread.is_alive()
        if not is_idle or asyncio_loop.is_running() or asyncio_loop.is_closed():
            continue
        try:
            tasks = asyncio.all_tasks(asyncio_loop)
            finish_leftovers(asyncio_loop, tasks, run_sync.CLEAN_UP_S)
        except KeyboardInterrupt:  # whoever presses Ctrl-C now does not want to wait
            return
        except BaseException:  # it would keep Python from waiting for other threads
            app_log.exception("What was left on %r could not be ended", loop)


# Before Python waits for the threads of executors, which cleaning up may still need.
# That is earlier than atexit, and goes backwards: concurrent.futures.thread, imported
# above, has its turn after us.  It is no public name; without it atexit has to do.
getattr(threading, "_register_atexit", atexit.register)(_finish_at_exit)


def _leave_to_parent() -> None:
    """Forget the loops that a fork has inherited."""
    _used.clear()
    _program.installed = _program.started = None


os.register_at_fork(after_in_child=_leave_to_parent)


def _is_a_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
