"""The Runner: drives one generator from yield to yield until it ends.

Rule 1: the generator is never resumed from within ``set_result`` of the Future that it waits
for: the loop resumes it, in a later turn.  While `run` is running, calling it does nothing.

Rule 2: the result of a done Future is taken in place, in a loop and without recursion.

Rule 3: no local name outlives its use.  An exception's traceback holds frames, from
Python 3.12 on also those that ran the generator (as ``f_back``), and a frame that holds
the exception would keep everything until the next full GC.

Used by `gencoro.coroutines`, which has advanced the generator to its first yield, except
in debug mode: there a subclass takes the first step too (`gencoro.debugging`).
"""

import asyncio
import contextvars
import inspect
import types
from collections.abc import Generator
from types import CoroutineType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from gencoro.cancelling import cancel
from gencoro.closing import Closable, end_with
from gencoro.errors import BadYieldError, Return
from gencoro.frames import name_of
from gencoro.futures import (
    OUR_FUTURES,
    CoroutineFuture,
    Future,
    future_set_exception_unless_cancelled,
    storable,
    without_our_frame,
    without_our_two_frames,
)
from gencoro.handed_over import hand_back
from gencoro.tornado_interop import is_tornado_return
from gencoro.yieldables import (
    NeedsRunner,
    _null_future,
    as_future,
    moment,
    refuse_other_loop,
)

__all__ = [
    "ENTERED",
    "INTERRUPTS",
    "RETURNS",
    "STEP",
    "Runner",
    "call_run",
    "end_with_error",
    "runner_of",
]

T = TypeVar("T")

# How a body ends with a value.
RETURNS = (StopIteration, Return)

# An error of the body goes to the coroutine's Future; these go to the program, as with
# asyncio.Task.
INTERRUPTS = (KeyboardInterrupt, SystemExit)


class Runner(Closable, Generic[T]):
    """Runs one generator and puts its outcome into ``result_future``.

    It is created inside the coroutine's context, if one is given, and needs a running or
    current loop.  The generator is suspended at its first yield, whose value is
    ``first_yielded``.  In debug mode it has not started yet, and ``first_yielded`` is a
    done Future whose result, None, starts it.

    Attributes:
        gen: The generator.
        inner: The native coroutine of asyncio that it has entered by a ``yield``, if any.
        future: The Future it waits for; None while it runs and when it has ended.
        result_future: The Future that gets the outcome; None when it has ended.
        context: The context variables of the whole body.
        loop: The asyncio loop that resumes it.
        first_step: What took the first step of the generator, and would close it if it were
            freed; unset for most, and None when the generator has ended.
        legacy: The state of a `gencoro.legacy.legacy_runner.LegacyRunner`, into which a Runner
            may change while it waits; otherwise unset.
    """

    __slots__ = (
        "__weakref__",
        "_cancelling_with",
        "_had_exception",
        "context",
        "first_step",
        "future",
        "gen",
        "inner",
        "legacy",
        "loop",
        "result_future",
    )

    legacy: Any
    first_step: Generator[Any, Any, None] | None

    # Unset until it becomes True.
    _had_exception: bool

    def __init__(
        self,
        gen: "Generator[Any, Any, T]",
        result_future: "Future[T]",
        first_yielded: Any,
        context: contextvars.Context | None = None,
    ) -> None:
        self.gen = gen
        self.result_future: Future[T] | None = result_future
        self.context = contextvars.copy_context() if context is None else context
        self.loop = result_future.get_loop()
        self.future: Future[Any] | None = None
        self.inner: Generator[Any, Any, Any] | None = None
        # The message of a `cancel` that could not take effect at once.
        self._cancelling_with: tuple[Any] | None = None
        result_future._runner = self  # type: ignore[attr-defined]
        try:
            self.loop._gencoro_coroutines  # type: ignore[attr-defined]  # noqa: B018
        except (
            AttributeError
        ):  # once for each loop; hasattr() would cost all others more
            end_with(self.loop)
        if context is None:
            self.context.run(self._begin_by_hand, first_yielded)
        elif self.handle_yield(first_yielded):
            # These names would keep alive what the generator no longer needs.
            del gen, result_future, first_yielded
            self.run()

    def _begin_by_hand(self, first_yielded: Any) -> None:
        if self.handle_yield(first_yielded):
            self.run()

    @property
    def running(self) -> bool:
        """Whether the generator is on the stack."""
        return self.future is None and self.result_future is not None

    @property
    def had_exception(self) -> bool:
        """Whether an error was raised at a ``yield`` of the generator."""
        return hasattr(self, "_had_exception")

    @property
    def finished(self) -> bool:
        """Whether the generator has ended."""
        return self.result_future is None

    def handle_yield(self, yielded: Any) -> bool:
        """Wait for the yielded value.

        Returns True if it is done already, so that `run` can continue in place;
        otherwise the loop will call `run`.
        """
        try:
            kind = type(yielded)
            if kind is CoroutineFuture or kind is Future:
                future: Future[Any] = yielded
            elif yielded is moment:
                self.future = moment
                self.loop.call_soon(self, context=self.context)
                return False
            elif kind is CoroutineType and id(yielded.cr_code) in ENTERED:
                self.inner = _entered(self.gen, yielded)
                self.future = _null_future  # starts it
                return True
            else:
                future = yielded if kind in OUR_FUTURES else as_future(yielded)
                if future is moment:
                    return self.handle_yield(moment)
            if future.done():
                self.future = future
                return True
            if future.get_loop() is not self.loop or future is self.result_future:
                self._refuse(future)
            self.future = future
            if future._asyncio_future_blocking:
                # Set by `Future.__iter__`, which `yield from` calls, for a Task to reset.  No
                # Task will, and asyncio would refuse the next `await` of the Future.
                future._asyncio_future_blocking = False
            future.add_done_callback(self, context=self.context)
        except NeedsRunner as exc:
            return exc.start(self)
        except BadYieldError as exc:
            return self._wait_for_error(exc.with_traceback(None))
        except BaseException as exc:  # raised by a converter; the body gets it
            return self._wait_for_error(without_our_frame(exc))
        if self._cancelling_with is not None and future.cancel(*self._cancelling_with):
            self._cancelling_with = None
        return False

    def run(self, _done: "Future[Any] | None" = None) -> None:
        """Resume the generator and continue until it has to wait or ends."""
        future: Any = self.future
        # The loop calls us with the Future that we waited for, which is done: comparing
        # identities is faster than asking it.
        if future is None or not (future is _done or future.done()):
            return
        del _done
        if self._cancelling_with is not None:
            future = self._cancelled_instead_of(future)
        while True:
            self.future = None
            value, error = None, None
            try:
                value = future.result()
            except BaseException as exc:  # the body gets any error
                error = without_our_frame(exc)
            del future
            # Thrown outside of the except clause, or every later error of the body would
            # have this one as its __context__.
            try:
                if self.inner is not None:
                    yielded = self._step_inside(value, error)
                elif error is None:
                    yielded = self.gen.send(value)
                else:
                    self._had_exception = True
                    yielded = self.gen.throw(error)
            except RETURNS as stop:
                self._end_with_value(stop.value)
                return
            except INTERRUPTS as exc:
                self._end_with_interrupt(exc)
                raise
            except BaseException as exc:
                self._end_with_error(exc)
                return
            finally:
                del error, value
            if not self.handle_yield(yielded):
                return
            del yielded
            future = self.future

    def _step_inside(self, value: Any, error: BaseException | None) -> Any:
        """Resume the native coroutine that was entered, and the generator when it has ended.

        Returns what has to be waited for next.
        """
        inner, self.inner = self.inner, None
        assert inner is not None, "it is inside"
        try:
            awaited = inner.send(value) if error is None else inner.throw(error)
            self.inner = inner
            return awaited
        except StopIteration as stop:
            error, is_of_body, yielded = stop.value
        finally:
            del inner, value
        try:
            if error is None:
                return yielded
            if is_of_body:
                raise error
            self._had_exception = True
            return self.gen.throw(error)
        finally:
            del error

    # The Runner is its own callback: a bound method would be one more object per wait
    # for the garbage collector.
    __call__ = run

    def __init_subclass__(cls) -> None:
        if "run" in vars(cls) and "__call__" not in vars(cls):
            cls.__call__ = call_run  # type: ignore[method-assign]

    def cancel(self, msg: Any = None) -> bool:
        """Cancel what the generator waits for, or will wait for next.

        Returns False if it has ended already.
        """
        return not self.finished and cancel(self, msg)

    def _waits_for(self) -> "list[Future[Any]]":
        future = self.future
        return [] if future is None or future.done() else [future]

    @property
    def _spares_futures(self) -> bool:
        return getattr(self.result_future, "is_cancelled_alone", False)

    def _ask_to_end(self, msg: Any, accepted: bool) -> bool:
        if not accepted:  # what it waits for will not wake it up
            if self._spares_futures and self._waits_for():
                self._break_off(msg)
            else:
                self._cancelling_with = (msg,)
                # `asyncio.gather` reads it of its children, as Tasks have it, for the message
                # of its own CancelledError, in case the body refuses to end.
                self.result_future._cancel_message = msg  # type: ignore[union-attr]
        return True

    def _break_off(self, msg: Any) -> None:
        """End the wait for a Future that is not to be cancelled, or in a circle."""
        self._stop_waiting()
        self.future = self._cancelled(msg)
        self.loop.call_soon(self, context=self.context)

    def _stop_waiting(self) -> None:
        """Take the Runner off the Future that it waits for, which may live long."""
        assert self.future is not None, "it waits"
        if not self.future.done():
            self.future.remove_done_callback(self)

    def ending(self) -> "Future[T] | None":
        """Return a Future that is done when the generator has ended; None if it has.

        The result Future of a legacy coroutine may have been cancelled before that.
        """
        if self.result_future is not None and self.result_future.done():
            self.result_future = EndOfCoroutine(loop=self.loop)
            self.result_future._runner = self
        return self.result_future

    def handle_exception(
        self, _typ: type[BaseException], value: BaseException, _tb: Any
    ) -> bool:
        """Throw an error into the suspended generator, now.

        Returns False, and does nothing, if the generator is running or has ended.
        """
        if self.future is None:
            return False
        # It replaces a cancel that has not taken effect.
        self._cancelling_with = None
        self._stop_waiting()
        self._wait_for_error(value)
        del value, _tb
        self.context.run(self.run)
        return True

    def _refuse(self, future: "Future[Any]") -> None:
        """Raise why the generator must not wait for this Future."""
        refuse_other_loop(future, self.loop)
        raise BadYieldError(
            f"the coroutine yielded its own Future {future!r}; it would wait for itself "
            "forever"
        )

    def _wait_for_error(self, error: BaseException) -> Literal[True]:
        self.future = Future(loop=self.loop)
        self.future.set_exception(storable(error))
        return True

    def _cancelled_instead_of(self, future: "Future[Any]") -> "Future[Any]":
        """Return a cancelled Future in place of one that was done before the cancel.

        As with asyncio.Task, its error counts as retrieved; if that is a CancelledError,
        the body gets it.
        """
        assert self._cancelling_with is not None
        (message,) = self._cancelling_with
        self._cancelling_with = None
        if future.cancelled() or isinstance(future.exception(), asyncio.CancelledError):
            return future
        hand_back(future)
        return self._cancelled(message)

    def _cancelled(self, message: Any) -> "Future[Any]":
        future: Future[Any] = Future(loop=self.loop)
        future.cancel(message)
        return future

    def _end_with_value(self, value: T) -> None:
        # As `_end` does, a call of which would take a hundredth of a child that waits once.
        result_future: Any = self.result_future
        self.result_future = self.first_step = None
        result_future._runner = None
        if self._cancelling_with is not None:
            # Cancelled by itself in its last step, as asyncio.Task has it.
            result_future.cancel(*self._cancelling_with)
        else:
            try:
                result_future.set_result(value)
            except asyncio.InvalidStateError:
                if not result_future.cancelled():
                    raise

    def _end_with_error(self, error: BaseException) -> None:
        if is_tornado_return(error):
            self._end_with_value(error.value)
        else:
            end_with_error(
                self._end(),
                without_our_two_frames(error, STEP_INSIDE),
                name_of(self.gen),
            )

    def _end_with_interrupt(self, error: BaseException) -> None:
        """Store the interrupt in the Future, and count it as retrieved."""
        result_future = self._end()
        future_set_exception_unless_cancelled(
            result_future, without_our_two_frames(error, STEP_INSIDE)
        )
        if not result_future.cancelled():
            # It is on its way out of the loop: asyncio must not log it as unretrieved.
            result_future.exception()

    def _end(self) -> "Future[T]":
        """Detach the Runner from its result Future, and return the Future."""
        result_future = self.result_future
        assert result_future is not None, "a Runner ends once"
        self.result_future = self.first_step = None
        result_future._runner = None  # type: ignore[attr-defined]
        return result_future

    def __repr__(self) -> str:
        state = "ended" if self.finished else "running" if self.running else "suspended"
        return f"<Runner of {name_of(self.gen)}, {state}>"


# The code object of the original `run`, to find it on the stack even if it is patched.
STEP = Runner.run.__code__
STEP_INSIDE = Runner._step_inside.__code__


class _End(NamedTuple):
    """Why the generator no longer enters native coroutines: an error, or what it yielded."""

    error: BaseException | None
    is_of_body: bool = True
    yielded: Any = None


@types.coroutine
def _entered(
    gen: Generator[Any, Any, Any], coroutine: Any
) -> Generator[Any, Any, _End]:
    """Run native coroutines, one after the other, for the generator that yields them."""
    send = gen.send
    while type(coroutine) is CoroutineType and id(coroutine.cr_code) in ENTERED:
        is_of_body = False
        try:
            value = yield from coroutine  # type: ignore[misc]
            is_of_body = True
            coroutine = send(value)
        except BaseException as exc:  # the Runner gives it to the body, or ends
            return _End(without_our_frame(exc), is_of_body)
        value = None  # not to be kept while the next one waits
    return _End(None, yielded=coroutine)


# The coroutines of asyncio that a ``yield`` enters, as ``yield from`` would, without a Task:
# they do not ask which Task runs them, as `asyncio.timeout` does.  By identity, because code
# takes long to hash.
ENTERED = {
    id(function.__code__)
    for cls in (
        asyncio.Queue,
        asyncio.Event,
        asyncio.Lock,
        asyncio.Semaphore,
        asyncio.Condition,
        asyncio.StreamReader,
        asyncio.StreamWriter,
    )
    for function in (asyncio.sleep, *vars(cls).values())
    if inspect.iscoroutinefunction(function)
}


class EndOfCoroutine(CoroutineFuture[T]):
    """The result Future of a legacy coroutine whose own one is done."""

    __slots__ = ()
    is_cancelled_alone = True


def call_run(self: Runner[Any], _done: "Future[Any] | None" = None) -> None:
    """Call ``run`` by name: the ``__call__`` of a class that overrides it."""
    self.run()


def end_with_error(future: "Future[Any]", error: BaseException, name: str) -> None:
    """Set the error of a coroutine's Future.

    Args:
        name: The name of the coroutine, for the Future's ``repr``.
    """
    future._name = name  # type: ignore[attr-defined]
    if isinstance(error, asyncio.CancelledError):
        future.cancel(*error.args[:1])
    else:
        future_set_exception_unless_cancelled(future, error)


def runner_of(future: object) -> Runner[Any] | None:
    """Return the Runner of a suspended coroutine's Future; None for any other object.

    >>> runner_of(None)
    """
    runner: Runner[Any] | None = getattr(future, "_runner", None)
    return runner
