"""Which decorators only pass on what the function below them returns.

Rule: a decorator that cannot be seen may look at it, or drop it.

Pure.  Used by `gencoro.porting.fixers.asynchronous`.
"""

import ast

from gencoro.porting.candidates import is_transparent
from gencoro.porting.program import Definition, Function, Module, Program

__all__ = ["forwards_result"]


def forwards_result(program: Program, function: Function, place: int) -> bool:
    """Return whether a decorator of a function returns what the function returns.

    Args:
        place: Which decorator it is, from the outermost on.
    """
    decorator, names = list(function.decorators())[place]
    if is_transparent(decorator, names):
        return True
    is_made = isinstance(decorator, ast.Call)
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = program.functions_of(function.module, called)
    if len(found) != 1 or not function.outer.is_sure(called):
        return False
    inner = _returned(found[0].node) if is_made else found[0].node
    return inner is not None and _passes_on(found[0].module, inner)


def _returned(maker: Definition) -> Definition | None:
    """Return the function inside another one that this returns; None if it may return another."""
    match maker.body[-1]:
        case ast.Return(value=ast.Name(id=name)):
            for statement in maker.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return statement
    return None


def _passes_on(module: Module, decorator: Definition) -> bool:
    """Return whether each use of a decorator's function returns what it returns."""
    wrapper = _returned(decorator)
    args = decorator.args.args
    if wrapper is None or not args:
        return False
    if not all(map(_is_wraps, wrapper.decorator_list)):
        return False
    uses = [n for n in ast.walk(decorator) if _is_name(n, args[0].arg)]
    return all(_is_passed_on(module, wrapper, use) for use in uses)


def _is_wraps(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in (
        "functools.wraps",
        "wraps",
    )


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_passed_on(module: Module, wrapper: Definition, use: ast.AST) -> bool:
    call = module.parents[use]
    if not isinstance(call, ast.Call):
        return False
    if _is_wraps(call):
        return True
    is_returned = isinstance(module.parents[call], ast.Return)
    return is_returned and call.func is use and module.enclosing(call) is wrapper
