"""asyncio's Tasks under the names of `gen`, as a reference for cancelling.

``@coroutine`` makes a call of an ``async def`` a Task that starts at the call, as Tasks
can from Python 3.12 on; ``await taken(x)`` stands for ``yield x`` of a generator.  Functions
that do not depend on coroutines are gencoro's own.
"""

import asyncio
import concurrent.futures
import functools
import logging
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from gencoro.gen import (
    chain_future,
    convert_yielded,
    future_set_result_unless_cancelled,
    moment,
    sleep,
    with_timeout,
)

__all__ = [
    "chain_future",
    "coroutine",
    "future_set_result_unless_cancelled",
    "moment",
    "multi",
    "sleep",
    "taken",
    "with_timeout",
]

_held: set["asyncio.Task[Any]"] = set()

app_log = logging.getLogger("tornado.application")


def coroutine(function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    @functools.wraps(function)
    def start(*args: Any) -> "asyncio.Task[Any]":
        return _started(function(*args))

    return start


if sys.version_info >= (3, 12):

    def _started(body: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        loop = asyncio.get_running_loop()
        return asyncio.Task(body, loop=loop, eager_start=True)

else:

    def _started(body: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        loop = asyncio.get_running_loop()
        caller = asyncio.current_task()
        if caller is not None:
            asyncio.tasks._leave_task(loop, caller)
        try:
            return _EagerTask(body, loop=loop)
        finally:
            if caller is not None:
                asyncio.tasks._enter_task(loop, caller)

    class _EagerTask(asyncio.tasks._PyTask):
        """asyncio's Task, of the kind that is written in Python, and with a step more."""

        def __init__(self, body: Any, *, loop: Any) -> None:
            super().__init__(body, loop=loop)
            loop._ready.pop()
            self._context.run(self._Task__step)

        def _Task__wakeup(self, future: Any) -> None:
            # Other than asyncio's, not within an except clause: as in C, errors of the
            # body are not chained to what it waited for.
            error = None
            try:
                future.result()
            except BaseException as exc:
                error = exc
            self._Task__step(error)

    # It is no subclass of asyncio.Future, which is written in C.
    convert_yielded.register(_EagerTask, lambda task: task)


def taken(yielded: Any) -> Any:
    """Return what to await for a value that a generator would yield."""
    if yielded is None or yielded is moment:
        return asyncio.sleep(0)
    return _future_of(yielded)


def multi(children: Any) -> "asyncio.Future[Any]":
    if isinstance(children, dict):
        return _All(list(children), list(children.values()))
    return _All(None, children)


class _All(asyncio.tasks._GatheringFuture):
    """What a list is in Tornado: all of it is waited for, then the first error is raised.

    How it is cancelled is gather's own code.  That it ends cancelled in any case, with
    the message of the cancel, has an entry in the table of differences.
    """

    def __init__(self, keys: list[Any] | None, children: list[Any]) -> None:
        futures = list(map(_future_of, children))
        super().__init__(futures, loop=asyncio.get_running_loop())
        self.keys = keys
        self.unchecked = futures.copy()
        self.check()

    def cancel(self, msg: Any = None) -> bool:
        was_cancelled = super().cancel(msg)
        if was_cancelled:
            self.message = msg
        return was_cancelled

    def check(self, _done: Any = None) -> None:
        # In the same turns of the loop as a list is.
        while self.unchecked:
            child = self.unchecked.pop()
            if not child.done():
                child.add_done_callback(self.check)
                return
        self.settle()

    def settle(self) -> None:
        if self._cancel_requested:
            asyncio.Future.cancel(self, self.message)
        values = []
        for child in self._children:
            try:
                values.append(child.result())
            except BaseException as error:
                self.fail(error)
        if not self.done():
            whole = values if self.keys is None else dict(zip(self.keys, values))
            self.set_result(whole)

    def fail(self, error: BaseException) -> None:
        if not self.done():
            self.set_exception(error)
        elif not isinstance(error, asyncio.CancelledError):
            app_log.error("Multiple exceptions in yield list", exc_info=error)


def _future_of(yielded: Any) -> "asyncio.Future[Any]":
    if asyncio.isfuture(yielded):
        return yielded
    if isinstance(yielded, (list, dict)):
        return multi(yielded)
    if asyncio.iscoroutine(yielded):
        task = asyncio.create_task(yielded)
        _held.add(task)  # asyncio does not.
        task.add_done_callback(_held.discard)
        return task
    if isinstance(yielded, concurrent.futures.Future) and not yielded.done():
        return asyncio.wrap_future(yielded)
    # What is done already costs no turn of the loop.
    future = asyncio.get_running_loop().create_future()
    if yielded is None or yielded is moment:
        future.set_result(None)
    else:
        asyncio.futures._copy_future_state(yielded, future)
    return future
