"""Rewrites a ``callback=`` argument as ``IOLoop.add_future``.

Rule: the callback must be one that is never replaced, because its name is looked up later.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.fixer import Change, Refusal
from gencoro.porting.program import Module

__all__ = ["given_to_loop", "is_bound_once"]

_LOOP = "tornado.ioloop.IOLoop"
_IMPORT = "from tornado.ioloop import IOLoop"


def given_to_loop(
    module: Module,
    call: ast.Call,
    callback: ast.expr,
    without_callback: Callable[[Any], Any],
    gets_future: bool = False,
) -> Change | Refusal:
    """Return the ``add_future`` call that passes the result of a call to its callback.

    Args:
        without_callback: Returns what returns a Future, for the call's node of LibCST.
        gets_future: Whether the callback gets the Future itself.
    """
    is_statement = isinstance(module.parents.get(call), ast.Expr)
    loop = _loop_in(module)
    is_certain = gets_future or is_bound_once(module, callback)
    if not is_statement or not is_certain:
        return legacy_refusal(module, call, "callback-value", ast.unparse(callback))
    if not loop:
        return legacy_refusal(module, call, "name-taken", "IOLoop")
    function = ast.unparse(callback)
    then = function if gets_future else f"lambda future: {function}(future.result())"

    def change(node: Any) -> Any:
        called = without_callback(node).with_changes(lpar=[], rpar=[])
        return cst.Call(
            func=cst.parse_expression(f"{loop}.current().add_future"),
            args=[cst.Arg(called), cst.Arg(cst.parse_expression(then))],
        )

    imports = () if loop != "IOLoop" or _imports_loop(module) else (_IMPORT,)
    return Change(call, change, imports=imports)


def is_bound_once(module: Module, node: ast.expr) -> bool:
    """Return whether a callback is a function or a method that is never replaced."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        things = module.things(node)
        return len(things) == 1 and isinstance(things[0].node, ast.FunctionDef)
    if not isinstance(node, ast.Name) or node.id == "future":
        return False
    scope = module.scope_at(node)._scope_of(node.id)
    if scope is None:
        return node.id == "print"
    bindings = scope._bindings[node.id]
    return len(bindings) == 1 and isinstance(bindings[0], ast.FunctionDef)


def _loop_in(module: Module) -> str:
    """Return how a module can refer to IOLoop; empty if the name is taken."""
    bindings = module.top._bindings
    for name, values in bindings.items():
        if values and all(value == _LOOP for value in values):
            return name
        if values and all(value == "tornado.ioloop" for value in values):
            return f"{name}.IOLoop"
    return "" if "IOLoop" in bindings else "IOLoop"


def _imports_loop(module: Module) -> bool:
    return "IOLoop" in module.top._bindings
