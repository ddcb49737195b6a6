"""One call of `IOLoop.run_sync`, from start to outcome.

A timeout and the first Ctrl-C cancel the coroutine.

Rule: a timeout always ends the call: a coroutine that does not end when it is cancelled is
waited for no longer than `closing.CLEAN_UP_S`.  After the first Ctrl-C it may clean up as long as it
needs; the second one does not wait at all.
"""

import asyncio
import contextlib
import os
import signal
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from tornado.platform.asyncio import BaseAsyncIOLoop

from gencoro import closing
from gencoro.cancelling import end_all
from gencoro.errors import BadYieldError
from gencoro.frames import name_of
from gencoro.futures import Future, without_our_frame
from gencoro.yieldables import Moment, as_future, refuse_other_loop

__all__ = ["MainCall"]


class MainCall:
    """One call of `IOLoop.run_sync`."""

    def __init__(self, loop: BaseAsyncIOLoop, func: Callable[[], Any]) -> None:
        self.loop = loop
        self.func = func
        self.future: Future[Any] | None = None
        self.active = True
        self.timer: asyncio.TimerHandle | None = None
        self.timed_out = False
        self.stuck_at: types.TracebackType | None = None
        self.interrupts = 0
        self.pid = os.getpid()  # a fork inherits our signal handler

    def start(self) -> None:
        try:
            self.future = self._accept(self.func())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BadYieldError as exc:
            self._fail(exc.with_traceback(None))
        except BaseException as exc:  # the loop would log it and run on
            self._fail(without_our_frame(exc))
        assert self.future is not None
        self.future.add_done_callback(self._stop)
        if self.interrupts or self.timed_out:  # while there was nothing to cancel
            self.cancel()

    def _accept(self, result: Any) -> "Future[Any]":
        """Return the Future of the function's result."""
        if isinstance(result, types.GeneratorType):
            raise BadYieldError(
                f"run_sync({self.func!r}) got a plain generator, {name_of(result)}, "
                "which does not run by itself; decorate its function with @gen.coroutine"
            )
        future = as_future(result)
        if isinstance(future, Moment):
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
        if self.future is None:
            return
        if self.interrupts:  # then legacy coroutines clean up too
            end_all([self.future])
        else:
            self.future.cancel()

    def call_later(self, delay: float, function: Callable[[], None]) -> None:
        """Call a function later, instead of any function scheduled before."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.asyncio_loop.call_later(delay, function)

    def close(self) -> None:
        self.active = False
        if self.future is not None:
            self.future.remove_done_callback(self._stop)
        if self.timer is not None:
            self.timer.cancel()

    def time_out(self) -> None:
        self.timed_out = True
        self._stop_soon()
        if self.future is not None:
            # Not before it is needed: it takes a tenth of the time of `import gencoro`.
            from gencoro.introspect import traceback_of  # noqa: PLC0415

            self.stuck_at = traceback_of(self.future)
        self.cancel()

    def _stop_soon(self) -> None:
        # A coroutine that resists being cancelled would never stop the loop.
        self.call_later(closing.CLEAN_UP_S, self.loop.stop)

    @contextlib.contextmanager
    def interrupted_by_ctrl_c(self) -> Iterator[None]:
        """Let the first Ctrl-C cancel the coroutine, unless the program handles SIGINT.

        A KeyboardInterrupt raised at an arbitrary point would leave the loop and this
        class in an inconsistent state.
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
        # At once, as asyncio.Runner does: the interrupted step may be the last.  The loop
        # may be waiting for events, and has to be woken up.
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
        """Return the coroutine's Future, or raise the reason why it did not finish."""
        # An error's traceback refers to our caller's frame, and so to us: drop what
        # refers to the error.
        future, self.future = self.future, None
        stuck_at, self.stuck_at = self.stuck_at, None
        if future is None or not future.done():
            raise self._unfinished(future, timeout).with_traceback(stuck_at)
        if future.cancelled() and self.interrupts:
            raise KeyboardInterrupt
        if future.cancelled() and self.timed_out:
            raise TimeoutError(
                f"Operation timed out after {timeout} seconds"
            ).with_traceback(stuck_at)
        return future

    def _unfinished(
        self, future: "Future[Any] | None", timeout: float | None
    ) -> BaseException:
        if self.interrupts:
            return KeyboardInterrupt()
        if self.timed_out:
            return TimeoutError(
                f"Operation timed out after {timeout} seconds, and did not end when it "
                f"was cancelled: {future!r}"
            )
        from gencoro.introspect import format_tree  # noqa: PLC0415 - as above

        return RuntimeError(
            f"Event loop stopped before {self.func!r} had finished, by a call of stop(). "
            f"Still waiting:\n{format_tree(self.loop.asyncio_loop)}"
        )
