"""Which coroutines set context variables, or ask for the current Task.

Rule: the body of a coroutine runs in a copy of its caller's context, and in no Task; an
``async def`` that is awaited runs in those of its caller.

Pure.  Used by `gencoro.porting.decisions` and `gencoro.porting.problems`.
"""

import ast
import functools

from gencoro.porting.program import Function, Program
from gencoro.porting.references import Use, references_of

__all__ = [
    "asks_for_task",
    "is_plain",
    "is_undecorated",
    "probable_uses",
    "sets_context",
    "users_of",
]

_BUILTIN_DECORATORS = frozenset({"classmethod", "property", "staticmethod"})
_TASKS = frozenset({"all_tasks", "current_task"})

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
    return function in _setters(program)


def asks_for_task(function: Function) -> ast.AST | None:
    """Return where a function asks asyncio for the current Task; None if it does not."""
    for node in function.own:
        if isinstance(node, (ast.Attribute, ast.Name)) and _name_of(node) in _TASKS:
            return node
    return None


@functools.lru_cache(maxsize=1)
def _setters(program: Program) -> frozenset[Function]:
    modules = program.modules.values()
    has_variables = any(b"ContextVar" in module.source for module in modules)
    setters = [f for f in program.functions if _sets(f, has_variables)]
    return frozenset(users_of(setters, program))


def _sets(function: Function, has_variables: bool) -> bool:
    """Return whether a body sets what may be a context variable.

    Args:
        has_variables: Whether the program has some; they may be in any container.
    """
    for node in function.own:
        if _name_of(node) in _SETTERS:
            return True
        if has_variables and _name_of(node) in ("reset", "set"):
            call = function.module.parents[node]
            is_called = isinstance(call, ast.Call) and call.func is node
            if not is_called or len(getattr(call, "args", ())) == 1:
                return True
    return False


def users_of(functions: list[Function], program: Program) -> list[Function]:
    """Return functions, and those whose bodies run them, directly or through others."""
    found = list(functions)
    for used in found:  # it grows
        for use in _uses_that_run(used, program):
            user = use.module.function_at(use.node)
            if user is not None and user not in found:
                found.append(user)
    return found


def _uses_that_run(function: Function, program: Program) -> list[Use]:
    """Return the uses that run a plain function, or a generator by ``yield from``."""
    if is_plain(function):
        return probable_uses(function, program)
    if not is_undecorated(function):
        return []
    return [
        use
        for use in references_of(program).of(function)
        if isinstance(_parent(use, _parent(use, use.node)), ast.YieldFrom)
    ]


def _parent(use: Use, node: ast.AST) -> ast.AST:
    return use.module.parents[node]


def probable_uses(function: Function, program: Program) -> list[Use]:
    """Return the uses that certainly or probably are of a plain function."""
    references = references_of(program)
    name = function.node.name
    is_only = all(map(is_plain, program.functions_by_name[name]))
    is_only = is_only and not references.is_common(name)
    return [use for use in references.of(function) if use.is_resolved or is_only]


def is_plain(function: Function) -> bool:
    """Return whether a call runs the body of a function by itself."""
    return is_undecorated(function) and not function.is_generator


def is_undecorated(function: Function) -> bool:
    """Return whether a function has no decorator but builtin ones."""
    return isinstance(function.node, ast.FunctionDef) and all(
        isinstance(d, ast.Name) and d.id in _BUILTIN_DECORATORS
        for d in function.node.decorator_list
    )


def _name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
