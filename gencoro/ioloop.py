"""The loop that scripts run on: Tornado's own, with a better `run_sync`.

Rule: one asyncio loop has one IOLoop, whichever package is asked for it.  Queues,
locks, servers and clients of Tornado run on it unchanged.

This is the first module that imports Tornado.
"""

import asyncio
import builtins
import contextlib
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, cast, overload

import tornado.ioloop
from tornado.ioloop import PeriodicCallback
from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop

from gencoro.futures import Future
from gencoro.introspect import traceback_of
from gencoro.yieldables import convert_yielded, held_tasks

__all__ = ["IOLoop", "PeriodicCallback"]

# Names that code written for tornado.ioloop finds there.
TimeoutError = builtins.TimeoutError
_Selectable = tornado.ioloop._Selectable

# Looked up once: compat may put our IOLoop in the place of Tornado's.
_tornado_current = tornado.ioloop.IOLoop.current

# Native coroutines that are still running when a loop closes get so many seconds to
# clean up after they were cancelled.
CLEAN_UP_S = 1.0


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

    def run_sync(self, func: Callable[[], Any], timeout: float | None = None) -> Any:
        """Run a function and the coroutine it returns; return the coroutine's result.

        Ctrl-C and a time-out cancel the coroutine and wait for it to clean up; a second
        Ctrl-C does not wait.  Can be called again and again, on any thread.

        Args:
            func: Called with the loop running; returns a yieldable or None.
            timeout: Longest time for all of it, in seconds.

        Raises:
            TimeoutError: the time was over, and the coroutine let itself be cancelled;
                the traceback leads to the ``yield`` where it was stuck.
            KeyboardInterrupt: Ctrl-C, likewise.
            BadYieldError: the function returned what cannot be waited for.
            RuntimeError: a loop is running in this thread already, this one is closed, or
                somebody stopped it before the coroutine had ended.
        """
        if _is_a_loop_running():
            raise RuntimeError(
                f"run_sync({func!r}) was called inside a running event loop, which "
                "cannot run another; in a coroutine, yield (or await) what the function "
                "returns instead"
            )
        if self.asyncio_loop.is_closed():
            raise RuntimeError(
                f"run_sync({func!r}) was called on a loop that is closed"
            )
        main = _Main(self, func)
        with main.interrupted_by_ctrl_c():
            timer = None
            if timeout is not None:
                timer = self.asyncio_loop.call_later(timeout, main.time_out)
            self.asyncio_loop.call_soon(main.start)
            try:
                self.start()
            except (KeyboardInterrupt, SystemExit):
                main.clean_up()
                raise
            finally:
                if timer is not None:
                    timer.cancel()
                main.active = False
        return main.outcome(timeout)

    def close(self, all_fds: bool = False) -> None:
        """Close the loop; native coroutines that it still runs are cancelled first.

        Generator coroutines need no such care: nobody can resume them any more, so they
        are collected, and their ``finally`` runs.
        """
        tasks = [task for task in held_tasks(self.asyncio_loop) if not task.done()]
        if tasks and not (_is_a_loop_running() or self.asyncio_loop.is_closed()):
            for task in tasks:
                task.cancel()
            self.asyncio_loop.run_until_complete(
                asyncio.wait(tasks, timeout=CLEAN_UP_S)
            )
        super().close(all_fds)


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
        self.timed_out = False
        self.stuck_at: TracebackType | None = None
        self.interrupts = 0

    def start(self) -> None:
        try:
            future = convert_yielded(self.func())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:  # the loop would log it, and nobody would stop it
            future = Future()
            future.set_exception(exc)
        if not isinstance(future, Future):  # None or moment
            future = Future()
            future.set_result(None)
        self.future = future
        future.add_done_callback(self._stop)
        if self.interrupts:  # Ctrl-C came before there was anything to cancel
            self.cancel()

    def _stop(self, _done: "Future[Any]") -> None:
        # An interrupted call may leave this callback behind for the loop's next run.
        if self.active:
            self.loop.stop()

    def cancel(self) -> None:
        if self.future is not None:
            self.future.cancel()

    def time_out(self) -> None:
        self.timed_out = True
        if self.future is not None:
            self.stuck_at = traceback_of(self.future)
        try:
            self.cancel()
        except BaseException:
            self.loop.stop()  # what was not cancelled will not stop it
            raise

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

    def _interrupt(self, _signum: int, _frame: FrameType | None) -> None:
        self.interrupts += 1
        if self.interrupts > 1:
            raise KeyboardInterrupt
        self.loop.asyncio_loop.call_soon_threadsafe(self.cancel)

    def clean_up(self) -> None:
        """Let the coroutine end after the loop was interrupted, unless that came twice."""
        if self.interrupts < 2 and self.future is not None and not self.future.done():
            self.future.cancel()
            self.loop.start()
        self.future = None

    def outcome(self, timeout: float | None) -> Any:
        # An error's traceback holds this frame and our caller's, which holds us: drop
        # the Future that holds the error.
        future, self.future = self.future, None
        is_done = future is not None and future.done()
        if self.timed_out and (future is None or not is_done or future.cancelled()):
            stuck_at, self.stuck_at = self.stuck_at, None
            raise TimeoutError(
                f"Operation timed out after {timeout} seconds"
            ).with_traceback(stuck_at)
        if future is None or not is_done:
            raise RuntimeError(
                f"Event loop stopped before {self.func!r} had finished; somebody called "
                f"stop(), and it is still waiting: {future!r}"
            )
        if future.cancelled() and self.interrupts:
            raise KeyboardInterrupt
        try:
            return future.result()
        finally:
            del future
