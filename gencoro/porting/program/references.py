"""References to the functions of a program.

Rule: a use that cannot be resolved counts for every function of that name.

Pure.  Used by `gencoro.porting.program`, everything above it, and
`gencoro.porting.plan`.
"""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.reflection import Lookups, spellings

__all__ = ["References", "Use", "references_of"]

# Names that objects of the standard library have as well.
_COMMON = frozenset(
    name
    for kind in (bytes, dict, list, set, str)
    for name in dir(kind)
    if not name.startswith("__")
) | {"close", "get", "put", "read", "run", "send", "start", "submit", "wait", "write"}


class Use(NamedTuple):
    """A use of a function.

    Attributes:
        module: Where it is.
        node: The name or attribute.
        is_resolved: Whether it certainly is the function, and not only one of that name.
    """

    module: Module
    node: ast.expr
    is_resolved: bool


class References:
    """The uses of the functions of a program.

    Args:
        program: The program.

    Attributes:
        stored: The names of attributes that are assigned, apart from methods.
        lookups: Where functions may be looked up by name.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._uses: dict[Function, list[Use]] = {}
        self.stored: set[str] = set()
        self.lookups = Lookups(program)
        for module in program.modules.values():
            for node in module.nodes:
                self._visit(module, node)

    def of(self, function: Function) -> list[Use]:
        """Return the uses of a function, by name or as an attribute."""
        return self._uses.get(function, [])

    def is_named(self, function: Function) -> bool:
        """Return whether a lookup, or a source that was not parsed, may name a function."""
        is_unread = function.node.name in self._program.unread_words
        return is_unread or self.lookups.may_find(function)

    def is_replaced(self, name: str) -> bool:
        """Return whether something may be assigned to an attribute of that name."""
        return name in self.stored or name in self.lookups.patched

    def is_common(self, name: str) -> bool:
        """Return whether objects of other classes are likely to have a method."""
        return name in _COMMON

    def _visit(self, module: Module, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self._add_name(module, node)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                self._add_attribute(module, node)
            else:
                self.stored |= spellings(node.attr)
        elif isinstance(node, ast.ClassDef):
            self.stored.update(_assigned_in_class(node))

    def _add_name(self, module: Module, node: ast.Name) -> None:
        if node.id not in self._names_of_functions and node.id not in self._aliases:
            return
        for function in self._program.functions_of(module, node):
            self._uses.setdefault(function, []).append(Use(module, node, True))

    def _add_attribute(self, module: Module, node: ast.Attribute) -> None:
        by_name = self._program.functions_by_name
        named = [f for name in spellings(node.attr) for f in by_name.get(name, ())]
        if not named and node.attr not in self._aliases:
            return
        things = module.things(node)
        found = {
            self._program.function_by_node[t.node]
            for t in things
            if t.node in self._program.function_by_node and not t.is_object
        }
        for function in found:
            self._uses.setdefault(function, []).append(Use(module, node, True))
        if any(function.owner is None for function in found):
            return
        if not found and any(thing.name for thing in things):
            return  # it is Tornado's
        owners = {function.owner for function in found}
        for function in named:
            if function in found or "<locals>" in function.name and not function.owner:
                continue
            if owners and function.owner is None:
                continue
            self._uses.setdefault(function, []).append(Use(module, node, False))

    @functools.cached_property
    def _names_of_functions(self) -> set[str]:
        return set(self._program.functions_by_name)

    @functools.cached_property
    def _aliases(self) -> set[str]:
        """Other names that imports and assignments may give to functions."""
        found = set()
        for module in self._program.modules.values():
            for node in module.nodes:
                if isinstance(node, ast.alias) and node.asname:
                    found.add(node.asname)
                elif isinstance(node, ast.Assign) and isinstance(
                    node.value, (ast.Name, ast.Attribute)
                ):
                    found.update(t.id for t in node.targets if isinstance(t, ast.Name))
        return found


@functools.lru_cache(maxsize=1)
def references_of(program: Program) -> References:
    """Return the uses of the functions of a program."""
    return References(program)


def _assigned_in_class(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for child in ast.walk(statement):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    yield child.id
