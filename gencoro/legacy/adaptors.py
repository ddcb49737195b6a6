"""Adapters from callbacks to Futures: `gen.Task`, `gen.Arguments`, `return_future`."""

import functools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from tornado.util import ArgReplacer

from gencoro.errors import ReturnValueIgnoredError
from gencoro.frames import name_of
from gencoro.futures import without_our_frames
from gencoro.legacy.futures import LegacyFuture
from gencoro.legacy.stack_context import ExceptionStackContext, wrap

__all__ = [
    "Arguments",
    "Task",
    "argument_adapter",
    "return_future",
    "returning_future",
    "start_task",
]


class Arguments(NamedTuple):
    """The arguments of a callback that was called with more than one value."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def argument_adapter(callback: Callable[[Any], object]) -> Callable[..., None]:
    """Return a callback that takes any arguments and passes on one value.

    The value is None, the only argument, or `Arguments`.

    >>> argument_adapter(print)()
    None
    >>> argument_adapter(print)(1, b=2)
    Arguments(args=(1,), kwargs={'b': 2})
    """

    def adapted(*args: Any, **kwargs: Any) -> None:
        if kwargs or len(args) > 1:
            callback(Arguments(args, kwargs))
        else:
            callback(args[0] if args else None)

    return adapted


# Replaces a Future that is done, so that it is not kept alive.
_DONE: LegacyFuture[Any] = LegacyFuture()
_DONE.set_result(None)


class _Call:
    """One call of a callback-style function, and its Future."""

    def __init__(self, future: LegacyFuture[Any]) -> None:
        self.future = future

    def make(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call the function; errors of callbacks that it schedules fail the Future."""
        context = ExceptionStackContext(self._handle)
        # Weakly, since the context refers to this object.
        self._context = weakref.ref(context)
        try:
            with context:
                func(*args, **kwargs)
        finally:
            del self, context  # The runner's rule 3.

    def _handle(
        self, _typ: type[BaseException], value: BaseException, _tb: object
    ) -> bool:
        if self.future.done():
            return False
        self._retire()
        self.future.set_exception(without_our_frames(value))
        return True

    def _retire(self) -> None:
        """Leave later errors to the outer contexts."""
        context = self._context()
        if context is not None:
            context.retire()


class _TaskCall(_Call):
    def set_result(self, result: Any) -> None:
        """The callback for the function, which may call it more than once."""
        if not self.future.done():
            self._retire()
            self.future.set_result(result)
            self.future = _DONE

    def _handle(
        self, typ: type[BaseException], value: BaseException, tb: object
    ) -> bool:
        is_ours = super()._handle(typ, value, tb)
        # The error's frames may refer to the callback, and so to this object.
        self.future = _DONE if is_ours else self.future
        return is_ours


def Task(func: Callable[..., object], *args: Any, **kwargs: Any) -> LegacyFuture[Any]:
    """Call a callback-style function; return a Future of the callback's argument.

    The function gets a keyword argument ``callback`` and is called at once.  The Future
    fails with any error of the function, or of callbacks that it has scheduled.  Only the
    first call of the callback counts.

    >>> from gencoro import gen
    >>> def add(a, b, callback):
    ...     callback(a + b)
    >>> Task(add, 40, 2).result()
    42
    """
    return start_task(LegacyFuture(), func, args, kwargs)


def start_task(
    future: LegacyFuture[Any],
    func: Callable[..., object],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> LegacyFuture[Any]:
    """Do what `Task` does, with this Future; return it."""
    call = _TaskCall(future)
    callback = argument_adapter(call.set_result)
    try:
        call.make(lambda: func(*args, callback=callback, **kwargs))
        return future
    finally:
        del future  # The runner's rule 3.


# The result of a callback that was called without an argument.
_NO_RESULT = object()


class _ReturnFutureCall(_Call):
    was_called_bare = False

    # An error of the function itself while it propagates to the caller.
    _error: BaseException | None = None

    def make(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        def call() -> None:
            try:
                _refuse_result(func, func(*args, **kwargs))
            except BaseException as exc:
                self._error = exc
                raise

        try:
            super().make(call)
        finally:
            self._error = None

    def _handle(
        self, typ: type[BaseException], value: BaseException, tb: object
    ) -> bool:
        return value is not self._error and super()._handle(typ, value, tb)

    def set_result(self, value: Any = _NO_RESULT) -> None:
        """The callback for the function: takes a value, or no argument."""
        self.was_called_bare = value is _NO_RESULT
        self._retire()
        if not self.future.cancelled():
            self.future.set_result(None if self.was_called_bare else value)

    def pass_result_to(self, callback: Callable[..., object]) -> None:
        """Call the caller's callback with the function's result."""

        def pass_result(done: LegacyFuture[Any]) -> None:
            if done.cancelled():
                return
            result = done.result()
            if self.was_called_bare:
                callback()
            else:
                callback(result)

        self.future.add_done_callback(wrap(pass_result))


def return_future(f: Callable[..., object]) -> Callable[..., LegacyFuture[Any]]:
    """Make a callback-style function return a Future of the callback's argument.

    The caller may still pass a callback, by position or by name, which is called with the
    result.  An error of the function itself is raised to the caller; an error of callbacks
    that the function has scheduled fails the Future.

    Raises:
        ReturnValueIgnoredError: from the call, if the function returns a value.

    >>> @return_future
    ... def add(a, b, callback):
    ...     callback(a + b)
    >>> add(40, 2).result()
    42
    """
    return returning_future(LegacyFuture, f)


def returning_future(
    new_future: Callable[[], LegacyFuture[Any]], f: Callable[..., object]
) -> Callable[..., LegacyFuture[Any]]:
    """Do what `return_future` does, with Futures made by ``new_future``."""
    replacer = ArgReplacer(f, "callback")

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> LegacyFuture[Any]:
        call = _ReturnFutureCall(new_future())
        callback, places, kwargs = replacer.replace(call.set_result, args, kwargs)
        call.make(f, *places, **kwargs)
        if callback is not None:
            call.pass_result_to(callback)
        return call.future

    return wrapper


def _refuse_result(f: Callable[..., object], result: object) -> None:
    if result is not None:
        raise ReturnValueIgnoredError(
            f"{name_of(f)} is decorated with @return_future and returned {result!r}, "
            "which would be lost; pass it to callback"
        )
