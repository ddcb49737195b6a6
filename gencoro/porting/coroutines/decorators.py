"""Finds decorators that return the result of the decorated function unchanged.

Rule: a decorator that cannot be seen may look at it, or drop it.

Pure.  Used by `gencoro.porting.coroutines.problems` and
`gencoro.porting.fixers.to_coroutine.asynchronous`.
"""

import ast

from gencoro.porting.coroutines.candidates import is_transparent
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import is_name
from gencoro.porting.program.replacements import replacements_of

__all__ = ["forwards_call", "forwards_result", "is_wraps"]

# What a decorator may ask a function; these are the same for an ``async def``, which has
# no func_name of Python 2 either.
_NAMES = frozenset({"__doc__", "__module__", "__name__", "__qualname__", "func_name"})


def forwards_result(program: Program, function: Function, place: int) -> bool:
    """Return whether a decorator of a function returns what the function returns.

    Args:
        place: Which decorator it is, from the outermost on.
    """
    decorator, names = list(function.decorators())[place]
    if is_transparent(program, function, decorator, names):
        return True
    found = _applied(program, function, decorator)
    return found is not None and _passes_on(program, found) is not None


def forwards_call(
    program: Program, function: Function, decorator: ast.expr
) -> Function | None:
    """Return the wrapper that a decorator puts around a function, if it always calls that.

    None for any other decorator: it may look into the function, or not call it.
    """
    applied = _applied(program, function, decorator)
    wrapper = _passes_on(program, applied) if applied is not None else None
    if wrapper is None or wrapper.is_generator or not _returns(wrapper.node.body):
        return None
    returned = [n.value for n in wrapper.own if isinstance(n, ast.Return)]
    name = applied.node.args.args[0].arg if applied is not None else ""
    is_each = all(isinstance(r, ast.Call) and is_name(r.func, name) for r in returned)
    return wrapper if is_each else None


def _applied(
    program: Program, function: Function, decorator: ast.expr
) -> Function | None:
    """Return the function of the program that gets the decorated one; None if unknown."""
    is_made = isinstance(decorator, ast.Call)
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = program.functions_of(function.module, called)
    if len(found) != 1 or not function.outer.is_sure(called):
        return None
    name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
    if any(map(replacements_of(program).is_replaced, {name, found[0].node.name})):
        return None
    return _returned(found[0]) if is_made else found[0]


def _returned(maker: Function) -> Function | None:
    """Return the function inside another one that this returns; None if it may return another."""
    match maker.node.body[-1]:
        case ast.Return(value=ast.Name(id=name)):
            for statement in maker.node.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return maker.module.function_by_node[statement]
    return None


def _passes_on(program: Program, decorator: Function) -> Function | None:
    """Return the wrapper of a decorator that returns what its function returns.

    None if it uses the function in another way.
    """
    wrapper = _returned(decorator)
    args = decorator.node.args.args
    if wrapper is None or not args:
        return None
    module = wrapper.module
    if not all(is_wraps(program, module, d) for d in wrapper.node.decorator_list):
        return None
    uses = [n for n in ast.walk(decorator.node) if is_name(n, args[0].arg)]
    return (
        wrapper if all(_is_passed_on(program, wrapper, use) for use in uses) else None
    )


def _returns(body: list[ast.stmt]) -> bool:
    """Return whether no path leads to the end of a block."""
    match body[-1]:
        case ast.Raise() | ast.Return():
            return True
        case ast.If(body=inner, orelse=[_, *_] as orelse):
            return _returns(inner) and _returns(orelse)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse):
            blocks = [orelse or inner, *(handler.body for handler in handlers)]
            return all(map(_returns, blocks))
    return False


def is_wraps(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an expression is ``functools.wraps(...)``."""
    func = node.func if isinstance(node, ast.Call) else None
    return func is not None and library_name(program, module, func) == "functools.wraps"


def _is_passed_on(program: Program, wrapper: Function, use: ast.AST) -> bool:
    parents = wrapper.module.parents
    call = parents[use]
    match call:
        case ast.Attribute(attr=name, ctx=ctx):
            return name in _NAMES and isinstance(ctx, ast.Load)
        case ast.Call(
            func=ast.Name(id="getattr" | "hasattr"),
            args=[first, ast.Constant(value=name), *_],
        ):
            return first is use and name in _NAMES
    if not isinstance(call, ast.Call):
        return False
    if is_wraps(program, wrapper.module, call):
        return True
    if call.func is not use or wrapper.module.enclosing(call) is not wrapper.node:
        return False
    match parents[call]:
        case ast.Return():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _is_only_returned(wrapper, name)
    return False


def _is_only_returned(wrapper: Function, name: str) -> bool:
    """Return whether a variable is bound once, and only used to return its value."""
    uses = [node for node in ast.walk(wrapper.node) if is_name(node, name)]
    parents = [wrapper.module.parents[node] for node in uses]
    is_known = not any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in wrapper.own)
    return is_known and [type(p) for p in parents].count(ast.Return) == len(uses) - 1
