"""PeriodicCallback: Tornado's, for every kind of callback and on any loop."""

import datetime
import functools
from collections.abc import Callable
from typing import Any

import tornado.ioloop

from gencoro.deprecated import warn_legacy
from gencoro.errors import BadYieldError
from gencoro.futures import Future, app_log
from gencoro.ioloop.callbacks import note_plain_generator
from gencoro.yieldables import Moment, as_future

__all__ = ["PeriodicCallback"]


class PeriodicCallback(tornado.ioloop.PeriodicCallback):
    """Calls a function periodically, inside the stack contexts of its `start`.

    If it returns a coroutine, the next call waits for that; calls that are due meanwhile
    are skipped.  Errors go to the loop's ``handle_callback_exception``.

    Args:
        callback: The function.
        callback_time: The period, in milliseconds or as a `datetime.timedelta`.
        jitter: The fraction of the period by which it varies at random.
        io_loop: Legacy: the loop, if not the current one at `start`.

    Raises:
        ValueError: the period is not positive.
    """

    def __init__(
        self,
        callback: Callable[[], Any],
        callback_time: datetime.timedelta | float,
        jitter: Any = 0,
        io_loop: Any = None,
    ) -> None:
        if isinstance(jitter, tornado.ioloop.IOLoop):  # its position until Tornado 4
            jitter, io_loop = 0, jitter
        if io_loop is not None:
            warn_legacy(
                "the argument io_loop= of PeriodicCallback",
                "leave it out, and call start() on the thread of the loop",
            )
        if isinstance(callback_time, datetime.timedelta):
            callback_time /= datetime.timedelta(milliseconds=1)
        super().__init__(callback, callback_time, jitter)
        self._own_loop = io_loop
        if io_loop is not None:
            self.io_loop = io_loop
        self._starts = 0

    def start(self) -> None:
        """Start, or start again; the first call is one period from now."""
        self.stop()
        self._starts += 1
        self.io_loop = self._own_loop or tornado.ioloop.IOLoop.current()
        self._running = True
        self._next_timeout = self.io_loop.time()
        self._schedule_next()

    # Tornado's is an `async def`, whose body would run outside of StackContexts.
    def _run(self) -> None:  # type: ignore[override]
        if not self._running:
            return
        waits = False
        result = None
        try:
            result = self.callback()
            future = as_future(result)
            if not isinstance(future, Moment):
                future.add_done_callback(functools.partial(self._end, self._starts))
                waits = True
        except BadYieldError:  # a function may return anything
            note_plain_generator(result)
        except Exception:  # the callback's own; it is called again all the same
            self._hear_of_error()
        finally:
            if not waits:
                self._schedule_next()

    def _end(self, starts: int, future: "Future[Any]") -> None:
        try:
            if not future.cancelled():
                future.result()
        except Exception:  # the callback's own; it is called again all the same
            self._hear_of_error()
        finally:
            if starts == self._starts:  # else it was restarted meanwhile
                self._schedule_next()

    def _hear_of_error(self) -> None:
        if hasattr(self.io_loop, "handle_callback_exception"):
            self.io_loop.handle_callback_exception(self.callback)
        else:  # a loop that is Tornado's own
            app_log.error("Exception in callback %r", self.callback, exc_info=True)
