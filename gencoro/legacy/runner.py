"""The Runner of coroutines that yield YieldPoints, or that run inside stack contexts.

Rule: any error of a YieldPoint or a callback is raised at the ``yield``.

See `gencoro.legacy.become` for how a Runner turns into one of these.
"""

import asyncio
import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from gencoro.errors import (
    KeyReuseError,
    LeakedCallbackError,
    StackContextInconsistentError,
    UnknownKeyError,
)
from gencoro.frames import name_of
from gencoro.futures import Future, ToldFuture, storable, without_our_frames
from gencoro.ioloop import IOLoop
from gencoro.legacy.adaptors import argument_adapter
from gencoro.legacy.contexts import (
    ExceptionStackContext,
    without_deactivated,
)
from gencoro.legacy.current import Contexts, Held, held, hold
from gencoro.legacy.stack_context import step_within
from gencoro.legacy.yieldpoints import (
    MultiYieldPoint,
    YieldPoint,
    awaited_in,
    contains_yieldpoint,
    told,
)
from gencoro.runner import Runner

__all__ = ["Legacy", "LegacyRunner"]

T = TypeVar("T")


class Legacy:
    """What a LegacyRunner keeps, beside what every Runner does."""

    __slots__ = (
        "errors",
        "holding",
        "pending_callbacks",
        "results",
        "unstarted",
        "yield_point",
    )

    def __init__(self, holding: Held) -> None:
        # The contexts of the body.
        self.holding = holding
        # Brings the errors of callbacks to the body; None until the first YieldPoint.
        self.errors: ExceptionStackContext | None = None
        self.pending_callbacks: set[Hashable] | None = None
        self.results: dict[Hashable, Any] | None = None
        # The first one, until the loop has started it.
        self.unstarted: YieldPoint | None = None
        self.yield_point: YieldPoint | None = None


class LegacyRunner(Runner[T]):
    """A Runner that drives YieldPoints and keeps its body's stack contexts.

    Attributes:
        pending_callbacks: The keys of callbacks whose results were not taken; None
            before the first.
        results: What came for them, by key; None before the first.
        yield_point: What is waited for, if that is a YieldPoint.
    """

    __slots__ = ()

    legacy: Legacy

    @property
    def pending_callbacks(self) -> set[Hashable] | None:
        return self.legacy.pending_callbacks

    @property
    def results(self) -> dict[Hashable, Any] | None:
        return self.legacy.results

    @property
    def yield_point(self) -> YieldPoint | None:
        return self.legacy.yield_point

    @property
    def io_loop(self) -> IOLoop:
        """The current IOLoop."""
        return IOLoop.current()

    def register_callback(self, key: Hashable) -> None:
        """Expect a result for a key.

        Raises:
            KeyReuseError: one is expected already.
        """
        legacy = self.legacy
        if legacy.pending_callbacks is None:
            legacy.pending_callbacks = set()
            legacy.results = {}
        if key in legacy.pending_callbacks:
            raise KeyReuseError(
                f"key {key!r} is pending already; wait for its first callback, or use "
                "another key"
            )
        legacy.pending_callbacks.add(key)

    def is_ready(self, key: Hashable) -> bool:
        """Return whether the result for a key is there.

        Raises:
            UnknownKeyError: none is expected.
        """
        self._refuse_unknown(key)
        return key in (self.legacy.results or ())

    def set_result(self, key: Hashable, result: Any) -> None:
        """Take the result for a key; if that was missing, the body goes on at once."""
        legacy = self.legacy
        if legacy.results is None:
            self._refuse_unknown(key)
        else:
            legacy.results[key] = result
        if legacy.yield_point is None or self.future is None or self.future.done():
            return
        if self._try(legacy.yield_point, self.future):
            legacy.yield_point = None
            self.context.run(self)

    def pop_result(self, key: Hashable) -> Any:
        """Return the result for a key, which may be used again then.

        Raises:
            UnknownKeyError: none is expected, or none has come.
        """
        self._refuse_unknown(key)
        legacy = self.legacy
        assert legacy.results is not None and legacy.pending_callbacks is not None
        if key not in legacy.results:
            raise UnknownKeyError(f"there is no result for key {key!r} yet")
        legacy.pending_callbacks.remove(key)
        return legacy.results.pop(key)

    def result_callback(self, key: Hashable) -> Callable[..., None]:
        """Return a callback that gives what it is called with to `set_result`."""
        callback = argument_adapter(functools.partial(self.set_result, key))
        # The body goes on within its own contexts, wherever it is called.
        callback._wrapped = True  # type: ignore[attr-defined]
        return callback

    def _refuse_unknown(self, key: Hashable) -> None:
        if key not in (self.legacy.pending_callbacks or set()):
            raise UnknownKeyError(
                f"key {key!r} is not pending; yield gen.Callback({key!r}) first, and wait "
                "for it once"
            )

    def handle_yield(self, yielded: Any) -> bool:
        """Wait for what the generator yielded, a YieldPoint or anything else."""
        legacy = self.legacy
        legacy.yield_point = legacy.unstarted = None
        if held() is not legacy.holding:
            yielded = _failed(_inconsistent(), self.loop)
        try:
            if contains_yieldpoint(yielded):
                yielded = MultiYieldPoint(yielded)
        except BaseException as exc:  # what a converter raises is for the body
            yielded = _failed(exc, self.loop)
        if isinstance(yielded, YieldPoint):
            if legacy.errors is None:
                return self._start_later(yielded)
            future = self._future_of(yielded)
            self._start(yielded, future)
            yielded = future
            del future
        try:
            return super().handle_yield(yielded)
        finally:
            del yielded  # The runner's rule 3.

    def _start_later(self, yield_point: YieldPoint) -> bool:
        """Start the first YieldPoint, in the next turn of the loop.

        From then on the errors of what the body has scheduled are raised in the body.
        """
        try:
            self.context.run(self._bring_errors_to_body)
        except RuntimeError:  # it is entered already, unless somebody drives us by hand
            self._bring_errors_to_body()
        super().handle_yield(self._future_of(yield_point))
        self.legacy.unstarted = yield_point
        self.loop.call_soon(self._within, self._start_first, context=self.context)
        return False

    def _start_first(self) -> None:
        yield_point, self.legacy.unstarted = self.legacy.unstarted, None
        future = self.future
        if (
            yield_point is None or future is None or future.done()
        ):  # cancelled meanwhile
            return
        try:
            future.remove_done_callback(self)
            self.future = None
            self._start(yield_point, future)
            self.future = future
            if not future.done():
                future.add_done_callback(self, context=self.context)
        finally:
            del future, yield_point  # The runner's rule 3.
        self.run()

    def _bring_errors_to_body(self) -> None:
        self.legacy.errors = ExceptionStackContext(self.handle_exception)
        self.legacy.holding = self.legacy.errors.enter_for_good()

    def _future_of(self, yield_point: YieldPoint) -> "Future[Any]":
        return ToldFuture(told(yield_point), awaited_in(yield_point), self.loop)

    def _start(self, yield_point: YieldPoint, future: "Future[Any]") -> None:
        """Start a YieldPoint; make its Future done if it is ready."""
        try:
            yield_point.start(self)
            if not self._try(yield_point, future):
                self.legacy.yield_point = yield_point
        except BaseException as exc:  # the user's code
            _fail(future, exc)
        finally:
            del future, yield_point  # The runner's rule 3.

    def _try(self, yield_point: YieldPoint, future: "Future[Any]") -> bool:
        """Take a YieldPoint's result if it is ready; return whether it is."""
        try:
            if not yield_point.is_ready():
                return False
            future.remove_done_callback(self)  # who sets it goes on himself
            future.set_result(yield_point.get_result())
        except BaseException as exc:  # the user's code
            future.remove_done_callback(self)
            _fail(future, exc)
        finally:
            del future, yield_point  # The runner's rule 3.
        return True

    def run(self, _done: Any = None) -> None:
        """Resume the generator, which is within its stack contexts already."""
        del _done
        if self.future is None or not self.future.done():
            return
        self.legacy.yield_point = None
        super().run()

    def __call__(self, _done: Any = None) -> None:
        """Resume the generator within its stack contexts; the loop calls this."""
        del _done
        self._within(self.run)

    def _within(self, step: Callable[[], None]) -> None:
        """Make a step within the body's StackContexts."""
        contexts = self._contexts()
        if not contexts[0]:
            step()
            return
        error = step_within(contexts, step)
        if error is not None:
            self._wait_for_error(error)
            self.run()

    def _contexts(self) -> Contexts:
        """Return the body's contexts without those that were deactivated meanwhile."""
        legacy = self.legacy
        contexts = without_deactivated(legacy.holding.contexts)
        if contexts is not legacy.holding.contexts and held() is legacy.holding:
            legacy.holding = hold(contexts).for_good()
        return contexts

    def _waits_for(self) -> "list[Future[Any]]":
        legacy = self.legacy
        yield_point = legacy.yield_point or legacy.unstarted
        return awaited_in(yield_point) + super()._waits_for()

    def _end_with_value(self, value: T) -> None:
        legacy = self.legacy
        if legacy.pending_callbacks and not self.had_exception:
            keys = ", ".join(sorted(map(repr, legacy.pending_callbacks)))
            leaked = LeakedCallbackError(
                f"{name_of(self.gen)} ended without waiting for the callbacks {keys}; "
                "yield gen.Wait(key) for each"
            )
            self._end_with_error(leaked)
        else:
            super()._end_with_value(value)

    def _end(self) -> "Future[T]":
        legacy = self.legacy
        legacy.yield_point = legacy.unstarted = None
        if legacy.errors is not None:
            legacy.errors.retire()
        return super()._end()


def _failed(error: BaseException, loop: asyncio.AbstractEventLoop) -> "Future[Any]":
    future: Future[Any] = Future(loop=loop)
    _fail(future, error)
    return future


def _fail(future: "Future[Any]", error: BaseException) -> None:
    """Give a Future the error that we have caught, or made."""
    future.set_exception(storable(without_our_frames(error)))


def _inconsistent() -> StackContextInconsistentError:
    return StackContextInconsistentError(
        'a coroutine has yielded within a "with" block of a stack context, which would '
        "be in force for whatever runs meanwhile; enter it around the call of another "
        "coroutine, and yield that: stack_context.run_with_stack_context(context, f)"
    )
