"""Rewrites a ``callback=`` argument as ``IOLoop.add_future``.

Rule: the callback must be the same later, and never None: a function or method that is never
replaced, because its name is looked up later, a lambda, or a ``functools.partial``.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

from gencoro.compat.doctor.things import Thing
from gencoro.porting.callbacks.callback_functions import takes_only
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.fixer import Change, Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.replacements import replacements_of
from gencoro.porting.source.imports import Reference

__all__ = ["given_to_loop", "is_bound_once", "loop_reference"]

_LOOP = "tornado.ioloop.IOLoop"
_BUILTIN_DECORATORS = ("classmethod", "staticmethod")
_PARTIAL = "functools.partial"
_IMPORT = "from tornado.ioloop import IOLoop"


def given_to_loop(
    program: Program,
    module: Module,
    call: ast.Call,
    callback: ast.expr,
    without_callback: Callable[[Any], Any],
) -> Change | Refusal:
    """Return the ``add_future`` call that passes the result of a call to its callback.

    Args:
        without_callback: Returns what returns a Future, for the call's node of LibCST.
    """
    is_statement = isinstance(module.parents.get(call), ast.Expr)
    loop = loop_reference(module)
    made = _made_of(program, module, callback)
    if not is_statement or made is None:
        return legacy_refusal(module, call, "callback-value", ast.unparse(callback))
    if not loop.text:
        return legacy_refusal(module, call, "name-taken", "IOLoop")
    every = [*call.args, *(keyword.value for keyword in call.keywords)]
    every.sort(key=lambda value: (value.lineno, value.col_offset))
    place = every.index(callback)

    def change(node: Any) -> Any:
        then = made(node.args[place].value.with_changes(lpar=[], rpar=[]))
        called = without_callback(node).with_changes(lpar=[], rpar=[])
        return cst.Call(
            func=cst.parse_expression(f"{loop.text}.current().add_future"),
            args=[cst.Arg(called), cst.Arg(then)],
        )

    return Change(call, change, imports=loop.imports)


def _made_of(
    program: Program, module: Module, callback: ast.expr
) -> Callable[[Any], Any] | None:
    """Return what makes a function of a Future of a callback; None if it may be another.

    It gets the node of LibCST of the callback.
    """
    if is_bound_once(program, module, callback):
        return _calling
    match callback:
        case ast.Lambda() if takes_only(callback.args, 1):
            return (
                _with_result if _begins_with_it(program, module, callback) else _keeping
            )
        case ast.Call(func=func, args=[first, *rest], keywords=words):
            if library_name(program, module, func) != _PARTIAL:
                return None
            # They are evaluated after the call has begun, and were before.
            values = [*rest, *(word.value for word in words)]
            is_plain = all(isinstance(v, (ast.Constant, ast.Name)) for v in values)
            return (
                _keeping if is_plain and is_bound_once(program, module, first) else None
            )
    return None


def _begins_with_it(program: Program, module: Module, function: ast.Lambda) -> bool:
    """Return whether a body is a call that needs its parameter first, and only once."""
    name = function.args.args[0].arg
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
    if names.count(name) != 1 or "future" in names:
        return False
    node = function.body
    while not isinstance(node, ast.Name):
        match node:
            case ast.Call(func=func, args=[first, *_]) if not isinstance(
                func, ast.Attribute
            ) or is_bound_once(program, module, func):
                node = first if isinstance(func, (ast.Attribute, ast.Name)) else func
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
            case _:
                return False
    return node.id == name and isinstance(function.body, ast.Call)


def _calling(callback: Any) -> Any:
    called = cst.Module([]).code_for_node(callback)
    return cst.parse_expression(f"lambda future: {called}(future.result())")


def _with_result(callback: Any) -> Any:
    """Return a lambda of a Future that does as a lambda of its result."""
    parameters = cst.Parameters([cst.Param(cst.Name("future"))])
    return callback.with_changes(params=parameters, body=_of_result(callback.body))


def _of_result(node: Any) -> Any:
    """Return an expression with the result of a Future in the place of its first name."""
    match node:
        case cst.Name():
            return cst.parse_expression("future.result()")
        case cst.Call(args=[first, *rest]):
            value = _of_result(first.value)
            return node.with_changes(args=[first.with_changes(value=value), *rest])
    return node.with_changes(value=_of_result(node.value))


def _keeping(callback: Any) -> Any:
    """Return a lambda of a Future that keeps the callback, as the call did."""
    then: Any = cst.parse_expression(
        "lambda future, callback=0: callback(future.result())"
    )
    result, kept = then.params.params
    kept = kept.with_changes(default=callback)
    return then.with_changes(params=then.params.with_changes(params=[result, kept]))


def is_bound_once(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a callback is a function or a method that is never replaced."""
    if replacements_of(program).is_replaced(last_name(node)):
        return False
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        things = module.things(node)
        return len(things) == 1 and _is_method(things[0])
    if not isinstance(node, ast.Name) or node.id == "future":
        return False
    scope = module.scope_at(node)._scope_of(node.id)
    if scope is None:
        return node.id == "print"
    bindings = scope._bindings[node.id]
    return len(bindings) == 1 and isinstance(bindings[0], ast.FunctionDef)


def _is_method(thing: Thing) -> bool:
    """Return whether something is a method, and no property, which each use computes."""
    if not isinstance(thing.node, ast.FunctionDef) or thing.home is None:
        return False
    for decorator in thing.node.decorator_list:
        names = {found.name for found in thing.home.things(decorator)}
        is_of_tornado = bool(names) and all(n.startswith("tornado.") for n in names)
        if not is_of_tornado and ast.unparse(decorator) not in _BUILTIN_DECORATORS:
            return False
    return True


def loop_reference(module: Module) -> Reference:
    """Return how a module can refer to IOLoop."""
    bindings = module.top._bindings
    for name, values in bindings.items():
        if values and all(value == _LOOP for value in values):
            return Reference(name)
        if values and all(value == "tornado.ioloop" for value in values):
            return Reference(f"{name}.IOLoop")
    return Reference("") if "IOLoop" in bindings else Reference("IOLoop", (_IMPORT,))
