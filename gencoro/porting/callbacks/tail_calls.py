"""Tail calls of functions with a callback parameter, and the ``return`` that replaces each.

Rule: each path ends with the callback or with a call that gets it, and the callback has no
other use.  What such a call does later must not be inside a ``try`` or a ``with``: the
callback style left them before.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.awaitable_calls import start_of
from gencoro.porting.callbacks.callback_functions import takes_only, without_parameter
from gencoro.porting.callbacks.control_flow import ends_each_path, is_guarded
from gencoro.porting.callbacks.delayed_callbacks import delay_of
from gencoro.porting.coroutines.problems import may_stop_iteration
from gencoro.porting.coroutines.returned_generators import may_evaluate_to_generator
from gencoro.porting.fixer import Change, Fix
from gencoro.porting.program import Function, Program
from gencoro.porting.program.origins import is_name
from gencoro.porting.program.trees import block_of
from gencoro.porting.source.imports import reference_to_gen
from gencoro.porting.source.nodes import raising, removed, returned

__all__ = ["Tail", "fix_of_function", "tails_of"]


class Tail(NamedTuple):
    """A last statement.

    Attributes:
        changes: What makes a ``return`` of it.
        call: The call that gets the callback; None if it is that of the callback.
        value: What the callback gets, if it is called here.
        uses: How often it uses the callback.
    """

    changes: tuple[Change, ...]
    call: ast.Call | None = None
    uses: int = 1
    value: ast.expr | None = None


def tails_of(program: Program, function: Function, name: str) -> list[Tail] | None:
    """Return the last statements of the paths through a function.

    None if some path ends in another way, or if the callback is used otherwise.

    Args:
        name: The name of the parameter that is the callback.
    """
    found: dict[ast.stmt, Tail] = {}

    def is_end(statement: ast.stmt) -> bool:
        tail = _tail(program, function, statement, name)
        if tail is not None:
            found[statement] = tail
        return tail is not None

    if not ends_each_path(function, is_end):
        return None
    if not function.is_generator:
        if may_stop_iteration(program, function):
            return None
        if all(tail.call is None for tail in found.values()):
            return _of_plain_function(function, found, name)
    return _whole(function, found, name)


def _of_plain_function(
    function: Function, found: dict[ast.stmt, Tail], name: str
) -> list[Tail] | None:
    """Return the last statements of a function that will not yield.

    Those that may return a generator raise their result.
    """
    gen = reference_to_gen(function)
    for statement, tail in found.items():
        if not may_evaluate_to_generator(tail.value):
            continue
        if not gen.text or is_guarded(function, statement):
            return None
        [change] = tail.changes
        raise_ = raising(change.by, gen.text)
        raised = change._replace(by=raise_, imports=gen.imports)
        found[statement] = tail._replace(changes=(raised,))
    return _whole(function, found, name)


def _whole(
    function: Function, found: dict[ast.stmt, Tail], name: str
) -> list[Tail] | None:
    """Return the last statements, if the callback has no other use."""
    if sum(tail.uses for tail in found.values()) != _uses_of(name, function.node):
        return None
    dead = (_return_after(function, s) for s in found)
    changes = tuple(Change(node, removed) for node in dead if node is not None)
    return [*found.values(), Tail(changes, uses=0)] if changes else [*found.values()]


def _return_after(function: Function, statement: ast.stmt) -> ast.Return | None:
    """Return the ``return`` that follows a statement, unless a comment is there."""
    module = function.module
    block = block_of(module.parents, statement)
    match block[block.index(statement) + 1 :]:
        case [ast.Return(value=None) as following, *_]:
            first, last = statement.lineno - 1, following.lineno
            text = b"".join(module.source.splitlines(True)[first:last])
            return following if b"#" not in text else None
    return None


def _uses_of(name: str, node: ast.AST) -> int:
    nodes = ast.walk(node)
    return sum(is_name(node, name) for node in nodes)


def _tail(
    program: Program, function: Function, statement: ast.stmt, name: str
) -> Tail | None:
    match statement:
        case ast.Expr(value=ast.Call() as call) if _is_call_of(call, name):
            if not call.args and _is_plain_end(function, statement):
                return Tail((Change(statement, removed),))
            value = call.args[0] if call.args else None
            return Tail((Change(call, _result, "Expr"),), value=value)
        case ast.Return(value=ast.Call() as call) if _is_call_of(call, name):
            value = call.args[0] if call.args else None
            return Tail((Change(statement, _result),), value=value)
        case ast.Expr(value=ast.Call() as call) if not is_guarded(function, statement):
            delay = delay_of(program, function, statement, call, name)
            if delay is not None:
                return Tail((delay,), call)
            return _passing(program, function, call, name)
        case ast.If(body=[ast.Expr(value=ast.Call() as call)], orelse=[]):
            if _is_call_of(call, name) and _is_optional(function, statement, name):
                if not call.args and _is_plain_end(function, statement):
                    return Tail((Change(statement, removed),), uses=2)
                value = call.args[0] if call.args else None
                change = Change(statement, _result_in_if)
                return Tail((change,), uses=2, value=value)
    return None


def _is_plain_end(function: Function, statement: ast.stmt) -> bool:
    """Return whether nothing is lost if a ``return`` in place of a statement is left out."""
    body = function.node.body
    if len(body) < 2 or statement is not body[-1]:
        return False
    start, end = body[-2].end_lineno or 0, statement.end_lineno
    lines = function.module.source.splitlines()[start:end]
    return start < statement.lineno and not any(b"#" in line for line in lines)


def _is_optional(function: Function, statement: ast.If, name: str) -> bool:
    """Return whether an ``if`` asks only whether there is a callback."""
    match statement.test:
        case ast.Name(id=found):
            pass
        case ast.Compare(
            left=ast.Name(id=found), ops=[ast.IsNot()], comparators=[ast.Constant(None)]
        ):
            pass
        case _:
            return False
    lines = function.module.source.splitlines()
    own = lines[statement.lineno - 1 : statement.end_lineno]
    has_comment = any(b"#" in line for line in own)
    is_if = function.module.has_text("if", statement)
    return found == name and is_if and not has_comment


def _is_call_of(call: ast.Call, name: str) -> bool:
    """Return whether a call is that of the callback, with one value or none."""
    has_stars = any(isinstance(arg, ast.Starred) for arg in call.args)
    return (
        is_name(call.func, name)
        and len(call.args) < 2
        and not call.keywords
        and not has_stars
    )


def _passing(
    program: Program, function: Function, call: ast.Call, name: str
) -> Tail | None:
    """Return the last statement that passes the callback to another function."""
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        then = _then(function, argument, name)
        start = start_of(program, function, call, argument) if then else None
        if then is not None and start is not None:
            changes, text = then
            wait = start.in_place_of(call, _returning(start.change, text), "Expr")
            uses = len(changes) or 1
            return Tail((wait, *changes), call, uses)
    return None


def _then(
    function: Function, callback: ast.expr, name: str
) -> tuple[tuple[Change, ...], str] | None:
    """Return what makes a function inside this one return what it passes to the callback.

    Returns:
        The changes, and the name of the function; no change and no name for the callback
        itself; None for anything else.
    """
    if is_name(callback, name):
        return (), ""
    if not isinstance(callback, ast.Name):
        return None
    inner = [
        f
        for f in function.module.functions
        if f.node in function.node.body and f.node.name == callback.id
    ]
    is_used_once = _uses_of(callback.id, function.node) == 1
    if len(inner) != 1 or not is_used_once or not _takes_one(inner[0]):
        return None
    calls: dict[ast.stmt, ast.Call] = {}

    def is_end(statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=ast.Call() as call) if _is_call_of(call, name):
                calls[statement] = call
                return True
        return False

    if not ends_each_path(inner[0], is_end):
        return None
    changes = tuple(Change(call, _result, "Expr") for call in calls.values())
    return changes, callback.id


def _takes_one(function: Function) -> bool:
    """Return whether a function is a plain one of one argument."""
    return function.is_bare and takes_only(function.node.args, 1)


def _returning(change: Callable[[Any], Any], then: str) -> Callable[[Any], Any]:
    """Return what returns the result of a call, or what a function makes of it."""

    def returning(node: Any) -> Any:
        called = change(node.value).with_changes(lpar=[], rpar=[])
        value: Any = cst.Yield(called, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if then:
            value = cst.Call(cst.Name(then), [cst.Arg(value)])
        return returned(value).with_changes(semicolon=node.semicolon)

    return returning


def _result(node: Any) -> Any:
    call = node.value
    if not call.args:
        return cst.Return(semicolon=node.semicolon)
    [argument] = call.args
    after = argument.whitespace_after_arg
    new = returned(argument.value, call.whitespace_before_args, after)
    return new.with_changes(semicolon=node.semicolon)


def _result_in_if(node: Any) -> Any:
    """Return the line of a ``return`` for an ``if`` around the callback."""
    block = node.body
    is_line = isinstance(block, cst.SimpleStatementSuite)
    call = block.body[0] if is_line else block.body[0].body[0]
    end = _result(call).with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return cst.SimpleStatementLine([end], leading_lines=node.leading_lines)


def fix_of_function(
    code: str, function: Function, coroutine: Change, tails: Iterable[Tail]
) -> Fix:
    """Return the fix that turns a function with a callback parameter into a coroutine."""
    changes = (
        coroutine,
        Change(function.node, without_parameter),
        *(change for tail in tails for change in tail.changes),
    )
    return Fix(code, function.module, function.line, changes, function)
