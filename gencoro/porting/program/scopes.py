"""Resolves names in a scope, and maps those of gencoro to Tornado's.

Rule: a name of gencoro stands for Tornado's, so that a fixer asks for one name only.
Used by `gencoro.porting.program`, and by the modules that look up names themselves.
"""

import ast
import os
import sys
from collections.abc import Callable
from typing import TypeAlias

from gencoro.compat.doctor.naming import Modules, Scope
from gencoro.compat.doctor.parsing import statements
from gencoro.compat.doctor.project import Project
from gencoro.compat.doctor.rows import TODAY

__all__ = ["SourceScope", "Sources", "canonical"]

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
            return self.has_stars or bool(_starred(self, node.id))
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
        super().__init__(files, TODAY, _find_nothing)
        self._lookup = lookup

    def imported_by(self, source: bytes, file: str) -> set[str]:
        """Return the files of the program that a module may import."""
        return set(self._imported_in(source, file))

    def _scope_in(self, file: str) -> Scope | None:
        return self._lookup(file) or super()._scope_in(file)


def _starred(
    scope: Scope, name: str, seen: frozenset[str] = frozenset()
) -> bool | None:
    """Return whether ``import *`` certainly gives a module a name of Tornado.

    None if that is not certain, and False if it certainly gives no such name.
    """
    while scope.parent is not None:
        scope = scope.parent
    given = [
        _given(scope, node, name, seen | {scope.file})
        for node in statements(getattr(scope.node, "body", []))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    return None if None in given else True in given


def _given(
    scope: Scope, star: ast.ImportFrom, name: str, seen: frozenset[str]
) -> bool | None:
    """Return what `_starred` does, for one import."""
    imported = star.module or ""
    known = scope.known_module(imported, star.level)
    if known is not None:
        return TODAY.has(f"{known}.{name}")
    file = scope._modules.file_of(imported, star.level, scope.file)
    if file is None:
        is_of_library = imported.partition(".")[0] in sys.stdlib_module_names
        # These two have, or had, a ``coroutine``.
        is_plain = is_of_library and imported not in ("asyncio", "types")
        return False if is_plain and not star.level else None
    found = scope._modules.scope_in(file)
    if found is None or file in seen:
        return None
    return _exported(found, name, seen)


def _exported(scope: Scope, name: str, seen: frozenset[str]) -> bool | None:
    """Return whether a module certainly has a name of Tornado for ``import *``."""
    listed = scope._bindings.get("__all__")
    if listed is not None:
        if _is_extended(scope.node):
            return None
        match listed:
            case [ast.List(elts=parts) | ast.Tuple(elts=parts)] if _are_constants(
                parts
            ):
                if not any(getattr(part, "value", "") == name for part in parts):
                    return False
            case _:
                return None
    elif name.startswith("_"):
        return False
    given = _starred(scope, name, seen)
    bindings = scope._bindings.get(name)
    if bindings is None:
        is_package = os.path.basename(scope.file) == "__init__.py"
        is_module = is_package and scope._modules.file_of(name, 1, scope.file)
        return None if is_module else given
    is_certain = given is False and all(map(_is_of_tornado, bindings))
    return True if is_certain else None


def _is_extended(module: ast.AST) -> bool:
    """Return whether a method of ``__all__`` may add names to it."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "__all__"
        for node in ast.walk(module)
    )


def _are_constants(parts: list[ast.expr]) -> bool:
    return all(isinstance(part, ast.Constant) for part in parts)


def _is_of_tornado(binding: object) -> bool:
    return isinstance(binding, str)


def _find_nothing(
    _modules: Modules, _module: ast.Module, _file: str
) -> frozenset[ast.alias]:
    """Return no import: each one counts."""
    return frozenset()
