"""Finds the functions whose bodies run another one, directly or through others.

Rule: a call runs the body of a plain function; that of a generator runs where it is
delegated to with ``yield from``.

Pure.  Used by other modules of `gencoro.porting.coroutines` and by
`gencoro.porting.fixers.to_coroutine.engine`.
"""

import ast

from gencoro.porting.program import Function, Program
from gencoro.porting.program.call_graph import reachable
from gencoro.porting.program.kept_functions import uses_of_kept
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.receivers import assignments
from gencoro.porting.program.references import Use, references_of

__all__ = [
    "direct_users",
    "is_plain",
    "is_undecorated",
    "probable_uses",
    "users_of",
    "uses_that_run",
]

_BUILTIN_DECORATORS = frozenset({"classmethod", "property", "staticmethod"})


def users_of(
    functions: list[Function], program: Program, are_probable: bool = False
) -> list[Function]:
    """Return functions, and those whose bodies run them, directly or through others.

    Args:
        are_probable: Leave out the uses that are as likely to be of another function.
    """
    return list(
        reachable(functions, lambda used: direct_users(used, program, are_probable))
    )


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
        if are_probable:
            return probable_uses(function, program)
        return [*uses, *uses_of_kept(program, function)]
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
    found = [
        use
        for use in references.of(function)
        if use.is_resolved or (is_only and not _is_of_self(use, function, program))
    ]
    return [*found, *uses_of_kept(program, function, True)]


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
