"""Resolves names in a scope, and maps those of gencoro to Tornado's.

Rule: a name of gencoro stands for Tornado's, so that a fixer asks for one name only.
Used by `gencoro.porting.program`.
"""

import ast
from collections.abc import Callable
from typing import TypeAlias

from gencoro.compat.doctor.naming import Modules, Scope
from gencoro.compat.doctor.project import Project
from gencoro.compat.doctor.rows import TODAY

__all__ = ["SourceScope", "Sources", "canonical", "find_nothing"]

_Lookup: TypeAlias = Callable[[str], "Scope | None"]


def canonical(name: str) -> str:
    """Return the defining name of a dotted name of Tornado or gencoro.

    >>> canonical("tornado.coroutine"), canonical("tornado.web.gen.coroutine")
    ('tornado.gen.coroutine', 'tornado.gen.coroutine')
    """
    if name.startswith("tornado.") and name.count(".") == 1 and not TODAY.has(name):
        # gencoro hands out the names of its gen.
        name = f"tornado.gen.{name.removeprefix('tornado.')}"
    found = TODAY.find(name)
    return found[0] if found is not None else name


class SourceScope(Scope):
    """A scope in which ``gencoro.gen`` and the like stand for Tornado's modules."""

    def known_module(self, module: str, level: int) -> str | None:
        """Return the name of an imported module if it is known, and not the program's."""
        if not level and module.partition(".")[0] == "gencoro":
            is_own = self._modules.file_of(module, 0, self.file) is not None
            return None if is_own else "tornado" + module.removeprefix("gencoro")
        return super().known_module(module, level)

    def is_certain(self, node: ast.expr) -> bool:
        """Return whether every binding of the first name of an expression is Tornado's.

        A binding to None does not count: it stands for a missing import.
        """
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        if not isinstance(node, ast.Name):
            return False
        scope = self._scope_of(node.id)
        if scope is None:
            return self.has_stars
        return all(
            self._is_tornado(scope, binding) for binding in scope._bindings[node.id]
        )

    @staticmethod
    def _is_tornado(scope: Scope, binding: object) -> bool:
        if isinstance(binding, str):
            return True
        if isinstance(binding, ast.Constant):
            return binding.value is None
        if isinstance(binding, ast.expr):
            return any(thing.name for thing in scope.things(binding))
        file = getattr(binding, "file", "")
        return bool(file)


class Sources(Project):
    """The modules of a program, whose sources are given.

    Args:
        files: The files of the program.
        lookup: Returns the scope of a module of the program.
    """

    def __init__(self, files: list[str], lookup: _Lookup) -> None:
        super().__init__(files, TODAY, find_nothing)
        self._lookup = lookup

    def imported_by(self, source: bytes, file: str) -> set[str]:
        """Return the files of the program that a module may import."""
        return set(self._imported_in(source, file))

    def _scope_in(self, file: str) -> Scope | None:
        return self._lookup(file) or super()._scope_in(file)


def find_nothing(
    _modules: Modules, _module: ast.Module, _file: str
) -> frozenset[ast.alias]:
    """Return no import: each one counts."""
    return frozenset()
