"""Which methods a call may run: those of a class, of its bases, and what overrides them.

Rule: a call on `self` may run any method that an object of the class, or of one that inherits
from it, has by that name.  A call on an object that the program makes runs the method of its
class.

Pure.  Used by `gencoro.porting.uses`, `gencoro.porting.values` and `gencoro.porting.hooks`.
"""

import ast
import functools
import sys

from gencoro.compat.doctor.program import Function, Module, Program

__all__ = ["Families"]


class Families:
    """The classes of a program, with what they inherit and override."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ancestors: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        self._methods: dict[ast.ClassDef, dict[str, Function]] = {}
        self._runs: dict[tuple[ast.ClassDef, str], list[Function]] = {}
        for function in program.functions:
            if function.owner is not None:
                named = self._methods.setdefault(function.owner, {})
                named[function.node.name] = function

    def targets(self, module: Module, node: ast.expr) -> list[Function]:
        """Return the functions of the program that a call of an expression may run."""
        found = self._program.functions_of(module, node)
        if not isinstance(node, ast.Attribute) or not _is_any_of(module, node.value):
            return found
        for owner in self._program.classes_of(module, node.value):
            found += [f for f in self.methods(owner, node.attr) if f not in found]
        return found

    def methods(self, owner: ast.ClassDef, name: str) -> list[Function]:
        """Return the methods of a name that objects of a class, or of its heirs, have."""
        key = (owner, name)
        if key not in self._runs:
            found = self._runs[key] = []
            for heir in self.heirs(owner):
                for ancestor in self.ancestors(heir):
                    method = self._methods.get(ancestor, {}).get(name)
                    if method is not None:
                        found += [method] if method not in found else []
                        break
        return self._runs[key]

    def ancestors(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return a class and the classes of the program that it inherits from."""
        if node in self._ancestors:
            return self._ancestors[node]
        found = self._ancestors[node] = [node]
        for owner in found:  # it grows
            module = self._program.module_by_class.get(owner)
            if module is None:
                continue
            for thing in module.scope_at(owner).own_bases(owner):
                if isinstance(thing.node, ast.ClassDef) and thing.node not in found:
                    found.append(thing.node)
        return found

    def heirs(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return a class and the classes of the program that inherit from it."""
        return self._heirs_by_class.get(node, [node])

    def unread_base(self, node: ast.ClassDef) -> str:
        """Return a base class that is neither in the program nor known; empty if none is."""
        for owner in self.ancestors(node):
            module = self._program.module_by_class.get(owner)
            if module is None:
                continue
            for base in owner.bases:
                names = module.names(base)
                is_read = bool(self._program.classes_of(module, base))
                if not is_read and not any(map(_is_known, names)):
                    return ast.unparse(base)
        return ""

    @functools.cached_property
    def _heirs_by_class(self) -> dict[ast.ClassDef, list[ast.ClassDef]]:
        found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for node in self._program.module_by_class:
            for owner in self.ancestors(node):
                found.setdefault(owner, []).append(node)
        return found


def _is_any_of(module: Module, node: ast.expr) -> bool:
    """Return whether an object may be of a class that inherits from the one that it has.

    So it is for a parameter, such as `self`; other objects are made of their class.
    """
    if not isinstance(node, ast.Name):
        return False
    scope = module.scope_at(node).scope_of(node.id)
    return scope is not None and None in scope.bindings[node.id]


def _is_known(name: str) -> bool:
    """Return whether a base class is Tornado's, or one of the standard library."""
    top = name.partition(".")[0]
    return top in ("tornado", "builtins") or top in sys.stdlib_module_names
