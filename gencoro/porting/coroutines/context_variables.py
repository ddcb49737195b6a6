"""Finds coroutines that set context variables, and functions that run certain others.

Rule: the body of a coroutine runs in a copy of its caller's context; an ``async def`` that is
awaited runs in that of its caller.

Pure.  Used by other modules of `gencoro.porting.coroutines` and the fixers for
``--to coroutine``.
"""

import ast
import functools

from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.origins import last_name, original_names
from gencoro.porting.program.receivers import assignments
from gencoro.porting.program.references import Use, references_of

__all__ = [
    "is_plain",
    "is_undecorated",
    "probable_uses",
    "sets_context",
    "users_of",
    "uses_that_run",
]

_BUILTIN_DECORATORS = frozenset({"classmethod", "property", "staticmethod"})

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
    is_called = isinstance(call, ast.Call) and call.func is node
    return not is_called or len(getattr(call, "args", ())) == 1


@functools.lru_cache(maxsize=1)
def _has_variables(program: Program) -> bool:
    return any(b"ContextVar" in m.source for m in program.modules.values())


def users_of(
    functions: list[Function], program: Program, are_probable: bool = False
) -> list[Function]:
    """Return functions, and those whose bodies run them, directly or through others.

    Args:
        are_probable: Leave out the uses that are as likely to be of another function.
    """
    found = list(functions)
    for used in found:  # it grows
        users = direct_users(used, program, are_probable)
        found += [user for user in users if user not in found]
    return found


def direct_users(
    function: Function, program: Program, are_probable: bool = False
) -> dict[Function, None]:
    """Return the functions whose bodies run another one; see `users_of`."""
    uses = uses_that_run(function, program, are_probable)
    users = (use.module.function_at(use.node) for use in uses)
    return dict.fromkeys(user for user in users if user is not None)


def uses_that_run(
    function: Function, program: Program, are_probable: bool
) -> list[Use]:
    """Return the uses that run a plain function, or a generator by ``yield from``."""
    uses = references_of(program).of(function)
    if is_plain(function):
        return probable_uses(function, program) if are_probable else uses
    if not is_undecorated(function):
        return []
    return [
        use
        for use in uses
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
    return [
        use
        for use in references.of(function)
        if use.is_resolved or (is_only and not _is_of_self(use, function, program))
    ]


def _is_of_self(use: Use, function: Function, program: Program) -> bool:
    """Return whether a use is an attribute of ``self`` that a function of a module is not.

    It would have to be assigned to the object or to its class.
    """
    name = function.node.name
    match use.node:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr) if (
            attr == name
        ):
            assigned = [value for _, value in assignments(program).get(name, ())]
            is_patched = name in references_of(program).lookups.patched
            is_own = function.owner is not None or "<locals>" in function.name
            return not (is_own or is_patched) and all(
                _is_another(value, name) for value in assigned
            )
    return False


def _is_another(value: ast.expr | None, name: str) -> bool:
    """Return whether a value is a constant, or made by a call that does not name a function."""
    if not isinstance(value, (ast.Call, ast.Constant)):
        return False
    return all(last_name(node) != name for node in ast.walk(value))


def is_plain(function: Function) -> bool:
    """Return whether a call runs the body of a function by itself."""
    return is_undecorated(function) and not function.is_generator


def is_undecorated(function: Function) -> bool:
    """Return whether a function has no decorator but builtin ones."""
    return isinstance(function.node, ast.FunctionDef) and all(
        isinstance(d, ast.Name) and d.id in _BUILTIN_DECORATORS
        for d in function.node.decorator_list
    )
