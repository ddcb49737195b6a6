"""`asyncio.current_task` inside a generator coroutine, which has no Task.

Rule: a Task that runs comes first.  Otherwise the coroutine on the stack is found there, so
that no step of a coroutine costs more.
"""

import asyncio
import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from gencoro.coroutines import coroutine
from gencoro.frames import name_of
from gencoro.runner import STEP, runner_of

__all__ = ["CoroutineTask", "with_coroutines"]

# The code of a coroutine's call, which takes the first step.
_CALL = coroutine(int).__code__

_tasks: "weakref.WeakKeyDictionary[asyncio.Future[Any], CoroutineTask]"
_tasks = weakref.WeakKeyDictionary()


def with_coroutines(original: Callable[..., Any]) -> Callable[..., Any]:
    """Have `asyncio.current_task` return the coroutine that runs, if no Task does."""

    @functools.wraps(original)
    def current_task(loop: asyncio.AbstractEventLoop | None = None) -> Any:
        task = original(loop)
        if task is not None or loop not in (None, asyncio._get_running_loop()):
            return task
        future = _running(sys._getframe(1))
        if future is None:
            return None
        if future not in _tasks:
            _tasks[future] = CoroutineTask(weakref.proxy(future))
        return _tasks[future]

    return current_task


def _running(frame: FrameType | None) -> "asyncio.Future[Any] | None":
    """Return the Future of the innermost coroutine on the stack."""
    while frame is not None:
        if frame.f_code is STEP:
            future: Any = frame.f_locals["self"].result_future
            return future  # type: ignore[no-any-return]
        if frame.f_code is _CALL:
            return frame.f_locals["future"]  # type: ignore[no-any-return]
        frame = frame.f_back
    return None


class CoroutineTask:
    """The Future of a coroutine, with the methods of `asyncio.Task`.

    Args:
        future: The Future, or a proxy of it.
    """

    def __init__(self, future: "asyncio.Future[Any]") -> None:
        self._future = future
        self._cancels = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._future, name)

    def cancel(self, msg: Any = None) -> bool:
        """Ask the coroutine to stop: CancelledError is raised at its next ``yield``."""
        self._cancels += 1
        runner = runner_of(self._future)
        if runner is None:
            asyncio.get_running_loop().call_soon(self._cancel_begun, msg)
            return not self._future.done()
        return runner.cancel(msg)

    def _cancel_begun(self, msg: Any) -> None:
        runner = runner_of(self._future)
        if runner is not None:
            runner.cancel(msg)

    def cancelling(self) -> int:
        """Return how many calls of ``cancel`` have not been taken back."""
        return self._cancels

    def uncancel(self) -> int:
        """Take back one call of ``cancel``; return how many are left."""
        self._cancels = max(0, self._cancels - 1)
        return self._cancels

    def get_name(self) -> str:
        """Return the name of the coroutine."""
        runner = runner_of(self._future)
        return "coroutine" if runner is None else name_of(runner.gen)

    def get_coro(self) -> Any:
        """Return the generator; None before its first ``yield``."""
        runner = runner_of(self._future)
        return None if runner is None else runner.gen
