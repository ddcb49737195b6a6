"""IOLoop timers, and the sleep that replaces each.

Rule: the deadline must certainly count from now.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
from typing import NamedTuple

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.patched_names import is_swapped, may_be_fake
from gencoro.porting.source.imports import reference_to_gen

__all__ = ["Pause", "Wait", "has_comment", "wait_of"]

_NEXT_TURN = "tornado.ioloop.IOLoop.add_callback"

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


class Wait(NamedTuple):
    """What a coroutine yields to wait as long as a callback of the loop does.

    Attributes:
        text: Such as ``gen.sleep(1)``.
        imports: What the module needs.
    """

    text: str
    imports: tuple[str, ...]


def wait_of(
    program: Program, function: Function, method: ast.expr, deadline: ast.expr | None
) -> Wait | None:
    """Return a sleep, or a moment for what is called in the next turn of the loop.

    Args:
        function: The coroutine that waits.
        deadline: That of a timer; None if there is none.
    """
    gen = reference_to_gen(function)
    names = {thing.name for thing in function.module.things(method)}
    if not gen.text or any(is_swapped(program, name) for name in names):
        return None
    if may_be_fake(program, method):
        return None
    if deadline is None:
        is_next = names == {_NEXT_TURN}
        return Wait(f"{gen.text}.moment", gen.imports) if is_next else None
    found = _pause(function.module, method, deadline)
    if found is None:
        return None
    text = ast.unparse(found.node)
    if found.is_timedelta:
        text += ".total_seconds()"
    return Wait(f"{gen.text}.sleep({text})", gen.imports)


def has_comment(module: Module, call: ast.Call) -> bool:
    """Return whether there may be a comment inside a call, which a wait would not have."""
    lines = module.source.splitlines()[call.lineno - 1 : call.end_lineno]
    return any(b"#" in line for line in lines[:-1])


def _pause(module: Module, method: ast.expr, deadline: ast.expr) -> Pause | None:
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
