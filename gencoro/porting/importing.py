"""How a module refers to Tornado's gen, and to asyncio.

Rule: a name that the module binds to something else is not used.

Pure.  Used by the fixers.
"""

import ast
from typing import NamedTuple

from gencoro.porting.program import Function, Module

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
        if all(b == _GEN for b in bindings) and bindings:
            return Reference("" if _is_hidden(function, name) else name)
    if _is_bound_anywhere(module, "gen"):
        tornado = module.top._bindings.get("tornado", [])
        is_usable = tornado == ["tornado"] and not _is_hidden(function, "tornado")
        return Reference("tornado.gen" if is_usable else "", ("import tornado.gen",))
    package = "gencoro" if _imports_gencoro(module) else "tornado"
    return Reference("gen", (f"from {package} import gen",))


def reference_to_asyncio(function: Function) -> Reference:
    """Return how a function refers to asyncio."""
    module = function.module
    if any(_is_import_of_asyncio(node) for node in module.tree.body):
        return Reference("" if _is_hidden(function, "asyncio") else "asyncio")
    if _is_bound_anywhere(module, "asyncio"):
        return Reference("")
    return Reference("asyncio", ("import asyncio",))


def _is_import_of_asyncio(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(
        alias.name.partition(".")[0] == "asyncio" and not alias.asname
        for alias in node.names
    )


def _is_hidden(function: Function, name: str) -> bool:
    """Return whether a name of the module means something else in a function."""
    scope = function.scope._scope_of(name)
    return scope is not function.module.top


def _is_bound_anywhere(module: Module, name: str) -> bool:
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) | ast.arg(arg=found):
                pass
            case ast.alias(asname=found) if found:
                pass
            case ast.alias(name=found):
                found = found.partition(".")[0]
            case ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                pass
            case ast.ExceptHandler(name=str(found)):
                pass
            case _:
                continue
        if found == name:
            return True
    return False


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
