"""`sleep`, `with_timeout` and `WaitIterator`."""

import asyncio
import collections
import contextlib
import contextvars
import datetime
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar, overload

from gencoro.deprecated import warn_legacy
from gencoro.errors import GencoroError
from gencoro.futures import (
    OUR_FUTURES,
    AnyFuture,
    CoroutineFuture,
    Future,
    app_log,
    copy_outcome,
    current_loop,
    future_add_done_callback,
)
from gencoro.handed_over import HandedOver
from gencoro.runner import Runner
from gencoro.yieldables import (
    DictOf,
    K,
    ListOf,
    QuietExceptions,
    Waitable,
    Yieldable,
    as_spared_future,
    is_many,
    leave,
    refuse_other_loop,
)

__all__ = [
    "Deadline",
    "WaitIterator",
    "seconds_from_now",
    "sleep",
    "wall_time",
    "with_timeout",
]

T = TypeVar("T")

# The result of what contains other yieldables, or nothing, has the same shape.
C = TypeVar("C", list[Any], dict[Any, Any], None)

Deadline: TypeAlias = float | datetime.timedelta


class Sleep(Future[None]):
    """A Future that a timer completes; cancelling it cancels the timer."""

    __slots__ = ("_timer",)
    _timer: asyncio.TimerHandle | None

    def cancel(self, msg: Any = None) -> bool:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return super().cancel(msg)

    def wake(self) -> None:
        self._timer = None  # The timer refers to us: break the cycle.
        if not self.done():
            self.set_result(None)


OUR_FUTURES.add(Sleep)


def sleep(duration: float) -> "Future[None]":
    """Return a Future that becomes done after ``duration`` seconds.

    The call itself does not wait: yield the Future.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def nap():
    ...     yield gen.sleep(0.001)
    ...     return "rested"
    >>> async def main():
    ...     return await nap()
    >>> asyncio.run(main())
    'rested'
    """
    future = Sleep(loop=current_loop())
    future._timer = future.get_loop().call_later(duration, future.wake)
    return future


@overload
def with_timeout(
    timeout: Deadline,
    future: Waitable[T],
    *places: Any,
    quiet_exceptions: QuietExceptions = (),
    message: str | Callable[[], str] | None = None,
    io_loop: Any = None,
) -> "Future[T]": ...


@overload
def with_timeout(
    timeout: Deadline,
    future: ListOf[T],
    *places: Any,
    quiet_exceptions: QuietExceptions = (),
    message: str | Callable[[], str] | None = None,
    io_loop: Any = None,
) -> "Future[list[T]]": ...


@overload
def with_timeout(
    timeout: Deadline,
    future: DictOf[K, T],
    *places: Any,
    quiet_exceptions: QuietExceptions = (),
    message: str | Callable[[], str] | None = None,
    io_loop: Any = None,
) -> "Future[dict[K, T]]": ...


@overload
def with_timeout(
    timeout: Deadline,
    future: C,
    *places: Any,
    quiet_exceptions: QuietExceptions = (),
    message: str | Callable[[], str] | None = None,
    io_loop: Any = None,
) -> "Future[C]": ...


def with_timeout(
    timeout: Deadline,
    future: Yieldable[Any],
    *places: Any,
    quiet_exceptions: QuietExceptions = (),
    message: str | Callable[[], str] | None = None,
    io_loop: Any = None,
) -> "Future[Any]":
    """Return a Future with the outcome of another, or TimeoutError if it takes too long.

    The original is *not* cancelled, so that it can be waited for again; if it fails after
    the timeout, its error is logged, unless it is a TimeoutError too.

    Args:
        timeout: A `datetime.timedelta` from now, or a number: the deadline in seconds on
            the clock of `time.time` (``IOLoop.time`` in Tornado), *not* a duration.
        future: Any yieldable.
        places: ``quiet_exceptions``, as in Tornado 6; or ``io_loop`` and
            ``quiet_exceptions``, as in Tornado 4.
        quiet_exceptions: Types of late errors that are not logged.
        message: Text of the TimeoutError, or a function that returns it when needed.
        io_loop: Legacy; has no effect.

    Raises:
        BadYieldError: future cannot be waited for.
        TypeError: timeout has another type.

    >>> from datetime import timedelta
    >>> async def main():
    ...     try:
    ...         await with_timeout(timedelta(milliseconds=1), sleep(60))
    ...     except TimeoutError as exc:
    ...         return str(exc)
    >>> asyncio.run(main())
    'Timeout'
    """
    if places or io_loop is not None:
        quiet_exceptions = _quiet_exceptions(places, quiet_exceptions, io_loop)
    result: TimeLimit[Any] = TimeLimit(loop=current_loop())
    result._message = message
    result._quiet_exceptions = quiet_exceptions
    delay = seconds_from_now(timeout, result.get_loop())
    waited_for: Any = future
    if type(future) not in OUR_FUTURES:
        waited_for = as_spared_future(future)
    if waited_for.done():
        copy_outcome(waited_for, result)
    else:
        refuse_other_loop(waited_for, result.get_loop())
        result.wait_for(waited_for, delay)
    return result


# Futures that call back in a later turn of the loop, unlike legacy ones.
_CALLING_LATER = (CoroutineFuture, Future)


class TimeLimit(Future[T]):
    """A Future that gets the outcome of another one, or TimeoutError.

    Once it is done, the other one, which may live long, does not refer to it any more.
    """

    # Set by `with_timeout`: an __init__ would cost a tenth of the whole call.
    _message: str | Callable[[], str] | None
    _quiet_exceptions: QuietExceptions

    # Set while it waits.
    _future: "Future[T]"
    _timer: asyncio.TimerHandle | None = None

    def wait_for(self, future: "Future[T]", delay: float) -> None:
        self._future = future
        self._timer = self.get_loop().call_later(delay, self._time_out)
        future.add_done_callback(self._take_outcome)

    def _time_out(self) -> None:
        future = self._end_wait()
        if future is None:
            return
        left = self._leave(future)
        if not self.done():
            self.set_exception(_timeout_error(self._message))
        # mypy takes no NamedTuple for a callable.
        log: Any = _LateErrors(self._quiet_exceptions)
        for late in left:
            if late.done():
                log(late)
            else:
                # One log for all time-outs of a Future, in no context: it must not keep one.
                late.remove_done_callback(log)
                late.add_done_callback(log, context=_NO_CONTEXT)

    def _leave(self, future: "Future[Any]") -> "list[Future[Any]]":
        """Take this off the other Future; return what is left behind."""
        future.remove_done_callback(self._take_outcome)
        return leave(future)

    def _take_outcome(self, future: "Future[T]") -> None:
        if self._end_wait() is None:
            return
        # This is a turn of the loop already: a coroutine does not wait for another one.
        waiting = self._callbacks if type(future) in _CALLING_LATER else None
        if waiting and type(waiting[0][0]) is Runner and len(waiting) == 1:
            runner, context = waiting[0]
            self.remove_done_callback(runner)
            copy_outcome(future, self)
            context.run(runner, self)
        else:
            copy_outcome(future, self)

    def _end_wait(self) -> "Future[T] | None":
        """Take the timer back; return the other Future, unless this was called before."""
        if self._timer is None:
            return None
        self._timer.cancel()
        future = self._future
        del self._timer, self._future
        return future

    def cancel(self, msg: Any = None) -> bool:
        future = self._end_wait()
        if future is not None:
            self._leave(future)
        return super().cancel(msg)


_NO_CONTEXT = contextvars.Context()


class _LateErrors(NamedTuple):
    """A callback that logs the error of a Future that came after a time-out."""

    quiet_exceptions: QuietExceptions

    def __call__(self, late: Any) -> None:
        exc = None if late.cancelled() else late.exception()
        # A list whose child was cancelled is not cancelled itself, but has failed.  And that a
        # wait was too long for its own limit too is no news.
        quiet = (asyncio.CancelledError, TimeoutError, self.quiet_exceptions)
        if exc is not None and not isinstance(exc, quiet):
            app_log.error("Exception in Future %r after timeout", late, exc_info=exc)


OUR_FUTURES.add(TimeLimit)


def _quiet_exceptions(
    places: tuple[Any, ...], by_name: QuietExceptions, io_loop: Any
) -> QuietExceptions:
    """Find quiet_exceptions at its position in Tornado 6 or 4, or by name."""
    if places and (places[0] is None or hasattr(places[0], "add_callback")):
        io_loop, *places = places  # type: ignore[assignment]
    if io_loop is not None:
        warn_legacy("the argument io_loop= of with_timeout", "leave it out")
    if len(places) > 1:
        raise TypeError(f"with_timeout() got unexpected arguments {places[1:]!r}")
    return places[0] if places else by_name


def _timeout_error(message: str | Callable[[], str] | None) -> Exception:
    try:
        text = message() if callable(message) else message
    except Exception as exc:  # raised by the caller's function; stored in the Future
        return exc
    return TimeoutError("Timeout" if text is None else text)


def wall_time(loop: asyncio.AbstractEventLoop) -> float:
    """Return the current time on the clock that deadlines use: that of `time.time`.

    A loop with its own clock, such as one of `VirtualClock`, has a method ``wall_time``
    that is used instead.

    >>> loop = asyncio.new_event_loop()
    >>> abs(wall_time(loop) - time.time()) < 1
    True
    >>> loop.close()
    """
    clock: Callable[[], float] = getattr(loop, "wall_time", time.time)
    return clock()


def seconds_from_now(timeout: Deadline, loop: asyncio.AbstractEventLoop) -> float:
    """Return how long it is until a deadline.

    Raises:
        TypeError: timeout has another type.

    >>> loop = asyncio.new_event_loop()
    >>> seconds_from_now(datetime.timedelta(minutes=1), loop), seconds_from_now(0, loop)
    (60.0, 0.0)
    >>> loop.close()
    """
    if isinstance(timeout, datetime.timedelta):
        return timeout.total_seconds()
    if isinstance(timeout, (int, float)):
        return max(0.0, timeout - wall_time(loop))
    raise TypeError(
        f"Unsupported deadline {timeout!r}; give a datetime.timedelta from now, or a "
        "deadline in seconds on the clock of time.time()"
    )


class WaitIterator:
    """Iterates over the results of several Futures in the order in which they finish.

    An error is raised at the ``yield`` that receives it, and the iteration can continue;
    with ``async for`` it ends there.  A Future passed twice is returned twice.

    Args:
        futures: Futures, by position *or* by name.

    Attributes:
        current_index: Index (or name) of the Future returned last.
        current_future: That Future.

    Raises:
        TypeError: a list or dict was passed in place of its Futures.
        ValueError: Futures were passed both by position and by name.

    >>> async def main():
    ...     slow, quick = sleep(0.01), sleep(0.001)
    ...     iterator = WaitIterator(slow=slow, quick=quick)
    ...     async for _ in iterator:
    ...         print(iterator.current_index)
    >>> asyncio.run(main())
    quick
    slow
    """

    def __init__(self, *futures: AnyFuture[Any], **named: AnyFuture[Any]) -> None:
        self._unfinished: dict[Future[Any], int | str] = {}
        # Further places of Futures that were passed several times, in order.
        self._repeated: dict[Future[Any], collections.deque[int | str]] = {}
        self._finished: collections.deque[Future[Any]] = collections.deque()
        self._running: Callable[[], NextResult | None] = _nothing
        self._arrivals = _Arrivals(self)
        # What was passed, if it had to be converted to a Future.
        self._given: dict[Future[Any], AnyFuture[Any]] = {}
        self.current_index: int | str | None = None
        self.current_future: AnyFuture[Any] | None = None
        if futures and named:
            raise ValueError("pass Futures by position or by name, not both")
        for given in futures or named.values():
            if isinstance(given, (list, dict)) or is_many(given):
                raise TypeError(
                    f"WaitIterator got a {type(given).__name__}; pass the Futures "
                    "themselves: WaitIterator(*futures), or by name"
                )
        converted = {
            given: as_spared_future(given) for given in futures or named.values()
        }
        for place, given in named.items() if named else enumerate(futures):
            self._add(place, given, converted[given])

    def _add(
        self, place: int | str, given: AnyFuture[Any], future: "Future[Any]"
    ) -> None:
        if future in self._unfinished:
            self._repeated.setdefault(future, collections.deque()).append(place)
        else:
            self._unfinished[future] = place
            if given is not future:
                self._given[future] = given
        future_add_done_callback(future, self._arrivals)

    def done(self) -> bool:
        """Return True if every result has been returned."""
        if self._unfinished:
            return False
        self.current_index = self.current_future = None
        return True

    def next(self) -> "Future[Any]":
        """Return a Future for the next result.

        It replaces the previous one if that is not done yet.

        Raises:
            GencoroError: no results are left.
        """
        if not self._unfinished:
            raise GencoroError("WaitIterator has no results left; check done() first")
        running = NextResult(self, loop=current_loop())
        self._running = weakref.ref(running)
        if self._finished:
            self._hand_over(self._finished.popleft(), running)
        return running

    def close(self) -> None:
        """End the iteration, and cancel the Future that `next` has returned last.

        The Futures that have not been returned are left alone.  This happens by itself when
        the iterator is no longer used; ``with`` does it too.
        """
        running = self._running()
        if running is not None:
            running.cancel()
        self._arrivals.leave(self._unfinished)
        for left in (self._unfinished, self._repeated, self._finished, self._given):
            left.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Perhaps on the thread of another loop.
        pending = [future for future in self._unfinished if not future.done()]
        for loop in {future.get_loop() for future in pending}:
            if asyncio._get_running_loop() is loop:
                self._arrivals.leave(pending)
            else:
                with contextlib.suppress(RuntimeError):  # it is closed
                    loop.call_soon_threadsafe(self._arrivals.leave, pending)

    def _one_done(self, future: "Future[Any]") -> None:
        running = self._running()
        if running is not None and not running.done():
            self._hand_over(future, running)
        else:
            self._finished.append(future)

    def _hand_over(self, future: "Future[Any]", running: "NextResult") -> None:
        copy_outcome(future, running)
        running.let_go()
        self.current_index = place = self._unfinished.pop(future)
        running._take_back = lambda _: self._take_back(future, place)
        self.current_future = self._given.get(future, future)
        if future in self._repeated:
            self._repeat(future)
        elif self._given:
            self._given.pop(future, None)

    def _repeat(self, future: "Future[Any]") -> None:
        places = self._repeated[future]
        self._unfinished[future] = places.popleft()
        if not places:
            del self._repeated[future]

    def _take_back(self, future: "Future[Any]", place: int | str) -> None:
        if future in self._unfinished:
            later = self._repeated.setdefault(future, collections.deque())
            later.appendleft(self._unfinished[future])
        self._unfinished[future] = place
        self.current_index = self.current_future = None
        self._finished.appendleft(future)
        running = self._running()
        if running is not None and not running.done():
            self._hand_over(self._finished.popleft(), running)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    def __anext__(self) -> "Future[Any]":
        if self.done():
            raise StopAsyncIteration
        return self.next()


def _nothing() -> None:
    """What stands for the Future of a WaitIterator that has returned none."""


class _Arrivals:
    """The callback on the Futures of a WaitIterator, which may live longer than that.

    Attributes:
        awaited: What `WaitIterator.next` returned, while anything waits for it.  Only this
            keeps the iterator.
    """

    __slots__ = ("_iterator", "awaited")

    def __init__(self, iterator: WaitIterator) -> None:
        self._iterator = weakref.ref(iterator)
        self.awaited: NextResult | None = None

    def __call__(self, future: "Future[Any]") -> None:
        iterator = self._iterator()
        if iterator is not None:
            iterator._one_done(future)

    def leave(self, futures: "Iterable[Future[Any]]") -> None:
        for future in futures:
            if not future.done():
                future.remove_done_callback(self)


class NextResult(HandedOver[Any]):
    """The Future of the next result of a WaitIterator.

    Attributes:
        iterator: The iterator; None when it is done.
    """

    def __init__(self, iterator: WaitIterator, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.iterator: WaitIterator | None = iterator

    def add_done_callback(self, fn: Any, *, context: Any = None) -> None:
        super().add_done_callback(fn, context=context)
        # A log waits for nothing.
        if self.iterator is not None and type(fn) is not _LateErrors:
            self.iterator._arrivals.awaited = self

    def remove_done_callback(self, fn: Any, /) -> int:
        count = super().remove_done_callback(fn)
        if self.iterator is not None and not self._callbacks:
            self.iterator._arrivals.awaited = None
        return count

    def cancel(self, msg: Any = None) -> bool:
        self.let_go()
        return super().cancel(msg)

    def let_go(self) -> None:
        if self.iterator is not None:
            self.iterator._arrivals.awaited = None
            self.iterator = None


OUR_FUTURES.add(NextResult)
