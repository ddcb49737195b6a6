"""Names in expressions, as they are written and as they are where things come from.

Rule: ``from sys import exit as leave`` and ``leave = sys.exit`` hide nothing.

Pure.  Used by `gencoro.porting.program`, `gencoro.porting.coroutines`,
`gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
import functools
from collections.abc import Iterator

from gencoro.porting.program import Module

__all__ = ["is_name", "last_name", "original_names", "root_of"]


def last_name(node: ast.AST) -> str:
    """Return a name, or that of an attribute, as it is written; empty for the rest."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_name(node: ast.AST, name: str) -> bool:
    """Return whether an expression is a certain name, and no attribute."""
    return isinstance(node, ast.Name) and node.id == name


def root_of(node: ast.expr) -> ast.expr:
    """Return what attributes and calls begin with: ``a`` of ``a.b().c``."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node


def original_names(module: Module, node: ast.AST) -> frozenset[str]:
    """Return the last names that an expression may have, in the module or elsewhere."""
    name = last_name(node)
    if isinstance(node, ast.Name) and name in _aliases(module):
        return _aliases(module)[name]
    return frozenset({name} if name else ())


@functools.lru_cache(maxsize=2000)
def _aliases(module: Module) -> dict[str, frozenset[str]]:
    """Return what the names of a module may stand for, if it is called otherwise elsewhere."""
    names: dict[str, set[str]] = {}
    for alias, name in _renamings(module):
        names.setdefault(alias, {alias}).add(name)
    for found in names.values():
        pending = list(found)
        while pending:
            new = names.get(pending.pop(), set()) - found
            found |= new
            pending += new
    return {alias: frozenset(found) for alias, found in names.items()}


def _renamings(module: Module) -> Iterator[tuple[str, str]]:
    for node in module.nodes:
        match node:
            case ast.alias(name=name, asname=str(alias)):
                yield alias, name.rpartition(".")[2]
            case ast.Assign(value=ast.Attribute() | ast.Name() as value):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id, last_name(value)
