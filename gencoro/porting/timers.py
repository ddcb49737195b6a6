"""For how long a timer of an IOLoop runs.

Rule: the deadline must certainly count from now.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
from typing import NamedTuple

from gencoro.porting.program import Module

__all__ = ["Pause", "pause"]

_SLEEPS = frozenset(
    {"tornado.ioloop.IOLoop.add_timeout", "tornado.ioloop.IOLoop.call_later"}
)


class Pause(NamedTuple):
    """A time for which a coroutine sleeps.

    Attributes:
        node: The expression, seconds or a timedelta.
        is_timedelta: Which of the two.
    """

    node: ast.expr
    is_timedelta: bool


def pause(module: Module, method: ast.expr, deadline: ast.expr) -> Pause | None:
    """Return for how long a timer of an IOLoop runs; None if it is not certain."""
    things = module.things(method)
    names = {thing.name for thing in things}
    if not names or not names <= _SLEEPS:
        return None
    if names == {"tornado.ioloop.IOLoop.call_later"}:
        return Pause(deadline, False)
    if isinstance(deadline, ast.Call):
        text = ast.unparse(deadline.func)
        if text in ("datetime.timedelta", "timedelta"):
            return Pause(deadline, True)
    if isinstance(deadline, ast.BinOp) and isinstance(deadline.op, ast.Add):
        for now, seconds in (
            (deadline.left, deadline.right),
            (deadline.right, deadline.left),
        ):
            if ast.unparse(now) == "time.time()" or _is_time_of_loop(module, now):
                return Pause(seconds, False)
    return None


def _is_time_of_loop(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return {thing.name for thing in module.things(node.func)} == {
        "tornado.ioloop.IOLoop.time"
    }
