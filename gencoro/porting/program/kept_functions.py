"""Finds functions that a program keeps under other names, such as in a table.

Rule: whatever uses the other name may run the function.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks` and the fixers for
``--to coroutine``.
"""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.compat.doctor.naming import Scope
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.receivers import assignments
from gencoro.porting.program.references import Use, references_of

__all__ = ["kept_names", "uses_of_kept"]

# Methods that put something into a collection.
_ADDING = frozenset(
    {"add", "append", "appendleft", "extend", "insert", "setdefault", "update"}
)


@functools.lru_cache(maxsize=1)
def kept_names(program: Program) -> list[tuple[set[str], set[str]]]:
    """Return the names that something is bound to, each time with the names in the value.

    Also those of functions that return it, but not variables of functions, and not the
    names of what is only called for the value.
    """
    found = []
    for module in program.modules.values():
        for node in module.nodes:
            value = getattr(node, "value", None)
            if isinstance(node, ast.stmt) and isinstance(value, ast.expr):
                function = module.function_at(node)
                targets = {
                    last_name(target)
                    for target in _bound_by(node)
                    if function is None or isinstance(target, ast.Attribute)
                }
                if function is not None and isinstance(node, ast.Return):
                    targets.add(function.node.name)
                inside = {
                    last_name(part)
                    for part in ast.walk(value)
                    if last_name(part) and not _is_called(module, part)
                }
                if targets and inside:
                    found.append((targets, inside))
    return found


def uses_of_kept(
    program: Program, function: Function, are_probable: bool = False
) -> list[Use]:
    """Return the uses of the other names of a function.

    Args:
        are_probable: Leave out attributes that are as likely to be something else.
    """
    found: dict[ast.AST, Use] = {}
    pending = list(references_of(program).of(function))
    while pending:
        use = pending.pop()
        if _is_called(use.module, use.node):
            continue
        for target in _bound_by(_statement_of(use)):
            name = last_name(target)
            if are_probable and len(assignments(program).get(name, "")) > 1:
                continue
            uses = _uses_of_target(program, use.module, target)
            uses = [other for other in uses if other.node not in found]
            found.update((other.node, other) for other in uses)
            pending += uses
    return list(found.values())


def _uses_of_target(
    program: Program, module: Module, target: ast.Attribute | ast.Name
) -> list[Use]:
    """Return the uses that may be of what was bound to a target in a module."""
    name, loads = last_name(target), _loads(program)
    attributes = loads.attributes.get(name, [])
    if isinstance(target, ast.Attribute):
        return attributes
    scope = module.scope_at(target)
    own = loads.names.get((scope._scope_of(name), name), [])
    own = [use for use in own if use.module is module]
    others = loads.globals.get(name, []) if isinstance(scope.node, ast.Module) else []
    others = [use for use in others if use.module is not module]
    is_global = module.function_at(target) is None
    return [*own, *others, *(attributes if is_global else [])]


def _statement_of(use: Use) -> ast.AST:
    node: ast.AST = use.node
    while isinstance(node, (ast.expr, ast.keyword)):
        node = use.module.parents[node]
    return node


def _is_called(module: Module, node: ast.AST) -> bool:
    """Return whether an expression is called where it is, and not in a lambda."""
    call = module.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return False
    while isinstance(call, (ast.expr, ast.keyword)):
        if isinstance(call, ast.Lambda):
            return False
        call = module.parents[call]
    return True


def _bound_by(node: ast.AST) -> Iterator[ast.Attribute | ast.Name]:
    """Yield the names and attributes under which a statement keeps a value."""
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _names_in(target)
        case ast.AnnAssign(target=target):
            yield from _names_in(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method))) if (
            method in _ADDING
        ):
            yield from _names_in(owner)


def _names_in(target: ast.expr) -> Iterator[ast.Attribute | ast.Name]:
    """Yield a target, or the collection that it is an item of."""
    parts = target.elts if isinstance(target, (ast.List, ast.Tuple)) else [target]
    for part in parts:
        while isinstance(part, (ast.Starred, ast.Subscript)):
            part = part.value
        if isinstance(part, (ast.Attribute, ast.Name)):
            yield part


class _Loads(NamedTuple):
    """Where names are used.

    Attributes:
        attributes: Attributes, by their names.
        names: Variables, by the scopes that bind them, and their names.
        globals: Those of modules, by their names.
    """

    attributes: dict[str, list[Use]]
    names: dict[tuple[Scope | None, str], list[Use]]
    globals: dict[str, list[Use]]


@functools.lru_cache(maxsize=1)
def _loads(program: Program) -> _Loads:
    found = _Loads({}, {}, {})
    for module in program.modules.values():
        for node in module.nodes:
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    use = Use(module, node, False)
                    found.attributes.setdefault(name, []).append(use)
                case ast.Name(id=name, ctx=ast.Load()):
                    use = Use(module, node, False)
                    scope = module.scope_at(node)._scope_of(name)
                    found.names.setdefault((scope, name), []).append(use)
                    if scope is module.top:
                        found.globals.setdefault(name, []).append(use)
    return found
