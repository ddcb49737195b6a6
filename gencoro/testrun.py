"""Runs one test on one loop, with a timeout.

Rule: a test that exceeds its timeout fails, and does so in bounded time: first an error is
raised where it is stuck, then it is cancelled, then its loop is stopped.

Used by `gencoro.testing` and `gencoro.pytest_plugin`.
"""

import asyncio
import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar, overload

from gencoro import needs_tornado  # noqa: F401

# isort: split
from tornado.platform.asyncio import BaseAsyncIOLoop
from tornado.testing import get_async_test_timeout

from gencoro.coroutines import coroutine, is_coroutine_function, wraps_native
from gencoro.errors import DeadlockError
from gencoro.futures import ASYNCIO_TASKS, Future
from gencoro.introspect import format_tree, traceback_of, wait_chain
from gencoro.ioloop import IOLoop
from gencoro.runner import runner_of
from gencoro.virtual_clock import VirtualLoop
from gencoro.yieldables import (
    MultiFuture,
    Waitable,
    convert_yielded,
    maybe_future,
)

__all__ = [
    "as_coroutine",
    "as_seconds",
    "io_loop_of_test",
    "new_io_loop",
    "run_test",
    "running_on",
]

T = TypeVar("T")

# How long a test may take to clean up after the error, and again after being cancelled.
CLEAN_UP_S = 1.0

# The loop and the timeout for a `gen_test` function, if its caller has chosen them.
_chosen: ContextVar[tuple[BaseAsyncIOLoop, float] | None]
_chosen = ContextVar("_chosen", default=None)


@overload
def run_test(
    io_loop: BaseAsyncIOLoop,
    start: Callable[[], Waitable[T]],
    timeout: float | None = None,
) -> T: ...


@overload
def run_test(
    io_loop: BaseAsyncIOLoop,
    start: Callable[[], Any],
    timeout: float | None = None,
) -> Any: ...


def run_test(
    io_loop: BaseAsyncIOLoop,
    start: Callable[[], Any],
    timeout: float | None = None,
) -> Any:
    """Run a test on a loop as `gen_test` does, and return its result.

    Args:
        start: Called with the loop running; returns a generator coroutine's Future, or
            another yieldable.
        timeout: Seconds of real time, as for `gen_test`.

    >>> with new_io_loop(asyncio.new_event_loop()) as io_loop:
    ...     run_test(io_loop, lambda: asyncio.sleep(0.001, "rested"), timeout=5)
    'rested'
    """
    return _Test(io_loop, start, as_seconds(timeout)).run()


def as_coroutine(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that starts a test and returns the Future or coroutine to wait for.

    Raises:
        TypeError: the function is an asynchronous generator.

    >>> as_coroutine(asyncio.sleep) is asyncio.sleep
    True
    """
    if inspect.isasyncgenfunction(func):
        raise TypeError(
            f"{func.__qualname__} is an async generator, which cannot be a test; write "
            "`await` where it has `yield`"
        )
    if inspect.iscoroutinefunction(func) or is_coroutine_function(func):
        return func
    return _awaited(func) if wraps_native(func) else coroutine(func)


def _awaited(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that may return a native coroutine, or anything else."""

    def start(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        return result if inspect.iscoroutine(result) else maybe_future(result)

    return start


def as_seconds(timeout: float | None) -> float:
    """Return the timeout of a test in seconds; None means the default.

    Raises:
        ValueError: timeout is negative, or not a number.

    >>> as_seconds(0.5)
    0.5
    """
    if timeout is None:
        return get_async_test_timeout()
    if not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise ValueError(
            f"timeout={timeout!r}: give the seconds that the test may take, or 0 for no "
            "limit"
        )
    return timeout


class _Test:
    """One run of a test, from start to end."""

    def __init__(
        self, io_loop: BaseAsyncIOLoop, start: Callable[[], Any], timeout: float
    ) -> None:
        self.io_loop = io_loop
        self.start_body = start
        self.timeout = timeout
        self.future: Future[Any] | None = None
        self.timers: list[asyncio.TimerHandle] = []
        # The error that ended the test, if any; whether it was raised in the test; and
        # where the test was stuck, if it was not.
        self.error: Exception | None = None
        self.was_thrown = False
        self.stuck_at: TracebackType | None = None

    def run(self) -> Any:
        try:
            return self.run_loop(self.start)
        except DeadlockError as exc:
            if self.future is None or self.future.done():  # not about the test itself
                raise
            deadlock = exc.with_traceback(None)
        # The loop has stopped.  Run it again, so that the test gets the error.
        return self.run_loop(lambda: self.end_with(deadlock))

    def run_loop(self, start: Callable[[], Any]) -> Any:
        try:
            result = self.io_loop.run_sync(start)
        except (Exception, asyncio.CancelledError) as exc:
            if self.error is None or exc is self.error or self.failed_with(exc):
                raise
        else:
            if self.error is None:
                return result
        finally:
            self.cancel_timers()
        if self.was_thrown:
            self.error.add_note("The test caught this and went on.")
        raise self.error.with_traceback(self.stuck_at or self.error.__traceback__)

    def failed_with(self, exc: BaseException) -> bool:
        """Return True if the test, when it was made to end, failed in another way."""
        future = self.future
        if future is None or not future.done() or future.cancelled():
            return False
        exc.add_note(f"It was raised after this: {self.error!r}")
        return future.exception() is exc

    def start(self) -> Any:
        # Start the timer before the body, which may run for long before it waits.
        if self.timeout:
            self.call_later(self.timeout, self.time_out)
        started = self.start_body()
        if started is None:
            raise TypeError(
                "the test returned None, so its end cannot be waited for; decorate it with "
                "@gen.coroutine instead of @gen.engine"
            )
        self.future = convert_yielded(started)
        return self.future

    def call_later(self, seconds: float, callback: Callable[[], object]) -> None:
        loop = self.io_loop.asyncio_loop
        # Timeouts are in real time: a test may take an hour of virtual time.
        if isinstance(loop, VirtualLoop):
            timer = loop.call_later_really(seconds, callback)
        else:
            timer = loop.call_later(seconds, callback)
        self.timers.append(timer)

    def cancel_timers(self) -> None:
        while self.timers:
            self.timers.pop().cancel()

    def time_out(self) -> None:
        if self.future is None or self.future.done():
            return
        error = TimeoutError(
            f"The test timed out after {self.timeout:g} seconds; gen_test(timeout=...) "
            "gives it more, and ASYNC_TEST_TIMEOUT gives more to all tests"
        )
        loop = self.io_loop.asyncio_loop
        when = f" ({loop.status()})" if isinstance(loop, VirtualLoop) else ""
        error.add_note(f"Who waited for whom{when}:\n{format_tree(loop)}")
        self.end_with(error)

    def end_with(self, error: Exception) -> "Future[Any]":
        """Make the test end with an error, raised where it is stuck if possible."""
        assert self.future is not None, "the test has started"
        self.error = error
        if _throw_in(self.future, error):
            self.was_thrown = True
            self.call_later(CLEAN_UP_S, self.cancel)
        else:
            self.stuck_at = traceback_of(self.future)
            self.cancel()
        return self.future

    def cancel(self) -> None:
        assert self.future is not None, "the test has started"
        self.call_later(CLEAN_UP_S, self.io_loop.stop)
        self.future.cancel()


def _throw_in(test: "Future[Any]", error: Exception) -> bool:
    """Raise an error at the ``yield`` where a test is stuck.

    Returns False, and does nothing, if the innermost coroutine is a native one, which
    cannot be thrown into, or is unknown.
    """
    way = list(wait_chain(test))
    while way and runner_of(way[-1]) is None:
        if isinstance(way.pop(), ASYNCIO_TASKS):
            return False
    if not way:
        return False
    for waiting, innermost in itertools.pairwise(way):
        if isinstance(waiting, MultiFuture):
            # It passes on the error of one child when all others have ended.
            for child in waiting.children:
                if child is not innermost:
                    child.cancel()
    runner = runner_of(way[-1])
    assert runner is not None
    return runner.handle_exception(type(error), error, None)


@contextlib.contextmanager
def new_io_loop(asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[IOLoop]:
    """Create an IOLoop on a new asyncio loop, which is current until it is closed.

    At the end everything that still runs is cancelled and may clean up, as by
    ``IOLoop.close``; this includes native coroutines.

    >>> with new_io_loop(asyncio.new_event_loop()) as io_loop:
    ...     io_loop.run_sync(lambda: asyncio.sleep(0.001, "rested"))
    'rested'
    """
    # Not made current by Tornado: it would ask asyncio for the previous loop, and asyncio
    # might create one, which would never be closed.
    io_loop = IOLoop(asyncio_loop=asyncio_loop, make_current=False)
    asyncio.set_event_loop(asyncio_loop)
    try:
        yield io_loop
    finally:
        try:
            if not asyncio_loop.is_closed():
                io_loop.close(all_fds=True)
        finally:
            asyncio.set_event_loop(None)


@contextlib.contextmanager
def running_on(io_loop: BaseAsyncIOLoop, timeout: float) -> Iterator[None]:
    """Make `gen_test` functions that are called here run on a loop.

    Args:
        timeout: Seconds of real time for each, instead of their own.
    """
    token = _chosen.set((io_loop, timeout))
    try:
        yield
    finally:
        _chosen.reset(token)


@contextlib.contextmanager
def io_loop_of_test(
    test_case: object, timeout: float | None
) -> Iterator[tuple[BaseAsyncIOLoop, float | None]]:
    """Choose the loop and the timeout for a call of a `gen_test` function.

    Args:
        test_case: The first argument of the call, which may have a loop.
        timeout: The function's own timeout.
    """
    chosen = _chosen.get()
    own = getattr(test_case, "io_loop", None)
    if chosen is not None:
        yield chosen
    elif isinstance(own, BaseAsyncIOLoop):
        yield own, timeout
    else:
        with new_io_loop(asyncio.new_event_loop()) as io_loop:
            yield io_loop, timeout
