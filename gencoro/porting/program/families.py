"""The classes of a program with their base classes and subclasses.

Rule: only classes that the program defines.

Pure.  Used by `gencoro.porting.program` and `gencoro.porting.callbacks`.
"""

import ast
import functools
from collections.abc import Mapping
from typing import TypeAlias

from gencoro.porting.program import Program

__all__ = ["family_of", "heirs_of", "relatives_of"]

_Classes: TypeAlias = set[ast.ClassDef]


def heirs_of(program: Program, owner: ast.ClassDef | None) -> _Classes:
    """Return a class and the classes that inherit from it; none for no class."""
    bases = _bases(program)
    found: _Classes = set() if owner is None else {owner}
    while new := _subclasses(bases, found) - found:
        found |= new
    return found


def relatives_of(program: Program, owner: ast.ClassDef) -> _Classes:
    """Return what may define a method of an object whose class is one, or inherits from it.

    That is the class, its heirs, and the base classes of all of these.
    """
    bases = _bases(program)
    found = heirs_of(program, owner)
    while new := _base_classes(bases, found) - found:
        found |= new
    return found


def family_of(program: Program, owners: _Classes) -> _Classes:
    """Return classes, and what is related to them in any way, such as by a common base."""
    bases = _bases(program)
    found = set(owners)
    while new := (_subclasses(bases, found) | _base_classes(bases, found)) - found:
        found |= new
    return found


def _subclasses(bases: Mapping[ast.ClassDef, _Classes], found: _Classes) -> _Classes:
    return {node for node, its in bases.items() if its & found}


def _base_classes(bases: Mapping[ast.ClassDef, _Classes], found: _Classes) -> _Classes:
    return {base for node in found for base in bases.get(node, ())}


@functools.lru_cache(maxsize=1)
def _bases(program: Program) -> dict[ast.ClassDef, _Classes]:
    """Return the direct base classes of each class."""
    return {
        node: {
            thing.node
            for thing in module.scope_at(node).own_bases(node)
            if isinstance(thing.node, ast.ClassDef)
        }
        for module in program.modules.values()
        for node in module.classes
    }
