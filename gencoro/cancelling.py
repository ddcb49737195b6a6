"""Cancels everything a coroutine waits for.

Rule: innermost first, each node once, and no recursion.  Coroutines and lists form chains
longer than Python's stack, can be shared, and can wait in a circle.

A node (a Runner, the Future of a list, or a `_TaskNode`) has three methods: ``_waits_for``
returns the Futures that it waits for; ``_ask_to_end`` ends the node, given whether any of
them accepted the cancel; ``_break_off`` ends its wait at once.

Legacy coroutines are cancelled by `end_all` only, and leave alone what is no node: programs
for old Tornado do not expect that the Futures that they will set are cancelled.
"""

import asyncio
import contextlib
import dataclasses
import threading
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

__all__ = ["cancel", "end_all"]


def cancel(root: Any, msg: Any) -> bool:
    """Cancel everything that a Runner or a list waits for, and ask the node itself to end.

    Returns whether it accepted.  A coroutine may still catch the CancelledError.
    """
    if _current.walk is not None:
        return _current.walk.cancel(root, msg)
    with _walk(ends_legacy=False) as walk:
        return walk.cancel(root, msg)


def end_all(futures: "Iterable[asyncio.Future[Any]]") -> None:
    """Cancel several Futures, and what several of them wait for only once.

    This cancels legacy coroutines too, although their Futures are cancelled alone.
    """
    with _walk(ends_legacy=True) as walk:
        for future in futures:
            walk.cancel_future(future, None)


class _Walk:
    """One walk to everything that has to be cancelled.

    Attributes:
        answers: Whether each node accepted; None for those whose inner Futures are being
            cancelled.
        ends_legacy: Whether legacy coroutines are cancelled.
    """

    def __init__(self, ends_legacy: bool) -> None:
        self.answers: dict[Any, bool | None] = {}
        self.ends_legacy = ends_legacy

    def cancel(self, root: Any, msg: Any) -> bool:
        if root in self.answers:
            return self._answer_again(root, msg)
        path = [self._visit(root, None)]
        while True:
            visit = path[-1]
            if not visit.inner:
                path.pop()
                answer = self.answers[visit.node] = visit.end(msg)
                if not path:
                    return answer
                path[-1].accepted |= answer
                path[-1].has_spared |= visit.has_spared
                continue
            inner = visit.inner.pop()
            node = _node_of(inner)
            if node is None:
                visit.cancel_inner(inner, msg)
            elif node in self.answers:
                visit.accepted |= self._answer_again(node, msg)
            else:
                path.append(self._visit(node, visit))

    def cancel_future(self, future: "asyncio.Future[Any]", msg: Any) -> bool:
        node = _node_of(future)
        return future.cancel(msg) if node is None else self.cancel(node, msg)

    def _visit(self, node: Any, outer: "_Visit | None") -> "_Visit":
        self.answers[node] = None
        return _Visit(node, outer)

    def _answer_again(self, node: Any, msg: Any) -> bool:
        answer = self.answers[node]
        if answer is None:
            node._break_off(msg)
            return True
        return answer


class _Visit:
    """A node whose inner Futures are being cancelled."""

    __slots__ = ("accepted", "has_spared", "inner", "node", "spares")

    def __init__(self, node: Any, outer: "_Visit | None") -> None:
        self.node = node
        # The first one last, so that it can be popped: an iterator for each node would
        # be one more object for the garbage collector.
        self.inner: list[Any] = node._waits_for()[::-1]
        # Whether one of them accepted being cancelled.
        self.accepted = False
        # Whether plain Futures are not cancelled, in a legacy coroutine and its lists.
        self.spares: bool = (
            outer is not None and outer.spares
            if node._spares_futures is None
            else node._spares_futures
        )
        # Whether there was such a Future: what waits for it must not wait any more.
        self.has_spared = False

    def cancel_inner(self, future: "asyncio.Future[Any]", msg: Any) -> None:
        if self.spares:
            self.has_spared = True
        else:
            self.accepted |= future.cancel(msg)

    def end(self, msg: Any) -> bool:
        if self.has_spared and self.node._spares_futures:
            self.accepted = self.has_spared = False
        answer: bool = self.node._ask_to_end(msg, self.accepted)
        return answer


class _Current(threading.local):
    """The walk of this thread; None if there is none.

    `asyncio.Task.cancel` cancels what the task waits for, and so comes back to us from
    within a walk: what has been cancelled by then only repeats its answer.
    """

    walk: _Walk | None = None


_current = _Current()


@contextlib.contextmanager
def _walk(ends_legacy: bool) -> Iterator[_Walk]:
    before = _current.walk  # which a signal handler has interrupted
    walk = _current.walk = _Walk(ends_legacy)
    try:
        yield walk
    finally:
        _current.walk = before


@dataclasses.dataclass(frozen=True, slots=True)
class _TaskNode:
    """The Task of a native coroutine.

    `asyncio.Task.cancel` alone would recurse, for each native coroutine of a chain.
    """

    task: "asyncio.Task[Any]"

    _spares_futures: ClassVar[bool] = False

    def _waits_for(self) -> "list[asyncio.Future[Any]]":
        # The Task itself cancels what is no node, and Tasks that it waits for: asked too,
        # those would be cancelled twice.
        # `_fut_waiter`, which only Tasks have, is what a Task waits for; there is no public
        # way to ask.  Tasks can wait for one another in a circle.
        inner: Any = self.task
        passed = set()
        while hasattr(inner, "_fut_waiter") and inner not in passed:
            passed.add(inner)
            inner = inner._fut_waiter
        return [] if inner in passed or _node_of(inner) is None else [inner]

    def _ask_to_end(self, msg: Any, accepted: bool) -> bool:
        return self.task.cancel(msg)

    def _break_off(self, msg: Any) -> None:
        self.task.cancel(msg)


def _node_of(future: Any) -> Any:
    """Return the node of a Future; None if it has none."""
    runner = getattr(future, "_runner", None)
    if runner is not None:
        if not runner._spares_futures:
            return runner
        assert _current.walk is not None
        return runner if _current.walk.ends_legacy else None
    if hasattr(future, "_ask_to_end"):
        return future
    return _TaskNode(future) if hasattr(future, "_fut_waiter") else None
