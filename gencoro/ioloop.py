"""The loop that scripts run on: Tornado's own, with a better `run_sync`.

Rule: one asyncio loop has one IOLoop, whichever package is asked for it.  Queues,
locks, servers and clients of Tornado run on it unchanged.

This is the first module that imports Tornado.
"""

import asyncio
import atexit
import builtins
import concurrent.futures.thread  # noqa: F401 (before we register at exit)
import contextlib
import os
import signal
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, cast, overload

import tornado.ioloop
from tornado.ioloop import PeriodicCallback
from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop

from gencoro.errors import BadYieldError
from gencoro.frames import name_of
from gencoro.futures import Future, app_log, without_our_frame
from gencoro.introspect import format_tree, traceback_of
from gencoro.leftovers import finish_leftovers
from gencoro.waiting import wall_time
from gencoro.yieldables import as_future, held_tasks, refuse_other_loop

__all__ = ["IOLoop", "PeriodicCallback"]

# Names that code written for tornado.ioloop finds there.
TimeoutError = builtins.TimeoutError
_Selectable = tornado.ioloop._Selectable

# Looked up once: compat may put our IOLoop in the place of Tornado's.
_tornado_current = tornado.ioloop.IOLoop.current

# What was cancelled, by a time-out or since its loop closes, has so many seconds to clean
# up: enough for a farewell to a server, and not for ever.
CLEAN_UP_S = 5.0


class IOLoop(AsyncIOLoop):
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
        if _is_a_loop_running():
            loop = _tornado_current(instance)
        else:
            with warnings.catch_warnings():
                # Python 3.12 and 3.13 warn that a loop is made, which is the point.
                warnings.filterwarnings("ignore", "There is no current event loop")
                loop = _tornado_current(instance)
        if type(loop) in (AsyncIOLoop, AsyncIOMainLoop):
            # Tornado made it before us and has handed it out already: the object has to
            # stay the same, so its class changes.  Subclasses by others are left alone.
            loop.__class__ = IOLoop
        return cast("IOLoop | None", loop)

    @staticmethod
    def instance() -> "IOLoop":
        """Return `current()`; the name is Tornado's own for older code."""
        return IOLoop.current()

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
        main = _Main(self, func)
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
        try:
            if not (_is_a_loop_running() or self.asyncio_loop.is_closed()):
                tasks = held_tasks(self.asyncio_loop)
                finish_leftovers(self.asyncio_loop, tasks, CLEAN_UP_S)
        finally:
            super().close(all_fds)


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
            finish_leftovers(asyncio_loop, asyncio.all_tasks(asyncio_loop), CLEAN_UP_S)
        except KeyboardInterrupt:  # whoever presses Ctrl-C now does not want to wait
            return
        except BaseException:  # it would keep Python from waiting for other threads
            app_log.exception("What was left on %r could not be ended", loop)


# Before Python waits for the threads of executors, which cleaning up may still need.
# That is earlier than atexit, and goes backwards: concurrent.futures.thread, imported
# above, has its turn after us.  It is no public name; without it atexit has to do.
getattr(threading, "_register_atexit", atexit.register)(_finish_at_exit)

# What a fork has inherited is its parent's to end.
os.register_at_fork(after_in_child=_used.clear)


def _is_a_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Main:
    """The one call that `IOLoop.run_sync` makes, from its start to its outcome."""

    def __init__(self, loop: IOLoop, func: Callable[[], Any]) -> None:
        self.loop = loop
        self.func = func
        self.future: Future[Any] | None = None
        self.active = True
        self.timer: asyncio.TimerHandle | None = None
        self.timed_out = False
        self.stuck_at: types.TracebackType | None = None
        self.interrupts = 0
        self.pid = os.getpid()  # a fork may inherit our handler

    def start(self) -> None:
        try:
            self.future = self._accept(self.func())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BadYieldError as exc:
            self._fail(exc.with_traceback(None))
        except BaseException as exc:  # the loop would log it, and nobody would stop it
            self._fail(without_our_frame(exc))
        assert self.future is not None
        self.future.add_done_callback(self._stop)
        if self.interrupts or self.timed_out:  # before there was anything to cancel
            self.cancel()

    def _accept(self, result: Any) -> "Future[Any]":
        """Return the Future of what the function returned."""
        if isinstance(result, types.GeneratorType):
            raise BadYieldError(
                f"run_sync({self.func!r}) got a plain generator, {name_of(result)}, "
                "which does nothing by itself; decorate its function with @gen.coroutine"
            )
        future = as_future(result)
        if not isinstance(future, Future):  # None or moment
            future = Future()
            future.set_result(None)
        refuse_other_loop(future, self.loop.asyncio_loop)
        return future

    def _fail(self, error: BaseException) -> None:
        self.future = Future()
        self.future.set_exception(error)

    def _stop(self, _done: "Future[Any]") -> None:
        # An interrupted call may leave this callback behind for the loop's next run.
        if self.active:
            self.loop.stop()

    def cancel(self) -> None:
        if self.future is not None:
            self.future.cancel()

    def call_later(self, delay: float, function: Callable[[], None]) -> None:
        """Call a function, and no other one that was to be called later."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.asyncio_loop.call_later(delay, function)

    def close(self) -> None:
        self.active = False
        if self.timer is not None:
            self.timer.cancel()

    def time_out(self) -> None:
        self.timed_out = True
        self._stop_soon()
        if self.future is not None:
            self.stuck_at = traceback_of(self.future)
        self.cancel()

    def _stop_soon(self) -> None:
        # A coroutine that does not let itself be cancelled would never stop the loop.
        self.call_later(CLEAN_UP_S, self.loop.stop)

    @contextlib.contextmanager
    def interrupted_by_ctrl_c(self) -> Iterator[None]:
        """Let the first Ctrl-C cancel the coroutine, unless the program has its own way.

        A KeyboardInterrupt raised wherever the loop happens to be would leave it, and
        us, in the middle of something.
        """
        if (
            threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        ):
            yield
            return
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            if signal.getsignal(signal.SIGINT) == self._interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, _signum: int, _frame: types.FrameType | None) -> None:
        self.interrupts += 1
        has_ended = self.future is not None and self.future.done()
        if (
            self.interrupts > 1
            or has_ended
            or not self.active
            or self.pid != os.getpid()
        ):
            raise KeyboardInterrupt
        # Here and now, as asyncio.Runner does it: the step that is interrupted may be the
        # last.  The loop may sleep, and has to be woken up.
        self.cancel()
        self.loop.asyncio_loop.call_soon_threadsafe(bool)

    def clean_up(self) -> None:
        """Let the coroutine end after the loop was interrupted."""
        if self.future is not None and not self.future.done():
            self._stop_soon()
            self.future.cancel()
            self.loop.start()
        self.future = None

    def outcome(self, timeout: float | None) -> "Future[Any]":
        """Return the coroutine's Future, or raise why it was not let end by itself."""
        # An error's traceback will hold our caller's frame, and so us: drop what holds
        # the error.
        future, self.future = self.future, None
        stuck_at, self.stuck_at = self.stuck_at, None
        if future is None or not future.done():
            if future is not None and stuck_at is None:
                stuck_at = traceback_of(future)
            raise self._unfinished(future, timeout).with_traceback(stuck_at)
        if future.cancelled() and self.timed_out:
            raise TimeoutError(
                f"Operation timed out after {timeout} seconds"
            ).with_traceback(stuck_at)
        if future.cancelled() and self.interrupts:
            raise KeyboardInterrupt
        return future

    def _unfinished(
        self, future: "Future[Any] | None", timeout: float | None
    ) -> Exception:
        if self.timed_out:
            return TimeoutError(
                f"Operation timed out after {timeout} seconds, and did not end when it "
                f"was cancelled: {future!r}"
            )
        return RuntimeError(
            f"Event loop stopped before {self.func!r} had finished; somebody called "
            f"stop().  These are waiting:\n{format_tree(self.loop.asyncio_loop)}"
        )
