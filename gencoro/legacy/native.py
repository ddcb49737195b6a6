"""Native coroutines inside StackContexts, which are entered around each step.

asyncio's context variables tell a native coroutine which contexts it is in; but a
`StackContext` has to be entered again whenever the coroutine resumes.
"""

from collections.abc import Callable, Coroutine, Generator
from types import CoroutineType
from typing import Any, TypeVar

from gencoro.futures import without_our_frame
from gencoro.legacy.active_contexts import held
from gencoro.legacy.contexts import on_first_context, without_deactivated
from gencoro.legacy.stack_context import step_within
from gencoro.yieldables import convert_yielded

__all__ = ["EnteringCoroutine"]

T = TypeVar("T")


class EnteringCoroutine(Coroutine[Any, Any, T]):
    """A native coroutine that runs inside the StackContexts of its driver."""

    def __init__(self, coroutine: "CoroutineType[Any, Any, T]") -> None:
        self._coroutine = coroutine
        # asyncio and debuggers read these names.
        self.__name__ = coroutine.__name__
        self.__qualname__ = coroutine.__qualname__

    def send(self, value: Any) -> Any:
        return self._step(self._coroutine.send, value)

    def throw(self, typ: Any, value: Any = None, traceback: Any = None) -> Any:
        error = typ if isinstance(typ, BaseException) else value or typ()
        if traceback is not None:
            error = error.with_traceback(traceback)
        try:
            return self._step(self._coroutine.throw, error)
        finally:
            del typ, value, traceback, error  # The runner's rule 3.

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> "Generator[Any, Any, T]":
        return self._coroutine.__await__()

    # For asyncio's call graph and `gencoro.introspect`.
    cr_await = property(lambda self: self._coroutine.cr_await)
    cr_code = property(lambda self: self._coroutine.cr_code)
    cr_frame = property(lambda self: self._coroutine.cr_frame)
    cr_origin = property(lambda self: self._coroutine.cr_origin)
    cr_running = property(lambda self: self._coroutine.cr_running)

    def _step(self, step: Callable[[Any], Any], argument: Any) -> Any:
        """Run a step; its outcome goes to the driver and not to the contexts."""
        error: BaseException | None = None
        result: Any = None

        def make() -> None:
            nonlocal argument, error, result
            try:
                result = step(argument)
            except BaseException as exc:  # StopIteration, and any error of the body
                error = without_our_frame(exc)
            finally:
                argument = None

        not_entered = step_within(without_deactivated(held().contexts), make)
        if not_entered is not None:
            step, argument = self._coroutine.throw, not_entered
            make()
            not_entered = None
        try:
            if error is not None:
                raise error
            return result
        finally:
            error = None  # The runner's rule 3.


def _enter_stack_contexts() -> None:
    plain = convert_yielded.dispatch(CoroutineType)

    @convert_yielded.register(CoroutineType)
    def start(yielded: "CoroutineType[Any, Any, T]") -> Any:
        if held().contexts[0]:
            return plain(EnteringCoroutine(yielded))
        return plain(yielded)


on_first_context(_enter_stack_contexts)
