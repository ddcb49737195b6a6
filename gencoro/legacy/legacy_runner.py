"""The Runner of coroutines that yield YieldPoints, or that run inside stack contexts.

Rule: any error of a YieldPoint or a callback is raised at the ``yield``.

See `gencoro.legacy.upgrade_runner` for how a Runner turns into one of these.
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
from gencoro.legacy.active_contexts import Contexts, HeldContexts, held, hold
from gencoro.legacy.adaptors import argument_adapter
from gencoro.legacy.contexts import (
    ExceptionStackContext,
    without_deactivated,
)
from gencoro.legacy.stack_context import step_within
from gencoro.legacy.yieldpoints import (
    MultiYieldPoint,
    YieldPoint,
    awaited_in,
    contains_yieldpoint,
    describe,
)
from gencoro.runner import Runner

__all__ = ["Legacy", "LegacyRunner"]

T = TypeVar("T")


class Legacy:
    """The state of a LegacyRunner that other Runners do not have."""

    __slots__ = (
        "errors",
        "holding",
        "pending_callbacks",
        "results",
        "unstarted",
        "yield_point",
    )

    def __init__(self, holding: HeldContexts) -> None:
        # The contexts of the body.
        self.holding = holding
        # Raises the errors of callbacks in the body; None until the first YieldPoint.
        self.errors: ExceptionStackContext | None = None
        self.pending_callbacks: set[Hashable] | None = None
        self.results: dict[Hashable, Any] | None = None
        # The first YieldPoint, until the loop has started it.
        self.unstarted: YieldPoint | None = None
        self.yield_point: YieldPoint | None = None


class LegacyRunner(Runner[T]):
    """A Runner that drives YieldPoints and runs its body inside stack contexts.

    Attributes:
        pending_callbacks: The keys of callbacks whose results were not yet popped; None
            before the first.
        results: The results that have arrived, by key; None before the first callback.
        yield_point: The YieldPoint that is waited for, if any.
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
        """Register a key for which a result will arrive.

        Raises:
            KeyReuseError: the key is pending already.
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
        """Return True if the result for a key has arrived.

        Raises:
            UnknownKeyError: the key is not pending.
        """
        self._refuse_unknown(key)
        return key in (self.legacy.results or ())

    def set_result(self, key: Hashable, result: Any) -> None:
        """Store the result for a key; resume the body at once if it waits for that."""
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
        """Return the result for a key, and free the key for reuse.

        Raises:
            UnknownKeyError: the key is not pending, or its result has not arrived.
        """
        self._refuse_unknown(key)
        legacy = self.legacy
        assert legacy.results is not None and legacy.pending_callbacks is not None
        if key not in legacy.results:
            raise UnknownKeyError(f"there is no result for key {key!r} yet")
        legacy.pending_callbacks.remove(key)
        return legacy.results.pop(key)

    def result_callback(self, key: Hashable) -> Callable[..., None]:
        """Return a callback that passes its argument to `set_result`."""
        callback = argument_adapter(functools.partial(self.set_result, key))
        # The body resumes in its own contexts, wherever the callback is called.
        callback._wrapped = True  # type: ignore[attr-defined]
        return callback

    def _refuse_unknown(self, key: Hashable) -> None:
        if key not in (self.legacy.pending_callbacks or set()):
            raise UnknownKeyError(
                f"key {key!r} is not pending; yield gen.Callback({key!r}) first, and wait "
                "for it once"
            )

    def handle_yield(self, yielded: Any) -> bool:
        """Wait for the value that the generator yielded, a YieldPoint or any other."""
        legacy = self.legacy
        legacy.yield_point = legacy.unstarted = None
        if held() is not legacy.holding:
            yielded = _failed(_inconsistent(), self.loop)
        try:
            if contains_yieldpoint(yielded):
                yielded = MultiYieldPoint(yielded)
        except BaseException as exc:  # a converter's error is raised in the body
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
        """Start the first YieldPoint in the next turn of the loop.

        From then on, errors of callbacks that the body has scheduled are raised in it.
        """
        try:
            self.context.run(self._raise_errors_in_body)
        except RuntimeError:  # the context is entered already, unless driven by hand
            self._raise_errors_in_body()
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

    def _raise_errors_in_body(self) -> None:
        self.legacy.errors = ExceptionStackContext(self.handle_exception)
        self.legacy.holding = self.legacy.errors.enter_for_good()

    def _future_of(self, yield_point: YieldPoint) -> "Future[Any]":
        return ToldFuture(describe(yield_point), awaited_in(yield_point), self.loop)

    def _start(self, yield_point: YieldPoint, future: "Future[Any]") -> None:
        """Start a YieldPoint; complete its Future if it is ready."""
        try:
            yield_point.start(self)
            if not self._try(yield_point, future):
                self.legacy.yield_point = yield_point
        except BaseException as exc:  # the user's code
            _fail(future, exc)
        finally:
            del future, yield_point  # The runner's rule 3.

    def _try(self, yield_point: YieldPoint, future: "Future[Any]") -> bool:
        """Set a YieldPoint's result in its Future if it is ready; return whether it is."""
        try:
            if not yield_point.is_ready():
                return False
            future.remove_done_callback(self)  # the caller resumes the body itself
            future.set_result(yield_point.get_result())
        except BaseException as exc:  # the user's code
            future.remove_done_callback(self)
            _fail(future, exc)
        finally:
            del future, yield_point  # The runner's rule 3.
        return True

    def run(self, _done: Any = None) -> None:
        """Resume the generator, whose stack contexts are entered already."""
        del _done
        if self.future is None or not self.future.done():
            return
        self.legacy.yield_point = None
        super().run()

    def __call__(self, _done: Any = None) -> None:
        """Enter the stack contexts and resume the generator; the loop calls this."""
        del _done
        self._within(self.run)

    def _within(self, step: Callable[[], None]) -> None:
        """Run a step inside the body's StackContexts."""
        contexts = self._contexts()
        if not contexts[0]:
            step()
            return
        error = step_within(contexts, step)
        if error is not None:
            self._wait_for_error(error)
            self.run()

    def _contexts(self) -> Contexts:
        """Return the body's contexts without the deactivated ones."""
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
            self._let_go()
            super()._end_with_value(value)

    def _end(self) -> "Future[T]":
        self._let_go()
        return super()._end()

    def _let_go(self) -> None:
        legacy = self.legacy
        legacy.yield_point = legacy.unstarted = None
        if legacy.errors is not None:
            legacy.errors.retire()


def _failed(error: BaseException, loop: asyncio.AbstractEventLoop) -> "Future[Any]":
    future: Future[Any] = Future(loop=loop)
    _fail(future, error)
    return future


def _fail(future: "Future[Any]", error: BaseException) -> None:
    """Set the error of a Future, without our frame in its traceback."""
    future.set_exception(storable(without_our_frames(error)))


def _inconsistent() -> StackContextInconsistentError:
    return StackContextInconsistentError(
        'a coroutine yielded in a "with" block of a stack context, which would apply to '
        "everything that runs meanwhile; enter the context around the call of another "
        "coroutine, and yield that: stack_context.run_with_stack_context(context, f)"
    )
