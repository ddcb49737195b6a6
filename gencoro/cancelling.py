"""Cancelling what a coroutine waits for, however deep and entangled that is.

Rule: the innermost first, each one once, and no recursion.  Coroutines and lists form
chains that are longer than the stack is deep, are shared, and may wait in a circle.

What takes part (a Runner, the Future of a list) has three methods: ``_waits_for`` gives the
Futures that it waits for, ``_ask_to_end`` tells it the answer of these, and
``_break_circle`` ends its wait at once.
"""

from collections.abc import Iterator
from typing import Any

__all__ = ["cancel"]


class _Visit:
    """One that takes part, while those that it waits for are asked."""

    def __init__(self, node: Any) -> None:
        self.inner: Iterator[Any] = iter(node._waits_for())
        # Whether one of them lets itself be cancelled.
        self.accepted = False


def cancel(root: Any, msg: Any) -> bool:
    """Ask all that a Runner or a list waits for to end, and then itself.

    Returns whether that is going to happen.
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
    """Return who takes part in the place of a Future, if anybody does."""
    runner = getattr(future, "_runner", None)
    if runner is not None:
        return runner
    return future if hasattr(future, "_ask_to_end") else None
