"""Running functions inside stack contexts: `tornado.stack_context` on context
variables.

Whatever a program schedules inside a stack context later runs inside it again: a
`StackContext` is entered again around it, and its errors go to the handler of an
`ExceptionStackContext`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast, overload

from gencoro import context_hook
from gencoro.errors import StackContextInconsistentError
from gencoro.futures import app_log, without_our_frames
from gencoro.legacy.active_contexts import (
    NO_CONTEXTS,
    NOTHING,
    Contexts,
    current_contexts,
    held,
    hold,
    restore,
    set_held,
    state,
)
from gencoro.legacy.contexts import (
    Context,
    ExceptionStackContext,
    NullContext,
    StackContext,
    chain,
    on_first_context,
    without_deactivated,
)

__all__ = [
    "ExceptionStackContext",
    "NullContext",
    "StackContext",
    "StackContextInconsistentError",
    "run_with_stack_context",
    "run_within",
    "step_within",
    "wrap",
]

T = TypeVar("T")

_state = state


def run_within(contexts: Contexts, function: Callable[[], T]) -> T | None:
    """Call a function inside these contexts and no others.

    The StackContexts are entered, outermost first.  If one of them fails to enter, the
    function is not called, and the error goes to the contexts outside of that one.

    Returns the function's result, or None if an error was consumed.
    """
    holding = hold(contexts)
    try:
        if contexts[1] is None:
            return function()
        return _Call(contexts).run(function)
    finally:
        restore(holding)


def step_within(contexts: Contexts, step: Callable[[], None]) -> Exception | None:
    """Call one step of a coroutine inside its contexts, which are current already.

    The coroutine must not hang: if a context fails to enter and a handler consumes that
    error, the step runs nevertheless.

    Returns the error that prevented the step; None if it ran.
    """
    is_made = False

    def make() -> None:
        nonlocal is_made
        is_made = True
        step()

    try:
        _Call(contexts).run(make)
    except Exception as exc:  # a context failed to enter or to exit
        if not is_made:
            return cast(Exception, without_our_frames(exc))
        app_log.exception("Exception in %r", step)
    if not is_made:
        step()
    return None


class _Call:
    """One call inside contexts: enters them, and handles the call's error."""

    def __init__(self, contexts: Contexts) -> None:
        self.stack, self.head = contexts
        self.began_at = Context.deactivations
        self.entered: list[StackContext] = []

    def run(self, function: Callable[[], T]) -> T | None:
        """Enter the contexts, call the function, and exit them."""
        try:
            result = self._enter_and_call(function)
        except BaseException as exc:  # the handlers decide about any error
            error: BaseException | None = without_our_frames(exc)
            result = None
        else:
            error = self._leave()
            if error is None:
                return result
        error = self._unwind(error)
        try:
            if error is not None:
                raise error
            return result
        finally:
            del error, function  # The runner's rule 3.

    def _enter_and_call(self, function: Callable[[], T]) -> T:
        for context in self.stack:
            try:
                context.enter()
            except BaseException:
                self.head = context.old_contexts[1]
                raise
            self.entered.append(context)
        return function()

    def _leave(self) -> BaseException | None:
        """Exit the StackContexts; return the error of one that fails to exit."""
        while self.entered:
            context = self.entered.pop()
            try:
                context.exit(None, None, None)
            except BaseException as exc:
                self.head = context.old_contexts[1]
                return without_our_frames(exc)
        return None

    def _unwind(self, error: BaseException | None) -> BaseException | None:
        """Pass an error through the chain, exiting contexts; return it if not consumed."""
        for context in chain(self.head):
            exc_info: Any = (None, None, None)
            if error is not None:
                exc_info = (type(error), error, error.__traceback__)
            try:
                if isinstance(context, StackContext):
                    if context in self.entered:
                        self.entered.remove(context)
                        context.exit(*exc_info)
                elif self._counts(context) and context.exit(*exc_info):
                    error = None
            except BaseException as exc:  # it replaces the error
                error = without_our_frames(exc)
            finally:
                del exc_info
        if self.entered:  # deactivated meanwhile, and no longer in the chain
            left = self._leave()
            error = left if error is None else error
        return error

    def _counts(self, context: Context) -> bool:
        return context.active or context.deactivated_at > self.began_at


@overload
def wrap(fn: None) -> None: ...


@overload
def wrap(fn: Callable[..., T]) -> Callable[..., T | None]: ...


def wrap(fn: Callable[..., T] | None) -> Callable[..., T | None] | None:
    """Bind a function to the current contexts: it will run inside these and no others.

    This holds outside of all contexts too.  A bound function and None are returned
    unchanged.
    """
    if fn is None or hasattr(fn, "_wrapped"):
        return fn
    contexts = current_contexts()

    def wrapped(*args: Any, **kwargs: Any) -> T | None:
        nonlocal contexts
        if held() is NOTHING and contexts is NO_CONTEXTS:
            return fn(*args, **kwargs)
        contexts = without_deactivated(contexts)
        return run_within(contexts, lambda: fn(*args, **kwargs))

    wrapped._wrapped = True  # type: ignore[attr-defined]
    return wrapped


def run_with_stack_context(
    context: AbstractContextManager[Any], func: Callable[[], T]
) -> T:
    """Call a function, usually a coroutine, inside a context.

    A coroutine must not yield in a ``with`` block of a stack context; it can yield the
    result of this function instead.
    """
    with context:
        return func()


class _ContextHook:
    """The hook for the loop's callbacks; see `gencoro.context_hook.ContextHook`."""

    def run(self, callback: Callable[[], T]) -> T | None:
        holding = held()
        if holding is NOTHING:
            return callback()
        # The loop has made a `functools.partial` of the callback and its arguments.
        if hasattr(getattr(callback, "func", callback), "_wrapped"):
            return callback()
        # Contexts of any thread count: they are those in which it was scheduled.
        return run_within(without_deactivated(holding.contexts), callback)

    def without_carried(self, function: Callable[..., T], *args: Any) -> T:
        if held().is_of_this_thread():
            return function(*args)
        return self.without(function, *args)

    def wrap(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        return handler if held() is NOTHING else wrap(handler)

    def without(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        before = held()
        set_held(NOTHING)
        try:
            return function(*args, **kwargs)
        finally:
            set_held(before)


def _install_hook() -> None:
    context_hook.hook = _ContextHook()


on_first_context(_install_hook)
