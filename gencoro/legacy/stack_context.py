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
from gencoro.legacy.contexts import (
    Context,
    ExceptionStackContext,
    NullContext,
    StackContext,
    chain,
    on_first_context,
    without_deactivated,
)
from gencoro.legacy.current import (
    NO_CONTEXTS,
    NOTHING,
    Contexts,
    current_contexts,
    held,
    hold,
    hold_again,
    hold_nothing,
    put_back,
    state,
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
    """Call a function within these contexts and no others.

    The StackContexts are entered, from the outermost on; if one of them cannot be, the
    function is not called, and the error goes to the contexts outside of that one.

    Returns what the function returns, or None if an error was consumed.
    """
    holding = hold(contexts)
    try:
        if contexts[1] is None:
            return function()
        return _Call(contexts).run(function)
    finally:
        put_back(holding)


def step_within(contexts: Contexts, step: Callable[[], None]) -> Exception | None:
    """Call one step of a coroutine within its contexts, which are held already.

    The coroutine must not hang.  If a context cannot be entered and a handler takes that
    error, the step is made all the same.

    Returns the error for which the step was not made; None if it was.
    """
    is_made = False

    def make() -> None:
        nonlocal is_made
        is_made = True
        step()

    try:
        _Call(contexts).run(make)
    except Exception as exc:  # of a context that could not be entered, or left
        if not is_made:
            return cast(Exception, without_our_frames(exc))
        app_log.exception("Exception in %r", step)
    if not is_made:
        step()
    return None


class _Call:
    """One call within contexts: what was entered for it, and the error it ends with."""

    def __init__(self, contexts: Contexts) -> None:
        self.stack, self.head = contexts
        self.began_at = Context.deactivations
        self.entered: list[StackContext] = []

    def run(self, function: Callable[[], T]) -> T | None:
        """Enter, call, and leave."""
        try:
            result = self._enter_and_call(function)
        except BaseException as exc:  # whatever it is, the handlers decide
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
        """Leave the StackContexts; return the error of one that did not let us."""
        while self.entered:
            context = self.entered.pop()
            try:
                context.exit(None, None, None)
            except BaseException as exc:
                self.head = context.old_contexts[1]
                return without_our_frames(exc)
        return None

    def _unwind(self, error: BaseException | None) -> BaseException | None:
        """Offer an error to the chain, leaving what was entered; return what is left."""
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
            except BaseException as exc:  # it takes the place of the error
                error = without_our_frames(exc)
            finally:
                del exc_info
        if self.entered:  # deactivated since, and not in the chain any more
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
    """Tie a function to the contexts of now: it will run within these and no others.

    Also where there are none.  Returns what is tied already, and None, as it is.
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
    """Call a function, most often a coroutine, within a context.

    A coroutine must not yield in a ``with`` block of a stack context; it may yield what
    this returns.
    """
    with context:
        return func()


class _ContextHook:
    """What contexts do for loops."""

    def run(self, callback: Callable[[], T]) -> T | None:
        holding = held()
        if holding is NOTHING:
            return callback()
        # Its function, for the loop has bound its arguments to it.
        if hasattr(getattr(callback, "func", callback), "_wrapped"):
            return callback()
        # Whatever their thread: whoever has scheduled the callback has brought them here.
        return run_within(without_deactivated(holding.contexts), callback)

    def without_carried(self, function: Callable[..., T], *args: Any) -> T:
        if held().is_of_this_thread():
            return function(*args)
        return self.without(function, *args)

    def wrap(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        return handler if held() is NOTHING else wrap(handler)

    def without(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        before = hold_nothing()
        try:
            return function(*args, **kwargs)
        finally:
            hold_again(before)


on_first_context(lambda: context_hook.install(_ContextHook()))
