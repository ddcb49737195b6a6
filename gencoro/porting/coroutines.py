"""Finds the coroutines of a program, and what else decorates them.

Rule: a function counts as a coroutine if its decorator is Tornado's, or a wrapper of the
program's own that does nothing but apply Tornado's.  Any other wrapper is named, never
passed over: what it decorates stays.

Pure.  Used by `gencoro.porting.uses` and `gencoro.porting.decisions`.
"""

import ast
from typing import NamedTuple

from gencoro.compat.doctor.program import Function, Module, Program

__all__ = [
    "COROUTINE",
    "ENGINE",
    "GEN_TEST",
    "Coroutine",
    "callee",
    "coroutines_of",
    "is_wrapper_of_coroutine",
]

COROUTINE = "tornado.gen.coroutine"
ENGINE = "tornado.gen.engine"
GEN_TEST = "tornado.testing.gen_test"

_WRAPS = "functools.wraps"

# Decorators of that name which are no wrappers of Tornado's.
_OTHERS = ("asyncio.", "types.", "trollius.", "twisted.")


class Coroutine(NamedTuple):
    """A function with a decorator that makes a coroutine, or a test, of a generator.

    Attributes:
        kind: `COROUTINE`, `ENGINE` or `GEN_TEST`.
        decorator: That decorator.
        above, below: The decorators before and after it.
        wrapper: The name of a wrapper that does more than apply Tornado's decorator; empty
            if there is none.
        is_certain: Whether the decorator cannot be another one.
    """

    function: Function
    kind: str
    decorator: ast.expr
    above: tuple[ast.expr, ...]
    below: tuple[ast.expr, ...]
    wrapper: str = ""
    is_certain: bool = True


def coroutines_of(program: Program) -> dict[Function, Coroutine]:
    """Return the coroutines, engines and tests of a program, in the order of its sources."""
    found = {}
    for function in program.functions:
        if isinstance(function.node, ast.FunctionDef) and function.node.decorator_list:
            coroutine = _coroutine(program, function)
            if coroutine is not None:
                found[function] = coroutine
    return found


def _coroutine(program: Program, function: Function) -> Coroutine | None:
    decorators = function.node.decorator_list
    best: Coroutine | None = None
    for place, decorator in enumerate(decorators):
        kind, wrapper, is_certain = _kind_of(program, function, decorator)
        if kind and (best is None or kind == COROUTINE):
            above, below = decorators[:place], decorators[place + 1 :]
            best = Coroutine(
                function,
                kind,
                decorator,
                tuple(above),
                tuple(below),
                wrapper,
                is_certain,
            )
    return best


def _kind_of(
    program: Program, function: Function, decorator: ast.expr
) -> tuple[str, str, bool]:
    """Return what a decorator makes, the wrapper that it is, and whether that is certain."""
    module = function.module
    called = callee(decorator)
    names = module.names(called)
    for kind in (COROUTINE, ENGINE, GEN_TEST):
        if kind in names:
            others = names - {kind} or program.functions_of(module, called)
            return kind, "", not others
    kind = GEN_TEST if function.node.name.startswith("test") else COROUTINE
    for wrapper in program.functions_of(module, called):
        if is_wrapper_of_coroutine(wrapper):
            return COROUTINE, "", True
        if function.is_generator and _applies_coroutine(wrapper):
            return kind, wrapper.name, True
    # The text decides if the decorator cannot be read.
    text = ast.unparse(callee(decorator))
    is_read = bool(program.functions_of(module, called)) or any(
        name.startswith(("tornado.", *_OTHERS)) for name in names
    )
    is_named = text.rpartition(".")[2].strip("_") in ("coroutine", "gen_coroutine")
    if is_named and not is_read and function.is_generator:
        return COROUTINE, text, True
    return "", "", True


def callee(node: ast.expr) -> ast.expr:
    """Return what is called, if an expression such as a decorator is a call."""
    return node.func if isinstance(node, ast.Call) else node


def is_wrapper_of_coroutine(function: Function) -> bool:
    """Return whether a decorator of the program does what Tornado's does, and no more.

    It returns ``gen.coroutine(function)``, perhaps in ``functools.wraps(function)(...)``.
    """
    parameters = function.parameters
    last = function.node.body[-1]
    is_short = all(
        isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)
        for s in function.node.body[:-1]
    )
    if not is_short or len(parameters) != 1 or not isinstance(last, ast.Return):
        return False
    return _is_applied(function.module, last.value, parameters[0])


def _is_applied(module: Module, node: ast.expr | None, parameter: str) -> bool:
    match node:
        case ast.Call(func=ast.Call(func=maker), args=[inner], keywords=[]):
            return module.names(maker) == {_WRAPS} and _is_applied(
                module, inner, parameter
            )
        case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]):
            return name == parameter and module.names(func) == {COROUTINE}
    return False


def _applies_coroutine(function: Function) -> bool:
    """Return whether a decorator makes a coroutine of what it gets, among other things."""
    parameters = {
        arg.arg for arg in ast.walk(function.node) if isinstance(arg, ast.arg)
    }
    return any(
        isinstance(node, ast.Call)
        and any(isinstance(a, ast.Name) and a.id in parameters for a in node.args)
        and COROUTINE in function.module.names(node.func)
        for node in ast.walk(function.node)
    )
