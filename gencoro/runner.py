"""The Runner: drives one generator from yield to yield until it ends.

Rule 1: a Future that becomes done never enters the generator; the loop does, in a later
turn, and `run` refuses to be entered twice.

Rule 2: what is done already is taken in place, in a loop and without recursion.

Rule 3: no local name outlives its use.  An exception's traceback holds frames, from
Python 3.12 on also those that ran the generator (as ``f_back``), and a frame that holds
the exception would keep everything until the next full GC.

Used by `gencoro.coroutines`, which has advanced the generator to its first yield.
"""

import asyncio
import contextvars
from collections.abc import Generator
from typing import Any, Generic, Literal, TypeVar

from gencoro.beside_tornado import is_tornado_return
from gencoro.errors import BadYieldError, Return
from gencoro.futures import (
    Future,
    future_set_exception_unless_cancelled,
    future_set_result_unless_cancelled,
    without_our_frame,
)
from gencoro.yieldables import convert_yielded, moment, refuse_other_loop

__all__ = ["CoroutineFuture", "Runner"]

T = TypeVar("T")


class CoroutineFuture(Future[T]):
    """The Future that a coroutine returns; cancelling it cancels the coroutine.

    It knows its Runner while the coroutine is suspended, and so keeps it alive: whoever
    holds the Future holds the coroutine, and nothing else does.
    """

    # Unset until the coroutine suspends: most never do, and an __init__ would cost
    # each of them more than the rest of the wrapper.
    __slots__ = ("_runner",)
    _runner: "Runner[T] | None"

    def cancel(self, msg: Any = None) -> bool:
        """Ask the coroutine to stop, as `asyncio.Task.cancel` does.

        What the coroutine waits for is cancelled, and CancelledError is raised at its
        ``yield``; the Future ends cancelled if the coroutine lets that error out.

        Returns False if the coroutine has ended already.
        """
        runner: Runner[T] | None = getattr(self, "_runner", None)
        if runner is None:
            return super().cancel(msg)
        return runner.cancel(msg)


class Runner(Generic[T]):
    """Runs one generator and puts its outcome into ``result_future``.

    Made inside the coroutine's context and with a running or current loop; the
    generator stands at its first yield, whose value is ``first_yielded``.

    Attributes:
        future: What the generator waits for; None while it runs and when it has ended.
        running: Whether the generator is on the stack.
        finished: Whether it has ended.
    """

    __slots__ = (
        "__weakref__",
        "_cancel_message",
        "_must_cancel",
        "context",
        "finished",
        "future",
        "gen",
        "loop",
        "result_future",
        "running",
    )

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
        self.running = False
        self.finished = False
        self._must_cancel = False
        self._cancel_message: Any = None
        result_future._runner = self  # type: ignore[attr-defined]
        if self.handle_yield(first_yielded):
            # Our caller's names would keep what the generator no longer needs.
            del gen, result_future, first_yielded
            self.run()

    def handle_yield(self, yielded: Any) -> bool:
        """Wait for what the generator yielded.

        Returns True if it is done already, so that `run` may go on in place; otherwise
        the loop will call `run`.
        """
        try:
            future = self.future = self._accept(yielded)
        except BadYieldError as exc:
            return self._wait_for_error(exc.with_traceback(None))
        except (Exception, asyncio.CancelledError) as exc:
            # What a registered converter raises is for the body.
            return self._wait_for_error(without_our_frame(exc))
        if future is moment:
            self.loop.call_soon(self.run, context=self.context)
        elif future.done():
            return True
        else:
            future.add_done_callback(self.run, context=self.context)
            if self._must_cancel and future.cancel(msg=self._cancel_message):
                self._must_cancel = False
        return False

    def _wait_for_error(self, error: BaseException) -> Literal[True]:
        self.future = Future(loop=self.loop)
        self.future.set_exception(error)
        return True

    def _accept(self, yielded: Any) -> "Future[Any]":
        """Return the Future of a yielded value that this coroutine can wait for."""
        kind = type(yielded)
        if kind is CoroutineFuture or kind is Future:
            future: Future[Any] = yielded
        else:
            future = convert_yielded(yielded)
        refuse_other_loop(future, self.loop)
        if future is self.result_future:
            raise BadYieldError(
                f"the coroutine yielded its own Future {future!r}; it would wait for "
                "itself for ever"
            )
        return future

    def run(self, _done: "Future[Any] | None" = None) -> None:
        """Resume the generator and go on until it waits for something or ends."""
        del _done
        if self.running or self.finished:
            return
        self.running = True
        try:
            while self._resume():
                pass
        finally:
            self.running = False

    def _resume(self) -> bool:
        """Advance the generator by one yield; return whether it can go on at once."""
        future = self.future
        assert future is not None, "a suspended generator waits for something"
        if not future.done():
            return False
        self.future = None
        value = None
        exc: BaseException | None = None
        if self._must_cancel:
            self._must_cancel = False
            exc = self._cancelled_error()
        else:
            try:
                value = future.result()
            except BaseException as error:  # whatever the Future holds is for the body
                exc = without_our_frame(error)
        del future
        # Thrown outside of the except clause, or every later error of the body would
        # have this one as its __context__.
        try:
            if exc is None:
                yielded = self.gen.send(value)
            else:
                yielded = self.gen.throw(exc)
        except (StopIteration, Return) as stop:
            self._end_with_value(stop.value)
        except asyncio.CancelledError as cancelled:
            self._end().cancel(*cancelled.args[:1])
        except Exception as error:
            if is_tornado_return(error):
                self._end_with_value(error.value)
            else:
                self._end_with_error(without_our_frame(error))
        except BaseException as error:
            # KeyboardInterrupt and SystemExit stop the loop, and still leave a Future
            # that says what became of the coroutine.
            self._end_with_interrupt(without_our_frame(error))
            raise
        else:
            del value, exc
            return self.handle_yield(yielded)
        finally:
            exc = None
        return False

    def cancel(self, msg: Any = None) -> bool:
        """Cancel what the generator waits for, or have it cancelled at its next yield.

        Returns False if it has ended already.
        """
        if self.finished:
            return False
        # A chain of coroutines is walked down in a loop: it may be deeper than the stack.
        runner: Runner[Any] = self
        seen = {runner}
        while (inner := runner._waits_for()) is not None:
            if inner in seen:
                inner._break_circle(msg)
                return True
            seen.add(inner)
            runner = inner
        runner._cancel_own(msg)
        return True

    def _waits_for(self) -> "Runner[Any] | None":
        """Return the suspended coroutine that this one waits for, if it does."""
        if type(self.future) is CoroutineFuture:
            runner: Runner[Any] | None = getattr(self.future, "_runner", None)
            return runner
        return None

    def _cancel_own(self, msg: Any) -> None:
        future = self.future
        if (
            future is None
            or future is moment
            or future.done()
            or not future.cancel(msg=msg)
        ):
            self._must_cancel = True
            self._cancel_message = msg

    def _break_circle(self, msg: Any) -> None:
        """Be cancelled though each coroutine of a circle waits for the next of it."""
        self._cancel_message = msg
        self._wait_for_error(self._cancelled_error())
        self.loop.call_soon(self.run, context=self.context)

    def handle_exception(
        self, _typ: type[BaseException], value: BaseException, _tb: Any
    ) -> bool:
        """Throw an error into the suspended generator, now.

        Returns False, and does nothing, if the generator is running or has ended.
        """
        if self.running or self.finished:
            return False
        self._wait_for_error(value)
        self.context.run(self.run)
        return True

    def _cancelled_error(self) -> asyncio.CancelledError:
        message, self._cancel_message = self._cancel_message, None
        if message is None:
            return asyncio.CancelledError()
        return asyncio.CancelledError(message)

    def _end_with_value(self, value: T) -> None:
        if self._must_cancel:
            # Cancelled by itself in its last step, as asyncio.Task has it.
            message = self._cancel_message
            self._end().cancel(message)
        else:
            future_set_result_unless_cancelled(self._end(), value)

    def _end_with_error(self, error: BaseException) -> None:
        future_set_exception_unless_cancelled(self._end(), error)

    def _end_with_interrupt(self, error: BaseException) -> None:
        result_future = self._end()
        future_set_exception_unless_cancelled(result_future, error)
        if not result_future.cancelled():
            # It is on its way out of the loop: asyncio need not log it as unseen.
            result_future.exception()

    def _end(self) -> "Future[T]":
        """Drop every reference and return the Future that now gets its outcome."""
        result_future = self.result_future
        assert result_future is not None, "a Runner ends once"
        self.finished = True
        self.result_future = self.future = None
        result_future._runner = None  # type: ignore[attr-defined]
        return result_future

    def __repr__(self) -> str:
        state = "ended" if self.finished else "running" if self.running else "suspended"
        name = getattr(self.gen, "__qualname__", repr(self.gen))
        return f"<Runner of {name}, {state}>"
