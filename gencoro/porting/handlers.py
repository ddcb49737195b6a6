"""Handlers in callback style whose last statements pass a method that answers.

Rule: each path finishes the answer, or ends with one call that gets a method as its
callback; each path of that method finishes the answer, and starts no callback.

Pure.  Used by `gencoro.porting.fixers.asynchronous`.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.finishing import ends_each_path
from gencoro.porting.fixer import Change
from gencoro.porting.giving import is_bound_once
from gencoro.porting.program import Function, Program
from gencoro.porting.started import may_start_callbacks
from gencoro.porting.starting import Start, start_of

__all__ = ["FINISHERS", "Answer", "answers_of", "finishes"]

# Methods of a handler that finish the answer.
FINISHERS = frozenset({"finish", "redirect", "render", "send_error"})

_ASYNC_CALLBACK = "tornado.web.RequestHandler.async_callback"


class Answer(NamedTuple):
    """A last statement that passes on a method.

    Attributes:
        call: The statement's call.
        change: What waits for the result, and calls the method.
        start: What the call becomes.
    """

    call: ast.Call
    change: Change
    start: Start


def finishes(statement: ast.stmt) -> bool:
    """Return whether a statement finishes the answer."""
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))
        ):
            return name in FINISHERS
    return False


def answers_of(program: Program, function: Function) -> list[Answer] | None:
    """Return the last statements that pass on methods; None if some path ends otherwise."""
    found: dict[ast.stmt, Answer] = {}

    def is_end(statement: ast.stmt) -> bool:
        answer = _answer(program, function, statement)
        if answer is not None:
            found[statement] = answer
        return answer is not None or finishes(statement)

    return list(found.values()) if ends_each_path(function, is_end) else None


def _answer(program: Program, function: Function, statement: ast.stmt) -> Answer | None:
    match statement:
        case ast.Expr(value=ast.Call() as call) if _is_plain(function, statement):
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                method = _method(program, function, argument)
                if method is not None:
                    start = start_of(program, function, call, argument)
                    if start is None or not start.has_result:
                        return None
                    change = Change(call, _calling(ast.unparse(method), start), "Expr")
                    return Answer(call, change, start)
    return None


def _is_plain(function: Function, statement: ast.AST) -> bool:
    """Return whether a statement is in no ``try``, ``with`` or loop."""
    node = function.module.parents[statement]
    while isinstance(node, ast.If):
        node = function.module.parents[node]
    return node is function.node


def _method(
    program: Program, function: Function, argument: ast.expr
) -> ast.expr | None:
    """Return the method that an argument is, if it answers on each path."""
    module = function.module
    match argument:
        case ast.Call(func=func, args=[ast.Attribute() as wrapped], keywords=[]):
            if module.names(func) != {_ASYNC_CALLBACK}:
                return None
            return _method(program, function, wrapped)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            if not is_bound_once(module, argument):
                return None
            named = program.functions_by_name[name]
            is_one = len(named) == 1 and _takes_one(named[0])
            if not is_one or not ends_each_path(named[0], finishes):
                return None
            return None if may_start_callbacks(program, named[0]) else argument
    return None


def _takes_one(function: Function) -> bool:
    """Return whether a function is a plain method of one argument."""
    args = function.node.args
    rest = (args.posonlyargs, args.kwonlyargs, args.vararg, args.kwarg, args.defaults)
    is_plain = isinstance(function.node, ast.FunctionDef) and not function.is_generator
    is_plain = is_plain and not function.node.decorator_list
    return is_plain and len(args.args) == 2 and not any(rest)


def _calling(method: str, start: Start) -> Callable[[Any], Any]:
    """Return what calls a method with the result of a call that is waited for."""

    def change(node: Any) -> Any:
        called = start.change(node.value).with_changes(lpar=[], rpar=[])
        left, right = [cst.LeftParen()], [cst.RightParen()]
        value = cst.Yield(called, lpar=left, rpar=right)
        new = cst.Call(cst.parse_expression(method), [cst.Arg(value)])
        return node.with_changes(value=new)

    return change
