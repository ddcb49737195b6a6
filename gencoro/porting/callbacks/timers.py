"""IOLoop timers, and the sleep that replaces each.

Rule: the deadline must certainly count from now.

Pure.  Used by other modules of `gencoro.porting.callbacks` and by
`gencoro.porting.fixers.to_coroutine.task`.
"""

import ast
from typing import NamedTuple

from gencoro.porting.callbacks.loops import has_one_loop, holds_loop
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.patched_names import is_swapped, may_be_fake
from gencoro.porting.source.imports import reference_to_gen

__all__ = ["Pause", "Wait", "wait_of"]

_LOOP = "tornado.ioloop.IOLoop"
_NEXT_TURN = f"{_LOOP}.add_callback"

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
    names = _names_of(program, function.module, method)
    if not gen.text or any(is_swapped(program, name) for name in names):
        return None
    if may_be_fake(program, method):
        return None
    if deadline is None:
        is_next = names == {_NEXT_TURN}
        return Wait(f"{gen.text}.moment", gen.imports) if is_next else None
    found = _pause(program, function.module, method, deadline)
    if found is None:
        return None
    text = function.module.text_of(found.node)
    if found.is_timedelta:
        text += ".total_seconds()"
    return Wait(f"{gen.text}.sleep({text})", gen.imports)


def _pause(
    program: Program, module: Module, method: ast.expr, deadline: ast.expr
) -> Pause | None:
    """Return for how long a timer of an IOLoop runs; None if it is not certain."""
    names = _names_of(program, module, method)
    if not names or not names <= _SLEEPS:
        return None
    if names == {"tornado.ioloop.IOLoop.call_later"}:
        return Pause(deadline, False)
    if isinstance(deadline, ast.Call) and _is_timedelta(program, module, deadline):
        return Pause(deadline, True)
    if isinstance(deadline, ast.BinOp) and isinstance(deadline.op, ast.Add):
        for now, seconds in (
            (deadline.left, deadline.right),
            (deadline.right, deadline.left),
        ):
            if _is_now(program, module, now):
                return Pause(seconds, False)
    return None


def _is_timedelta(program: Program, module: Module, call: ast.Call) -> bool:
    return library_name(program, module, call.func) == "datetime.timedelta"


def _is_now(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an expression is the time that the deadlines of a loop are in."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    is_of_loop = _names_of(program, module, node.func) == {f"{_LOOP}.time"}
    return is_of_loop or library_name(program, module, node.func) == "time.time"


def _names_of(program: Program, module: Module, method: ast.expr) -> set[str]:
    """Return the names of Tornado that a method may have.

    An attribute such as ``self.io_loop`` is the loop of a program that has one, if
    everything that is assigned to it is the current loop, unless a caller passes another.
    """
    names = {thing.name for thing in module.things(method)}
    match method:
        case ast.Attribute(value=ast.Attribute(attr=holder), attr=own):
            if not names and holds_loop(program, holder):
                return {f"{_LOOP}.{own}"} if has_one_loop(program) else set()
    return names
