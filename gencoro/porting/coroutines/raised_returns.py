"""Finds handlers and context managers that see ``raise gen.Return`` but not a ``return``.

Rule: a handler or a context manager that may see it does.

Pure.  Used by `gencoro.porting.coroutines.problems` and `gencoro.porting.fixers.to_async.returns`.
"""

import ast
import functools
from collections.abc import Iterator

from gencoro.porting.coroutines.caught_classes import catching
from gencoro.porting.coroutines.context_managers import is_neutral
from gencoro.porting.coroutines.handled_errors import asks_for_error
from gencoro.porting.coroutines.return_classes import (
    RETURN,
    is_return_class,
    may_be_made_elsewhere,
    raised_objects,
)
from gencoro.porting.coroutines.users import (
    is_plain,
    probable_uses,
    users_of,
)
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.reasons import refusal

__all__ = ["callee_of", "problems_of_returns", "raised_returns"]


def problems_of_returns(
    function: Function, program: Program, is_helper: bool
) -> Iterator[Refusal]:
    """Yield the refusals of a coroutine's ``raise gen.Return``.

    Args:
        is_helper: Whether it is a generator whose errors end the coroutine that uses it.
    """
    yield from _of_returns(function, program)
    if is_helper:
        objects = ((node, node.exc) for node in raised_objects(function, program))
        for node, exc in [*raised_returns(function), *objects]:
            if exc is not None:
                yield refusal(function, "return-elsewhere", node, ast.unparse(exc))
    yield from _of_helpers_that_return(function, program)


def raised_returns(function: Function) -> list[tuple[ast.Raise, ast.expr]]:
    """Return the statements that raise gen.Return in a body, and what they raise."""
    return [
        (node, node.exc)
        for node in function.own
        if isinstance(node, ast.Raise)
        and node.exc is not None
        and RETURN in function.module.names(callee_of(node.exc))
    ]


def callee_of(node: ast.expr) -> ast.expr:
    """Return what is called, if an expression is a call."""
    return node.func if isinstance(node, ast.Call) else node


def _of_returns(function: Function, program: Program) -> Iterator[Refusal]:
    raised = raised_returns(function)
    callees = {callee_of(exc) for _, exc in raised}
    for node, exc in raised:
        if isinstance(exc, ast.Call) and not _has_one_value(exc):
            yield refusal(function, "return-arguments", node)
        yield from _of_surroundings(function, program, node)
    for node in raised_objects(function, program):
        if isinstance(node.exc, ast.Call):
            callees.add(node.exc.func)
        yield from _of_surroundings(function, program, node)
    for part in function.own:
        if may_be_made_elsewhere(program, function.module, part):
            yield refusal(function, "return-elsewhere", part, ast.unparse(part))
        if isinstance(part, (ast.Name, ast.Attribute)) and part not in callees:
            is_caught = isinstance(
                function.module.parents.get(part), (ast.ExceptHandler, ast.Tuple)
            )
            if not is_caught and is_return_class(function.module, part):
                yield refusal(function, "return-elsewhere", part, ast.unparse(part))


def _has_one_value(call: ast.Call) -> bool:
    values = [*call.args, *(k.value for k in call.keywords)]
    is_named = all(k.arg == "value" for k in call.keywords)
    return (
        len(values) < 2
        and is_named
        and not any(isinstance(value, ast.Starred) for value in values)
    )


def _of_surroundings(
    function: Function, program: Program, node: ast.AST
) -> Iterator[Refusal]:
    """Check the blocks around a ``raise gen.Return``, from the inmost."""
    parents = function.module.parents
    child = node
    while child is not function.node:
        parent = parents[child]
        if isinstance(parent, (ast.Try, ast.TryStar)):
            if child in parent.finalbody:
                yield refusal(function, "return-in-finally", node)
            elif any(
                asks_for_error(program, function.module, s) for s in parent.finalbody
            ):
                yield refusal(function, "return-caught", node, "... (in `finally`)")
            elif child in parent.body:
                caught = catching(program, function.module, parent.handlers)
                if caught:
                    yield refusal(function, "return-caught", node, caught)
        elif isinstance(parent, ast.With) and child in parent.body:
            for item in parent.items:
                if not is_neutral(function, program, item.context_expr):
                    name = ast.unparse(item.context_expr)
                    yield refusal(function, "return-in-with", node, name)
        child = parent


def _of_helpers_that_return(function: Function, program: Program) -> Iterator[Refusal]:
    """Check for uses of plain functions that raise gen.Return for the coroutine."""
    for raiser in _raisers(program):
        for use in probable_uses(raiser, program):
            if use.module.function_at(use.node) == function:
                name = ast.unparse(use.node)
                yield refusal(function, "return-elsewhere", use.node, name)


@functools.lru_cache(maxsize=1)
def _raisers(program: Program) -> list[Function]:
    """Return the plain functions that raise gen.Return, or use one that does."""
    found = [
        function
        for function in program.functions
        if is_plain(function)
        and any(_may_raise_return(program, function.module, n) for n in function.own)
    ]
    return [f for f in users_of(found, program, True) if is_plain(f)]


def _may_raise_return(program: Program, module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    is_class = is_return_class(module, callee_of(node.exc))
    return is_class or may_be_made_elsewhere(program, module, node)
