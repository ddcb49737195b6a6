"""Groups methods that may be called in place of each other: a family overrides one another.

Rule: a call of one member may run any other, so the uses of each count for all.

Pure.  Used by `gencoro.porting.uses` and `gencoro.porting.values`.
"""

import ast
import functools
import sys

from gencoro.porting.program import Function, Program

__all__ = ["Families"]


class Families:
    """The classes of a program, with their bases and the methods that override each other."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ancestors: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        self._leader: dict[Function, Function] = {}
        self._members: dict[Function, list[Function]] = {}
        self._methods: dict[ast.ClassDef, dict[str, Function]] = {}
        for function in program.functions:
            if function.owner is not None:
                named = self._methods.setdefault(function.owner, {})
                named[function.node.name] = function
        for node in program.module_by_class:
            if isinstance(node, ast.ClassDef):
                self._join_methods(node)

    def members(self, function: Function) -> list[Function]:
        """Return a function, and those that override it or that it overrides."""
        leader = self.leader(function)
        return self._members.get(leader, [function])

    def leader(self, function: Function) -> Function:
        """Return the member that stands for a function's family."""
        while function in self._leader:
            function = self._leader[function]
        return function

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

    def are_related(self, one: ast.ClassDef, other: ast.ClassDef) -> bool:
        """Return whether an object may be of both classes, as far as the program tells."""
        return any(
            one in line and other in line
            for line in map(self.ancestors, self.heirs(one))
        )

    def has_unread_base(self, node: ast.ClassDef) -> str:
        """Return a base class that is neither in the program nor known; empty if none is."""
        for owner in self.ancestors(node):
            module = self._program.module_by_class.get(owner)
            if module is None:
                continue
            for base in owner.bases:
                names = module.names(base)
                is_known = any(n.startswith(("tornado.", "builtins.")) for n in names)
                is_read = bool(self._program.classes_of(module, base))
                if not (is_read or is_known or _is_of_library(names)):
                    return ast.unparse(base)
        return ""

    def heirs(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return a class and the classes of the program that inherit from it."""
        return self._heirs_by_class.get(node, [node])

    @functools.cached_property
    def _heirs_by_class(self) -> dict[ast.ClassDef, list[ast.ClassDef]]:
        found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for node in self._program.module_by_class:
            if isinstance(node, ast.ClassDef):
                for owner in self.ancestors(node):
                    found.setdefault(owner, []).append(node)
        return found

    def _join_methods(self, node: ast.ClassDef) -> None:
        first: dict[str, Function] = {}
        for owner in self.ancestors(node):
            for name, method in self._methods.get(owner, {}).items():
                if name in first:
                    self._join(first[name], method)
                else:
                    first[name] = method

    def _join(self, one: Function, other: Function) -> None:
        one, other = self.leader(one), self.leader(other)
        if one is not other and one != other:
            joined = [
                *self._members.get(one, [one]),
                *self._members.pop(other, [other]),
            ]
            self._members[one] = joined
            self._leader[other] = one


def _is_of_library(names: set[str]) -> bool:
    """Return whether a base class is one of the standard library."""
    return any(name.partition(".")[0] in sys.stdlib_module_names for name in names)
