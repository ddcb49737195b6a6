"""Cancels everything a coroutine waits for.

Rule: innermost first, each node once, and no recursion.  Coroutines and lists form chains
longer than Python's stack, can be shared, and can wait in a circle.

A node (a Runner, the Future of a list, or a `_TaskNode`) has three methods: ``_waits_for``
returns the Futures that it waits for; ``_ask_to_end`` is told whether any of them accepted the
cancel, and ends the node; ``_break_circle`` ends its wait at once.
"""

import asyncio
import contextlib
import dataclasses
import threading
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["cancel", "cancel_all"]


def cancel(root: Any, msg: Any) -> bool:
    """Cancel everything that a Runner or a list waits for, and ask the node itself to end.

    Returns whether it accepted.  A coroutine may still catch the CancelledError.
    """
    if _current.walk is not None:
        return _current.walk.cancel(root, msg)
    with _walk() as walk:
        return walk.cancel(root, msg)


def cancel_all(futures: "Iterable[asyncio.Future[Any]]") -> None:
    """Cancel several Futures, and what several of them wait for only once."""
    with _walk() as walk:
        for future in futures:
            walk.cancel_future(future, None)


class _Walk:
    """One walk to everything that has to be cancelled.

    Attributes:
        answers: Whether each node accepted; None for those whose inner Futures are being
            cancelled.
    """

    def __init__(self) -> None:
        self.answers: dict[Any, bool | None] = {}

    def cancel(self, root: Any, msg: Any) -> bool:
        if root in self.answers:
            return self._answer_again(root, msg)
        path = [self._visit(root)]
        while True:
            visit = path[-1]
            if not visit.inner:
                answer: bool = visit.node._ask_to_end(msg, visit.accepted)
                self.answers[visit.node] = answer
                path.pop()
                if not path:
                    return answer
                path[-1].accepted |= answer
                continue
            inner = visit.inner.pop()
            node = _node_of(inner)
            if node is None:
                visit.accepted |= inner.cancel(msg)
            elif node in self.answers:
                visit.accepted |= self._answer_again(node, msg)
            else:
                path.append(self._visit(node))

    def cancel_future(self, future: "asyncio.Future[Any]", msg: Any) -> bool:
        node = _node_of(future)
        return future.cancel(msg) if node is None else self.cancel(node, msg)

    def _visit(self, node: Any) -> "_Visit":
        self.answers[node] = None
        return _Visit(node)

    def _answer_again(self, node: Any, msg: Any) -> bool:
        answer = self.answers[node]
        if answer is None:
            node._break_circle(msg)
            return True
        return answer


class _Visit:
    """A node whose inner Futures are being cancelled."""

    __slots__ = ("accepted", "inner", "node")

    def __init__(self, node: Any) -> None:
        self.node = node
        # The first one last, so that it can be popped: an iterator for each node would
        # be one more object for the garbage collector.
        self.inner: list[Any] = node._waits_for()[::-1]
        # Whether one of them accepted being cancelled.
        self.accepted = False


class _Current(threading.local):
    """The walk of this thread; None if there is none.

    `asyncio.Task.cancel` cancels what the task waits for, and so comes back to us from
    within a walk: what has been cancelled by then only repeats its answer.
    """

    walk: _Walk | None = None


_current = _Current()


@contextlib.contextmanager
def _walk() -> Iterator[_Walk]:
    _current.walk = _Walk()
    try:
        yield _current.walk
    finally:
        _current.walk = None


@dataclasses.dataclass(frozen=True, slots=True)
class _TaskNode:
    """The Task of a native coroutine.

    `asyncio.Task.cancel` alone would recurse, for each native coroutine of a chain.
    """

    task: "asyncio.Task[Any]"

    def _waits_for(self) -> "list[asyncio.Future[Any]]":
        # The Task itself cancels what is no node, and Tasks that it waits for: asked too,
        # those would be cancelled twice.
        inner: Any = self.task
        passed = set()
        while hasattr(inner, "_fut_waiter") and inner not in passed:
            passed.add(inner)
            inner = inner._fut_waiter
        return [] if inner in passed or _node_of(inner) is None else [inner]

    def _ask_to_end(self, msg: Any, accepted: bool) -> bool:
        return self.task.cancel(msg)

    def _break_circle(self, msg: Any) -> None:
        self.task.cancel(msg)


def _node_of(future: Any) -> Any:
    """Return the node of a Future; None if it has none."""
    runner = getattr(future, "_runner", None)
    if runner is not None:
        return runner
    if hasattr(future, "_ask_to_end"):
        return future
    return _TaskNode(future) if hasattr(future, "_fut_waiter") else None
