"""Resolves method calls on Tornado objects, considering all assignments in the program.

Rule: everything that the program assigns to an attribute of that name counts.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks` and the
fixers for ``--to coroutine``.
"""

import ast
import functools

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.program import Module, Program
from gencoro.porting.program.inheritance import overrides_tornado
from gencoro.porting.program.origins import root_of
from gencoro.porting.program.patched_names import is_swapped
from gencoro.porting.program.references import references_of

__all__ = ["assignments", "certain_method", "is_certain_receiver", "is_collection"]

_COLLECTIONS = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp)


def certain_method(program: Program, module: Module, func: ast.expr) -> str:
    """Return the name of the method that an expression certainly is; empty if none."""
    if not isinstance(func, ast.Attribute):
        return ""
    names = {thing.name for thing in module.things(func)}
    if len(names) != 1 or references_of(program).is_replaced(func.attr):
        return ""
    # Tornado makes objects of a subclass itself, such as after AsyncHTTPClient.configure().
    named = program.functions_by_name.get(func.attr, ())
    if any(overrides_tornado(function, program) for function in named):
        return ""
    is_sure = module.scope_at(func).is_sure(func)
    is_certain = is_sure and is_certain_receiver(program, module, func.value, func.attr)
    name = names.pop()
    return name if is_certain and not is_swapped(program, name) else ""


def _is_own(node: ast.expr) -> bool:
    """Return whether what is called belongs to ``self`` or to its class."""
    root = root_of(node)
    return isinstance(root, ast.Name) and root.id in ("cls", "self")


def is_certain_receiver(
    program: Program, module: Module, receiver: ast.expr, method: str
) -> bool:
    """Return whether everything that may be a receiver has a method of Tornado."""
    receiver = module.values_of(receiver)[-1]
    match receiver:
        case ast.Call(func=func):
            # A subclass may make another object: ``self.client_class()``.
            return not _is_own(receiver) and not _is_own(module.values_of(func)[-1])
        case ast.Name():
            return True
        case ast.Attribute(value=ast.Name(), attr=attr):
            if attr in references_of(program).lookups.patched:
                return False
            # Tornado sets it to what a method returns, such as get_http_client().
            made = program.functions_by_name.get(f"get_{attr}", ())
            if any(overrides_tornado(function, program) for function in made):
                return False
            assigned = assignments(program).get(attr, [])
            return all(_has(m, v, method) for m, v in assigned)
    return False


def is_collection(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an object certainly is a dict, list or set, as is ``self.rows``."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            values = [value for _, value in assignments(program).get(name, [])]
            is_one = all(map(_is_none_or_collection, values)) and any(values)
            return is_one and name not in references_of(program).lookups.patched
        case ast.Name(id=name):
            is_one = isinstance(module.values_of(node)[-1], _COLLECTIONS)
            return is_one and not references_of(program).is_replaced(name)
    return False


def _is_none_or_collection(value: ast.expr | None) -> bool:
    is_none = isinstance(value, ast.Constant) and value.value is None
    return is_none or isinstance(value, _COLLECTIONS)


def _has(module: Module, value: ast.expr | None, method: str) -> bool:
    """Return whether a value is None, or an object of Tornado with a method."""
    if value is None:
        return False
    if isinstance(value, ast.Constant) and value.value is None:
        return True
    if isinstance(value, ast.Call) and _is_own(value):
        return False
    things = module.things(value)
    return bool(things) and all(
        thing.is_object and TODAY.has(f"{thing.name}.{method}") for thing in things
    )


@functools.lru_cache(maxsize=1)
def assignments(
    program: Program,
) -> dict[str, list[tuple[Module, ast.expr | None]]]:
    """Return what is assigned to attributes, and None for what is not known."""
    found: dict[str, list[tuple[Module, ast.expr | None]]] = {}
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Attribute):
                name = node.attr
            elif isinstance(node, ast.Name) and module.function_at(node) is None:
                name = node.id
            else:
                continue
            if not isinstance(node.ctx, ast.Load):
                parent = module.parents[node]
                value = parent.value if isinstance(parent, ast.Assign) else None
                found.setdefault(name, []).append((module, value))
    return found
