"""Native coroutines of today's Tornado, called like the functions that they used to be.

Those functions started when they were called, and legacy code may drop their result; a
coroutine that is not awaited never runs.

Rule: a call from an ``async def`` returns the coroutine itself, to be awaited.  For any
other caller it is started.
"""

import asyncio
import contextvars
import functools
import inspect
import sys
from collections.abc import Callable, Coroutine, Generator
from types import CoroutineType
from typing import Any, TypeVar

from tornado.ioloop import IOLoop

from gencoro.coroutines import coroutine
from gencoro.legacy.active_contexts import NOTHING, held
from gencoro.legacy.native import EnteringCoroutine
from gencoro.yieldables import held_tasks

__all__ = ["Started", "is_for_await", "raise_within_contexts", "starting"]

T = TypeVar("T")

# The code flags of an `async def`.
_NATIVE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_for_await() -> bool:
    """Return True if our caller's caller awaits a coroutine that has not started."""
    if asyncio._get_running_loop() is None:
        return True
    # Only an `async def` awaits what it calls; older code expects the call to have begun.
    return bool(sys._getframe(2).f_code.co_flags & _NATIVE)


def starting(original: Callable[..., Any]) -> Callable[..., Any]:
    """Run a native coroutine up to its first wait, since the caller may drop its result."""

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = original(*args, **kwargs)
        return call if is_for_await() else _begun(call)

    return wrapper


@coroutine
def _begun(call: Coroutine[Any, Any, T]) -> "Generator[Any, Any, T]":
    return (yield from call.__await__())


class Started(asyncio.Future[T]):
    """A native coroutine that has been started.

    It can be yielded, awaited, or passed to code that expects a Future or a coroutine.  An
    error that can no longer be retrieved is passed to ``on_lost``.

    Args:
        coroutine: It runs inside the current StackContexts.
        on_lost: Called with an error that was never retrieved, in a later turn and inside
            the current contexts.  None leaves the error to asyncio, which logs it.
    """

    # Runs the coroutine; None after its end.  The loop's tasks must not include this object
    # itself: it looks like a coroutine, and asyncio.wait refuses coroutines.
    _task: asyncio.Task[T] | None = None

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, T],
        on_lost: Callable[[BaseException], object] | None = None,
    ) -> None:
        self._io_loop = IOLoop.current()
        self._called_in = contextvars.copy_context()
        if held().contexts[0] and isinstance(coroutine, CoroutineType):
            coroutine = EnteringCoroutine(coroutine)
        loop: asyncio.AbstractEventLoop = self._io_loop.asyncio_loop  # type: ignore[attr-defined]
        super().__init__(loop=loop)
        self._on_lost = on_lost
        self._task = loop.create_task(coroutine)
        tasks = held_tasks(loop)
        tasks.add(self._task)
        self._task.add_done_callback(tasks.discard)
        self._task.add_done_callback(self._take_outcome)

    def _take_outcome(self, task: asyncio.Task[T]) -> None:
        self._task = None
        if task.cancelled():
            super().cancel()
        elif (error := task.exception()) is not None:
            self.set_exception(error)
        else:
            self.set_result(task.result())

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the coroutine, as `asyncio.Task.cancel` does."""
        if self._task is not None:
            return self._task.cancel(msg)
        return super().cancel(msg)

    def __del__(self) -> None:
        if (
            self._on_lost is not None
            and self._log_traceback  # asyncio's flag: the error was not retrieved
            and not self.get_loop().is_closed()
        ):
            # Retrieving the error keeps asyncio from logging it.
            self._called_in.run(
                self._io_loop.add_callback, self._on_lost, self.exception()
            )
        super().__del__()

    # A coroutine's methods, which create_task() requires.
    def send(self, value: Any) -> Any:
        return self._steps().send(value)

    def throw(self, *error: Any) -> Any:
        return self._steps().throw(*error)

    def close(self) -> None:
        self._steps().close()

    def _steps(self) -> "Generator[Any, Any, T]":
        if not hasattr(self, "_awaiting"):
            self._awaiting = self.__await__()
        return self._awaiting


Coroutine.register(Started)


def raise_within_contexts() -> Callable[[BaseException], object] | None:
    """Return a function that raises an error; None outside of all stack contexts."""
    return None if held() is NOTHING else _raise


def _raise(error: BaseException) -> None:
    try:
        raise error
    finally:
        del error  # The runner's rule 3.
