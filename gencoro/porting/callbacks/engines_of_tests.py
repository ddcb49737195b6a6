"""Engines inside a test, which call ``self.stop`` when they end.

Rule: the test calls the engine once and waits in the next statement, nothing else uses
either, and each path through the engine ends with the ``stop``.  The errors of an engine are
those of the test, and those of a coroutine that nothing waits for are not.

Pure.  Used by `gencoro.porting.fixers.to_coroutine.stop_and_wait`.
"""

import ast
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.control_flow import ends_each_path
from gencoro.porting.callbacks.legacy import as_coroutine
from gencoro.porting.callbacks.waits import (
    Stop,
    timeout_of,
    uses_of_wait,
)
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Program
from gencoro.porting.source.lines import have_own_lines, is_alone
from gencoro.porting.source.nodes import removed

__all__ = ["InnerEngine", "inner_engine"]

_ENGINE = "tornado.gen.engine"


class InnerEngine(NamedTuple):
    """An engine inside a test, and how it is waited for.

    Attributes:
        stop: Its call, and the wait.
        changes: What makes a coroutine of it that stops nothing.
    """

    stop: Stop
    changes: tuple[Change, ...]


def inner_engine(program: Program, test: Function) -> InnerEngine | None:
    """Return the engine that a test waits for; None if it waits for anything else."""
    module = test.module
    inner = [f for f in module.functions if f.node in test.node.body and f.is_generator]
    uses = list(uses_of_wait(test))
    waits = [use for use in uses if module.function_at(use) is test]
    if len(inner) != 1 or len(waits) != 1:
        return None
    engine = inner[0]
    kinds = [names for _, names in engine.decorators()]
    stop = _stop_of(test, engine, waits[0])
    if stop is None or kinds != [{_ENGINE}]:
        return None
    ends = [_statement_of_stop(engine, use) for use in uses if use is not waits[0]]
    if None in ends or not ends_each_path(engine, lambda statement: statement in ends):
        return None
    coroutine = as_coroutine(engine, 0)
    if coroutine is None or may_start_callbacks(program, engine):
        return None
    changes = [_without(engine, end) for end in ends if end is not None]
    return InnerEngine(stop, (coroutine, *changes))


def _stop_of(test: Function, engine: Function, use: ast.expr) -> Stop | None:
    """Return the call of an engine, if the next statement is the only wait for it."""
    parents = test.module.parents
    wait = parents[use]
    args = engine.node.args
    if any(isinstance(node, ast.arg) for node in ast.walk(args)):
        return None
    named = [n for n in ast.walk(test.node) if isinstance(n, ast.Name)]
    named = [n for n in named if n.id == engine.node.name]
    statement = parents[wait]
    if len(named) != 1 or statement not in test.node.body:
        return None
    if not have_own_lines(test, test.node.body):
        return None
    place = test.node.body.index(statement)
    match test.node.body[place - 1], statement:
        case ast.Expr(value=ast.Call(func=func) as call), ast.Expr(
            value=ast.Call(func=ast.Attribute(attr="wait")) as waiting
        ) if func is named[0] and waiting.func is use:
            timeout = timeout_of(waiting)
            return None if timeout == -1 else Stop(call, func, waiting, timeout, 1)
    return None


def _statement_of_stop(engine: Function, use: ast.expr) -> ast.Expr | None:
    """Return the statement of an engine that a use of ``self.stop`` is, if it is one."""
    parents = engine.module.parents
    call = parents[use]
    statement = parents[call]
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(attr="stop"), args=[], keywords=[])
        ):
            is_own = engine.module.function_at(use) is engine
            return statement if is_own and call is statement.value else None
    return None


def _without(engine: Function, statement: ast.Expr) -> Change:
    """Return the change of a ``self.stop()`` into the end of the function."""
    body = engine.node.body
    lines = engine.module.source.splitlines()
    above = lines[body[-2].end_lineno or 0 : statement.end_lineno] if body[1:] else []
    has_comment = not above or any(b"#" in line for line in above)
    if statement is body[-1] and is_alone(engine, statement) and not has_comment:
        return Change(statement, removed, "SimpleStatementLine")
    return Change(statement.value, _ended, "Expr")


def _ended(node: Any) -> Any:
    return cst.Return(semicolon=node.semicolon)
