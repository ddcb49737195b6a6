"""Cancels everything a coroutine waits for.

Rule: innermost first, each node once, and no recursion.  Coroutines and lists form chains
longer than Python's stack, can be shared, and can wait in a circle.

A node (a Runner or the Future of a list) has three methods: ``_waits_for`` returns the
Futures that it waits for, ``_ask_to_end`` tells the node to end, and whether one of them
accepted the cancel, and ``_break_circle`` ends its wait at once.
"""

from collections.abc import Iterator
from typing import Any

__all__ = ["cancel"]


class _Visit:
    """A node whose inner Futures are being cancelled."""

    def __init__(self, node: Any) -> None:
        self.inner: Iterator[Any] = iter(node._waits_for())
        # Whether one of them accepted being cancelled.
        self.accepted = False


def cancel(root: Any, msg: Any) -> bool:
    """Cancel everything that a Runner or a list waits for, and ask the node itself to end.

    Returns whether it accepted.  A coroutine may still catch the CancelledError.
    """
    answers: dict[Any, bool] = {}
    path = {root: _Visit(root)}
    while True:
        node, visit = next(reversed(path.items()))
        inner = next(visit.inner, None)
        if inner is None:
            answer: bool = node._ask_to_end(msg, visit.accepted)
            answers[node] = answer
            del path[node]
            if not path:
                return answer
            next(reversed(path.values())).accepted |= answer
            continue
        inner_node = _node_of(inner)
        if inner_node is None:
            visit.accepted |= inner.cancel(msg)
        elif inner_node in path:
            inner_node._break_circle(msg)
            visit.accepted = True
        elif inner_node in answers:
            visit.accepted |= answers[inner_node]
        else:
            path[inner_node] = _Visit(inner_node)


def _node_of(future: Any) -> Any:
    """Return the node of a Future; None if it has none."""
    runner = getattr(future, "_runner", None)
    if runner is not None:
        return runner
    return future if hasattr(future, "_ask_to_end") else None
