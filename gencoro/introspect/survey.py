"""Finds all Runners and Futures of the process in one pass over its objects.

Nothing is registered while coroutines run, so this is how to learn that they exist, and
what will complete the Futures that they wait for.

Rule: only reads, and runs no user code.  Other threads keep running: each value is read
once, because it may be gone a line later; and an object may still be in its ``__init__``,
so that attributes are missing.
"""

import asyncio
import functools
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType
from typing import Any, TypeVar

from gencoro.futures import ASYNCIO_FUTURES, Future
from gencoro.runner import Runner
from gencoro.waiting import NextResult, TimeLimit, WaitIterator

__all__ = ["Survey", "callbacks_of", "copied", "in_cell"]

T = TypeVar("T")

# Callbacks that complete another Future, and the closure variable that holds it.
CELLS = {
    ("gencoro.futures", "chain_future.<locals>.copy"): "target",
    ("tornado.concurrent", "chain_future.<locals>.copy"): "b",
    ("tornado.gen", "multi_future.<locals>.callback"): "future",
    ("asyncio.tasks", "shield.<locals>._inner_done_callback"): "outer",
    ("asyncio.tasks", "_wait.<locals>._on_completion"): "waiter",
}

# Callbacks that complete their argument.
WAKERS = {
    ("asyncio.futures", "_set_result_unless_cancelled"),
    ("asyncio.tasks", "_release_waiter"),
}

# Where the queues and locks of Tornado and gencoro keep the Futures of their waiters.  A Lock
# of Tornado contains a Semaphore, and one of gencoro is one: it comes last, so that its name
# wins.
WAITERS = [
    ("queues", "Queue", "_getters", "Queue.get()"),
    ("queues", "Queue", "_putters", "Queue.put()"),
    ("locks", "Condition", "_waiters", "Condition.wait()"),
    ("locks", "Event", "_waiters", "Event.wait()"),
    ("locks", "Semaphore", "_waiters", "Semaphore.acquire()"),
    ("locks", "Lock", "_waiters", "Lock.acquire()"),
    ("locks", "Lock", "_block._waiters", "Lock.acquire()"),
]


class Survey:
    """The coroutines of this process, and what is known about what they wait for.

    Attributes:
        runners: The Runner of each coroutine that has not ended, by its result Future;
            includes Tornado's own coroutines.
        futures: All Futures that are not done, including Tasks.
        sources: The Futures whose outcome a Future will get.
        iterators: The WaitIterator that returned a Future.
        alarm_at: When a timer will complete a Future, on its loop's clock.
        calls: The call that returned a Future.
    """

    def __init__(self) -> None:
        self.runners: dict[Future[Any], Any] = {}
        self.futures: list[Future[Any]] = []
        self.sources: dict[Future[Any], list[Future[Any]]] = {}
        self.iterators: dict[Future[Any], WaitIterator] = {}
        self.alarm_at: dict[Future[Any], float] = {}
        self.calls: dict[Future[Any], str] = {}
        looks = list(self._looks())
        wanted = tuple(cls for cls, _ in looks)
        # Not isinstance(), which may run code of a proxy object.  Drop all other objects
        # at once: what ends in the meantime would be freed on this thread.
        found = [one for one in gc.get_objects() if issubclass(type(one), wanted)]
        for cls, look_at in looks:
            for one in found:
                if issubclass(type(one), cls):
                    look_at(one)

    def _looks(self) -> Iterator[tuple[type, Callable[[Any], None]]]:
        yield Runner, self._look_at_runner
        for cls in ASYNCIO_FUTURES:
            yield cls, self._look_at_future
        yield asyncio.TimerHandle, self._look_at_timer
        for cls in _if_imported("tornado.gen", "Runner"):
            yield cls, self._look_at_runner
        for module, name, attribute, call in WAITERS:
            for package in ("tornado", "gencoro"):
                look_at = functools.partial(
                    self._look_at_waiters, attribute, f"{package} {call}"
                )
                for cls in _if_imported(f"{package}.{module}", name):
                    yield cls, look_at

    def _look_at_runner(self, runner: Any) -> None:
        future = getattr(runner, "result_future", None)
        if future is not None:
            self.runners[future] = runner

    def _look_at_future(self, future: "Future[Any]") -> None:
        # A Future without a loop is still being created.
        if getattr(future, "_loop", None) is None or future.done():
            return
        self.futures.append(future)
        if issubclass(type(future), NextResult):
            iterator = getattr(future, "iterator", None)
            if iterator is not None:
                self.iterators[future] = iterator
        for callback in callbacks_of(future):
            target = _completed_by(callback)
            if target is not None:
                self.sources.setdefault(target, []).append(future)

    def _look_at_timer(self, timer: asyncio.TimerHandle) -> None:
        callback = getattr(timer, "_callback", None)
        due_at = getattr(timer, "_when", None)
        target = _completed_by(callback, tuple(getattr(timer, "_args", None) or ()))
        if target is not None and due_at is not None:
            self.alarm_at[target] = due_at

    def _look_at_waiters(self, attribute: str, call: str, holder: Any) -> None:
        for name in attribute.split("."):
            holder = getattr(holder, name, ())
        holder = getattr(holder, "_values", holder)
        for waiter in copied(holder):
            future = waiter[-1] if type(waiter) is tuple else waiter
            self.calls[future] = call


def callbacks_of(future: "Future[Any]") -> list[Any]:
    """Return the done-callbacks of a Future.

    >>> loop = asyncio.new_event_loop()
    >>> future = loop.create_future()
    >>> future.add_done_callback(print)
    >>> callbacks_of(future)
    [<built-in function print>]
    >>> loop.close()
    """
    pairs = getattr(future, "_callbacks", None) or ()
    return [callback for callback, _context in pairs]


def copied(things: Iterable[T]) -> list[T]:
    """Copy a collection that other threads may be changing.

    >>> copied({"tea": 1, "cake": 2}.items())
    [('tea', 1), ('cake', 2)]
    """
    while True:
        try:
            return list(things)
        except RuntimeError:  # changed during iteration
            continue


def in_cell(function: FunctionType, name: str) -> Any:
    """Return the value of a closure variable of a function, or None.

    >>> def outer(number):
    ...     return lambda: number
    >>> in_cell(outer(42), "number")
    42
    """
    for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if free == name:
            try:
                return cell.cell_contents
            except ValueError:  # not set yet
                return None
    return None


def _completed_by(
    callback: Any, arguments: tuple[Any, ...] = ()
) -> "Future[Any] | None":
    """Return the Future that a known callback completes."""
    target = None
    if type(callback) is functools.partial:
        callback, arguments = callback.func, callback.args
    if type(callback) is FunctionType:
        name = (callback.__module__, callback.__qualname__)
        if name in WAKERS:
            target = arguments[0]
        elif name in CELLS:
            target = in_cell(callback, CELLS[name])
    elif _is_method_of(callback, TimeLimit):
        target = callback.__self__
    elif _is_method_of(callback, asyncio.TaskGroup):
        target = callback.__self__._on_completed_fut
    return target if isinstance(target, ASYNCIO_FUTURES) else None


def _is_method_of(callback: Any, cls: type) -> bool:
    return type(callback) is MethodType and issubclass(type(callback.__self__), cls)


def _if_imported(module: str, name: str) -> list[type]:
    """Return a list with a class if the program has imported its module."""
    cls = getattr(sys.modules.get(module), name, None)
    return [cls] if isinstance(cls, type) else []
