"""Futures, which are asyncio's own, and functions that work with them.

Rule: a Future belongs to one loop and is used on that loop's thread only.  The result of
another thread (a `concurrent.futures.Future`) enters through `from_concurrent` only.

The names and their meanings are those of `tornado.concurrent`.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any, TypeAlias, TypeGuard, TypeVar

from gencoro.frames import Standing, frames_in, is_ours, name_of, standing_of

__all__ = [
    "ASYNCIO_FUTURES",
    "ASYNCIO_TASKS",
    "FUTURES",
    "OUR_FUTURES",
    "AnyFuture",
    "CoroutineFuture",
    "Future",
    "ToldFuture",
    "app_log",
    "chain_future",
    "copy_outcome",
    "current_loop",
    "from_concurrent",
    "future_add_done_callback",
    "future_set_exc_info",
    "future_set_exception_unless_cancelled",
    "future_set_result_unless_cancelled",
    "is_future",
    "of_other_thread",
    "storable",
    "without_our_frame",
    "without_our_frames",
    "without_our_two_frames",
]

T = TypeVar("T")

Future = asyncio.Future

FUTURES = (concurrent.futures.Future, Future)

# asyncio has each class twice, in C and in Python.  A program may replace the former by
# the latter at any time, as nest_asyncio does, so that there are objects of both.  Only for
# code that must not touch an object: all other code asks `asyncio.isfuture`.
#
# Not by an import of _asyncio, which breaks asyncio if it comes first.
_in_c: Any = sys.modules.get("_asyncio", asyncio)
ASYNCIO_FUTURES: tuple[type[Future[Any]], ...] = (
    _in_c.Future,
    asyncio.futures._PyFuture,  # type: ignore[attr-defined]
)
ASYNCIO_TASKS: tuple[type[asyncio.Task[Any]], ...] = (
    _in_c.Task,
    asyncio.tasks._PyTask,  # type: ignore[attr-defined]
)

AnyFuture: TypeAlias = asyncio.Future[T] | concurrent.futures.Future[T]

# Tornado's application logger, by name: the logging configuration of a Tornado program
# and ExpectLog in its tests then apply to our records too.
app_log = logging.getLogger("tornado.application")


# The functions of asyncio that want a native coroutine, and whose error shows what they got.
WANT_COROUTINE = {
    asyncio.Runner.run.__code__,
    asyncio.BaseEventLoop.create_task.__code__,
}

# What their error then says too.
STARTED = (
    ", the Future of a coroutine that has started already; yield or await it, or run the "
    "coroutine's function with IOLoop.current().run_sync(function)"
)


class CoroutineFuture(Future[T]):
    """The Future that a coroutine returns; cancelling it cancels the coroutine.

    While the coroutine is suspended, its Future refers to its Runner, and so keeps the
    coroutine alive.
    """

    # Unset until needed: most coroutines never suspend or fail, and an __init__ would
    # cost each of them more than the rest of the wrapper.
    __slots__ = ("_name", "_runner")

    # A `gencoro.runner.Runner` while the coroutine is suspended.
    _runner: Any

    # The coroutine's name, once it has failed.
    _name: str

    # Set in debug mode only: "file:line" of the call.
    called_at: str

    # Whether `cancel` leaves the coroutine alone, as in Tornado: true for legacy ones.
    is_cancelled_alone = False

    def __repr__(self) -> str:
        kind = type(self).__name__
        state = super().__repr__().removeprefix(f"<{kind} ")
        call = f" called at {self.called_at}," if hasattr(self, "called_at") else ""
        text = f"<{kind}{self._of_whom()}{call} {state}"
        # asyncio's own error has our repr in it, and no other place for a hint.
        caller = sys._getframe().f_back
        return text + STARTED if caller and caller.f_code in WANT_COROUTINE else text

    def _of_whom(self) -> str:
        """Return the coroutine's name, if it is suspended or has failed."""
        runner = getattr(self, "_runner", None)
        name = getattr(self, "_name", "") if runner is None else name_of(runner.gen)
        return f" of {name}()" if name else ""

    def cancel(self, msg: Any = None) -> bool:
        """Ask the coroutine to stop, as `asyncio.Task.cancel` does.

        What the coroutine waits for is cancelled, and CancelledError is raised at its
        ``yield``; the Future ends cancelled if the coroutine lets that error out.

        Returns False if the coroutine has ended already.
        """
        runner = getattr(self, "_runner", None)
        if runner is None:
            return super().cancel(msg)
        cancelled: bool = runner.cancel(msg)
        return cancelled

    # For the call graph of Python 3.14 only: on older versions, code checks for this
    # method to recognize a Task, and would be misled.
    if hasattr(asyncio, "capture_call_graph"):

        def get_coro(self) -> Standing | None:
            """Return the frames for asyncio's call graph; None if it has ended."""
            runner = getattr(self, "_runner", None)
            return None if runner is None else standing_of(frames_in(runner))


class ToldFuture(Future[T]):
    """A Future with a description for `gencoro.introspect`.

    Attributes:
        told: The description, a few words.
        awaited: The Futures that have to be done before it.
    """

    __slots__ = ("awaited", "told")

    def __init__(
        self,
        told: str,
        awaited: "list[Future[Any]]",
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(loop=loop)
        self.told = told
        self.awaited = awaited


# Types of Futures that need no conversion.  `convert_yielded` returns them unchanged too,
# but calling it takes longer than the rest of a step.
OUR_FUTURES: set[type] = {CoroutineFuture, ToldFuture}


def is_future(x: object) -> TypeGuard[AnyFuture[Any]]:
    """Return True if x is a Future of asyncio or of `concurrent.futures`.

    >>> is_future(concurrent.futures.Future()), is_future(42)
    (True, False)
    """
    return isinstance(x, FUTURES) or asyncio.isfuture(x)


def _no_loop_of_program() -> asyncio.AbstractEventLoop | None:
    """Return None: without `gencoro.compat` a thread has a loop of its own, or none."""
    return None


# With compat: the program's loop, on another thread that has none, as until Tornado 4.  A
# coroutine begins on the thread then, and goes on on the loop.  Always read as an attribute of
# this module.
loop_of_program = _no_loop_of_program


def current_loop() -> asyncio.AbstractEventLoop:
    """Return the current loop; on the main thread, create one if there is none.

    asyncio did the same until Python 3.13.  Programs that call coroutines, or functions such
    as `gencoro.gen.sleep`, before they start the loop need it.

    Raises:
        RuntimeError: there is none on another thread.
    """
    running = asyncio._get_running_loop()
    if running is not None:
        return running
    with warnings.catch_warnings():
        # Python 3.12 and 3.13 warn that a loop is created.
        warnings.filterwarnings("ignore", "There is no current event loop")
        try:
            return asyncio.get_event_loop()
        except RuntimeError:
            given = loop_of_program()
            if given is not None:
                return given
            if (
                sys.version_info < (3, 14)
                or threading.current_thread() is not threading.main_thread()
            ):
                raise
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop


def future_set_result_unless_cancelled(future: AnyFuture[T], value: T) -> None:
    """Set the result, or discard it if the Future was cancelled.

    Raises:
        asyncio.InvalidStateError: the Future already has a result or an error.

    >>> loop = asyncio.new_event_loop()
    >>> future = loop.create_future()
    >>> future.cancel()
    True
    >>> future_set_result_unless_cancelled(future, 42)
    >>> loop.close()
    """
    if not future.cancelled():
        future.set_result(value)


def future_set_exception_unless_cancelled(
    future: AnyFuture[Any], exc: BaseException
) -> None:
    """Set the error, or log it if the Future was cancelled, so that it is not lost.

    Raises:
        asyncio.InvalidStateError: the Future already has a result or an error.

    >>> loop = asyncio.new_event_loop()
    >>> future = loop.create_future()
    >>> future_set_exception_unless_cancelled(future, KeyError("k"))
    >>> future.exception()
    KeyError('k')
    >>> loop.close()
    """
    if future.cancelled():
        app_log.error("Exception after Future was cancelled", exc_info=exc)
    else:
        future.set_exception(storable(exc))


def future_set_exc_info(
    future: AnyFuture[Any],
    exc_info: tuple[
        type[BaseException] | None, BaseException | None, TracebackType | None
    ],
) -> None:
    """Set the error of a ``sys.exc_info()`` tuple, as Tornado 4's Future did.

    Raises:
        ValueError: the tuple holds no exception.

    >>> loop = asyncio.new_event_loop()
    >>> future = loop.create_future()
    >>> future_set_exc_info(future, (KeyError, KeyError("k"), None))
    >>> future.exception()
    KeyError('k')
    >>> loop.close()
    """
    if exc_info[1] is None:
        raise ValueError("future_set_exc_info needs an exception; exc_info holds none")
    future_set_exception_unless_cancelled(future, exc_info[1])


def future_add_done_callback(
    future: AnyFuture[T], callback: Callable[..., object]
) -> None:
    """Call ``callback(future)`` when the Future is done: at once if it already is.

    `asyncio.Future.add_done_callback` would wait for the next turn of the loop.

    >>> future = concurrent.futures.Future()
    >>> future.set_result(42)
    >>> future_add_done_callback(future, lambda done: print(done.result()))
    42
    """
    if future.done():
        callback(future)
    else:
        future.add_done_callback(callback)


def chain_future(source: AnyFuture[T], target: AnyFuture[T]) -> None:
    """Copy the outcome of one Future to another, unless that is done by then.

    The outcome is a result, an error or a cancellation.  That of a done asyncio Future is
    copied at once; that of a `concurrent.futures.Future` in a later turn of the loop.

    >>> loop = asyncio.new_event_loop()
    >>> source, target = loop.create_future(), loop.create_future()
    >>> source.set_result(42)
    >>> chain_future(source, target)
    >>> target.result()
    42
    >>> loop.close()
    """
    if isinstance(source, concurrent.futures.Future):
        loop = target.get_loop() if asyncio.isfuture(target) else current_loop()
        source = of_other_thread(source, loop)

    def copy(done: AnyFuture[T]) -> None:
        copy_outcome(done, target)

    future_add_done_callback(source, copy)
    if asyncio.isfuture(target) and not target.done():
        # A source may live longer than all its targets, and must not keep them.
        target.add_done_callback(lambda _: source.remove_done_callback(copy))


def from_concurrent(
    future: concurrent.futures.Future[T],
) -> asyncio.Future[T]:
    """Return an asyncio Future with the outcome of an executor's.

    If the executor's Future is done, so is the returned one: this takes no turn of the
    loop.  Cancelling the returned Future cancels the job if it has not started.

    >>> loop = asyncio.new_event_loop()
    >>> asyncio.set_event_loop(loop)
    >>> job = concurrent.futures.Future()
    >>> job.set_result(42)
    >>> from_concurrent(job).result()
    42
    >>> loop.close()
    """
    if not future.done():
        return of_other_thread(future, current_loop())
    result: asyncio.Future[T] = Future(loop=current_loop())
    copy_outcome(future, result)
    return result


def of_other_thread(
    job: concurrent.futures.Future[T], loop: asyncio.AbstractEventLoop
) -> asyncio.Future[T]:
    """Return a Future that gets the outcome of an executor's in a later turn.

    As `asyncio.wrap_future`, which until Python 3.12.1 waits forever for a job that raises
    StopIteration (cpython#112182).
    """
    if sys.version_info >= (3, 13):
        return asyncio.wrap_future(job, loop=loop)
    result: asyncio.Future[T] = loop.create_future()

    def deliver(done: concurrent.futures.Future[T]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(copy_outcome, done, result)

    def cancel_job(result: asyncio.Future[T]) -> None:
        if result.cancelled():
            job.cancel()

    result.add_done_callback(cancel_job)
    job.add_done_callback(deliver)
    return result


def without_our_frame(exc: BaseException) -> BaseException:
    """Remove the frame that has just caught an error from its traceback.

    This leaves the frames of the user's code, and keeps our frame, which holds the error
    in a local variable, out of a reference cycle.
    """
    traceback = exc.__traceback__
    return exc.with_traceback(traceback and traceback.tb_next)


def without_our_two_frames(exc: BaseException, second: CodeType) -> BaseException:
    """Remove the frame that has just caught an error, and one of this code if it is next."""
    traceback = without_our_frame(exc).__traceback__
    if traceback is not None and traceback.tb_frame.f_code is second:
        return without_our_frame(exc)
    return exc


def without_our_frames(exc: BaseException) -> BaseException:
    """Remove all frames before the user's code from an error's traceback."""
    traceback = exc.__traceback__
    while traceback is not None and is_ours(traceback.tb_frame):
        traceback = traceback.tb_next
    return exc.with_traceback(traceback)


def storable(error: BaseException) -> BaseException:
    """Return an error that a Future can hold: wrap StopIteration in a RuntimeError.

    A StopIteration would look like the successful end of the waiting generator.
    """
    if not isinstance(error, StopIteration):
        return error
    stored = RuntimeError(f"a Future cannot raise {error!r}")
    stored.__cause__ = error
    return stored


def copy_outcome(source: AnyFuture[T], target: AnyFuture[T]) -> None:
    """Copy the outcome of a done Future to another, unless that is done too."""
    if target.done():
        return
    if source.cancelled():
        if not target.cancel():  # a running job of an executor cannot be cancelled
            target.set_exception(concurrent.futures.CancelledError())
        return
    exc = source.exception()
    if exc is None:
        target.set_result(source.result())
    else:
        target.set_exception(storable(exc))
