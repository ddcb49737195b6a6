"""How a module refers to Tornado's gen, and to asyncio.

Rule: a name that the module binds to something else is not used.

Pure.  Used by the fixers.
"""

import ast
from typing import NamedTuple

from gencoro.porting.program import Function, Module
from gencoro.porting.scopes import canonical

__all__ = ["Reference", "reference_to_asyncio", "reference_to_gen"]

_GEN = "tornado.gen"


class Reference(NamedTuple):
    """An expression for a module, and the statements that bind it.

    Attributes:
        text: Such as ``gen``; empty if the name is taken.
        imports: Such as ``from tornado import gen``.
    """

    text: str
    imports: tuple[str, ...] = ()


def reference_to_gen(function: Function) -> Reference:
    """Return how a function refers to the module ``gen``."""
    module = function.module
    for name, bindings in module.top._bindings.items():
        if bindings and all(_is_gen(binding) for binding in bindings):
            return Reference("" if _is_hidden(function, name) else name)
    if not _is_taken(function, "gen"):
        package = "gencoro" if _imports_gencoro(module) else "tornado"
        return Reference("gen", (f"from {package} import gen",))
    is_tornado = module.top._bindings.get("tornado") == ["tornado"]
    is_usable = is_tornado and not _is_hidden(function, "tornado")
    return Reference("tornado.gen" if is_usable else "", ("import tornado.gen",))


def reference_to_asyncio(function: Function) -> Reference:
    """Return how a function refers to asyncio."""
    if any(map(_is_import_of_asyncio, function.module.tree.body)):
        is_hidden = _is_hidden(function, "asyncio")
        return Reference("" if is_hidden else "asyncio")
    if _is_taken(function, "asyncio"):
        return Reference("")
    return Reference("asyncio", ("import asyncio",))


def _is_gen(binding: object) -> bool:
    return isinstance(binding, str) and canonical(binding) == _GEN


def _is_import_of_asyncio(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(
        alias.name.partition(".")[0] == "asyncio" and not alias.asname
        for alias in node.names
    )


def _is_hidden(function: Function, name: str) -> bool:
    """Return whether a name of the module means something else in a function."""
    return function.scope._scope_of(name) is not function.module.top


def _is_taken(function: Function, name: str) -> bool:
    """Return whether a name is bound, in the module or around the use."""
    return function.scope._scope_of(name) is not None


def _imports_gencoro(module: Module) -> bool:
    """Return whether a module has its coroutines from gencoro and not from Tornado."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").partition(".")[0] == "gencoro":
                return True
        elif isinstance(node, ast.Import) and any(
            alias.name.partition(".")[0] == "gencoro" for alias in node.names
        ):
            return True
    return False
