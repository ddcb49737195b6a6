"""Finds the classes whose objects the standard library gets, and may call.

Rule: ``json.load(reader)`` calls ``reader.read``, and does not wait for it.

Pure.  Used by `gencoro.porting.coroutines.decisions`.
"""

import ast
import builtins
import functools
from collections.abc import Iterator

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.families import relatives_of
from gencoro.porting.program.library_names import names_from_library
from gencoro.porting.program.origins import root_of

__all__ = ["may_be_called_by_library"]


def may_be_called_by_library(function: Function, program: Program) -> bool:
    """Return whether a function is a method of an object that the standard library gets."""
    return function.owner in _given(program)


@functools.lru_cache(maxsize=1)
def _given(program: Program) -> frozenset[ast.ClassDef]:
    """Return the classes of such objects, with those that they may inherit from."""
    owners = {
        thing.node
        for module in program.modules.values()
        for node in module.nodes
        for value in _values_given(module, node)
        for thing in module.things(value)
        if thing.is_object and isinstance(thing.node, ast.ClassDef)
    }
    return frozenset(c for owner in owners for c in relatives_of(program, owner))


def _values_given(module: Module, node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a call gives to a function of the library, or an assignment to a module."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            root = root_of(func)
            if not isinstance(root, ast.Name):
                return
            if root.id in names_from_library(module):
                yield from args
                yield from (keyword.value for keyword in keywords)
            elif root is func and hasattr(builtins, root.id):
                yield from (k.value for k in keywords if k.arg == "file")
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            root = root_of(target)
            if isinstance(root, ast.Name) and root.id in names_from_library(module):
                yield value
