"""Finds coroutines that set context variables.

Rule: the body of a coroutine runs in a copy of its caller's context; an ``async def`` that is
awaited runs in that of its caller.

Pure.  Used by `gencoro.porting.coroutines.decisions` and the fixers for ``--to coroutine``.
"""

import ast
import functools

from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.coroutines.users import is_undecorated, users_of
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.origins import original_names

__all__ = ["sets_context"]

# Functions of decimal and structlog, whose contexts are context variables.
_SETTERS = frozenset(
    {
        "bind_contextvars",
        "bound_contextvars",
        "clear_contextvars",
        "getcontext",
        "localcontext",
        "setcontext",
        "unbind_contextvars",
    }
)


def sets_context(function: Function, program: Program) -> bool:
    """Return whether a function sets a context variable, itself or by a plain function."""
    return function in _setters(program) or (
        function.module in _modules_with_hidden_setters(program)
    )


@functools.lru_cache(maxsize=1)
def _setters(program: Program) -> frozenset[Function]:
    setters = [
        function
        for function in program.functions
        if any(_sets(program, function.module, node) for node in function.own)
    ]
    return frozenset(users_of(setters, program))


@functools.lru_cache(maxsize=1)
def _modules_with_hidden_setters(program: Program) -> frozenset[Module]:
    """Return the modules that may run a setter without calling it by its name.

    Such as a method with a special name, a context manager, or a lambda.
    """
    found: set[Module] = set()
    for module in program.modules.values():
        if any(
            _sets(program, module, node) and _is_hidden(module, node)
            for node in module.nodes
        ):
            found.update(program.related(module))
    return frozenset(found)


def _is_hidden(module: Module, node: ast.AST) -> bool:
    function = module.function_at(node)
    if function is None:
        return isinstance(module.enclosing(node), ast.Lambda)
    if function.has_decorator(COROUTINE) or not isinstance(
        function.node, ast.FunctionDef
    ):
        return False  # it has a context of its own, or that of a Task
    name = function.node.name
    is_special = name.startswith("__") and name.endswith("__")
    is_nested = "<locals>" in function.name
    return is_special or is_nested or not is_undecorated(function)


def _sets(program: Program, module: Module, node: ast.AST) -> bool:
    """Return whether a node sets what may be a context variable."""
    names = original_names(module, node)
    if names & _SETTERS:
        return True
    # A variable may be in any container, if the program has some.
    if not names & {"reset", "set"} or not _has_variables(program):
        return False
    call = module.parents[node]
    return not module.is_called(node) or len(getattr(call, "args", ())) == 1


@functools.lru_cache(maxsize=1)
def _has_variables(program: Program) -> bool:
    return any(b"ContextVar" in m.source for m in program.modules.values())
