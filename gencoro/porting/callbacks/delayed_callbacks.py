"""Tail calls that schedule the callback, with its value, on the loop.

Rule: the value is computed when it was, before the wait or after it.

Pure.  Used by `gencoro.porting.callbacks.tail_calls`.
"""

import ast
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.kept_values import is_same_later
from gencoro.porting.callbacks.loops import uses_threads
from gencoro.porting.callbacks.timers import wait_of
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import last_name
from gencoro.porting.source.lines import is_alone
from gencoro.porting.source.nodes import returned

__all__ = ["delay_of"]

_TIMERS = frozenset({"add_timeout", "call_later"})

_PARTIAL = "functools.partial"

_CLOCKS = frozenset({"datetime.timedelta", "time.time"})

_VALUE = "result"


def delay_of(
    program: Program, function: Function, statement: ast.stmt, call: ast.Call, name: str
) -> Change | None:
    """Return a wait as long as the loop has for a callback, and a ``return`` of its value.

    None if the loop gets something else than that callback, or if that is not certain.

    Args:
        name: The name of the callback.
    """
    if call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    is_timer = call.func.attr in _TIMERS
    deadline = call.args[0] if is_timer and call.args else None
    given = _value_given(program, function, call.args[is_timer:], name)
    wait = wait_of(program, function, call.func, deadline)
    if (
        given is None
        or wait is None
        or not is_alone(function, statement)
        or uses_threads(program)
    ):
        return None
    value, is_later = given
    is_kept = False
    if value is not None and not is_later and not is_same_later(function, value):
        is_kept = True
        # The deadline is computed before the value, and with a wait after it.
        is_first = deadline is not None and _may_act(program, function, deadline)
        if is_first or not _can_keep(function, value):
            return None
    lines = _lines(wait.text, is_timer, value is not None, is_kept)
    return Change(statement, lines, "SimpleStatementLine", wait.imports)


def _may_act(program: Program, function: Function, deadline: ast.expr) -> bool:
    """Return whether a deadline could change a value, or fail before it is computed."""
    nodes = list(ast.walk(deadline))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.Subscript) for node in nodes) or any(
        library_name(program, function.module, func) not in _CLOCKS
        and last_name(func) != "time"
        for func in called
    )


def _value_given(
    program: Program, function: Function, args: list[ast.expr], name: str
) -> tuple[ast.expr | None, bool] | None:
    """Return the value that a callback gets, and whether it is computed only then."""
    match args:
        case [ast.Call(func=func, args=[ast.Name(id=found), *values], keywords=[])] if (
            found == name and len(values) < 2
        ):
            is_partial = library_name(program, function.module, func) == _PARTIAL
            is_plain = not any(isinstance(v, ast.Starred) for v in values)
            now = values[0] if values else None
            return (now, False) if is_partial and is_plain else None
        case [ast.Name(id=found), ast.expr() as value] if found == name:
            return None if isinstance(value, ast.Starred) else (value, False)
        case [
            ast.Lambda(
                args=ast.arguments(args=[], posonlyargs=[], kwonlyargs=[]) as inner,
                body=ast.Call(func=ast.Name(id=found), args=values, keywords=[]),
            )
        ] if found == name and not inner.vararg and not inner.kwarg:
            is_plain = not any(isinstance(v, ast.Starred) for v in values)
            later = values[0] if values else None
            return (later, True) if len(values) < 2 and is_plain else None
    return None


def _can_keep(function: Function, value: ast.expr) -> bool:
    """Return whether a variable can have a value during the wait."""
    is_free = function.scope._scope_of(_VALUE) is None
    return is_free and value.lineno == value.end_lineno


def _lines(wait: str, is_timer: bool, has_value: bool, is_kept: bool) -> Any:
    """Return what puts a wait and a ``return`` in the place of a line."""

    def change(node: Any) -> Any:
        call = node.body[0].value
        lines: list[Any] = []
        end = cst.Return()
        if has_value:
            value = call.args[-1].value
            if len(call.args) == 1 + is_timer:  # it is inside a lambda or a partial
                inner: Any = value.body if isinstance(value, cst.Lambda) else value
                value = inner.args[-1].value
            if is_kept:
                target = cst.AssignTarget(cst.Name(_VALUE))
                lines.append(cst.Assign([target], value))
                value = cst.Name(_VALUE)
            end = returned(value)
        lines.append(
            cst.Expr(
                cst.parse_expression(f"(yield {wait})").with_changes(lpar=[], rpar=[])
            )
        )
        first, *more = [cst.SimpleStatementLine([line]) for line in lines]
        first = first.with_changes(leading_lines=node.leading_lines)
        last = node.with_changes(body=[end], leading_lines=[])
        return cst.FlattenSentinel([first, *more, last])

    return change
