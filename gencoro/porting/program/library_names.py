"""What a module has of the standard library, and its full name, such as ``time.time``.

Rule: only where nothing else may be meant.

Pure.  Used by `gencoro.porting.program.name_filters`, `gencoro.porting.coroutines`
and `gencoro.porting.callbacks`.
"""

import ast
import functools
import sys

from gencoro.porting.program import Module, Program
from gencoro.porting.program.foreign_objects import foreign_of

__all__ = ["library_name", "names_from_library"]


def library_name(program: Program, module: Module, node: ast.expr) -> str:
    """Return the full name of something of the standard library; empty if it is uncertain."""
    root, _, rest = ast.unparse(node).partition(".")
    if not root.isidentifier() or foreign_of(program).may_bind(module, root):
        return ""
    scope = module.scope_at(node)._scope_of(root)
    if scope is None:
        return root if not rest else ""
    imported = [
        _imported_name(node, alias)
        for node in module.nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and module.scope_at(node) is scope
        for alias in node.names
        if (alias.asname or alias.name.partition(".")[0]) == root
    ]
    # ``import os, os.path`` binds a name to the same package twice.
    is_one = len(set(imported)) == 1 and len(imported) == len(scope._bindings[root])
    is_own = any(getattr(binding, "file", "") for binding in scope._bindings[root])
    if not is_one or is_own:
        return ""
    return f"{imported[0]}.{rest}" if rest else imported[0]


def _imported_name(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """Return the full name of what an import binds; empty if it is a relative one."""
    if isinstance(node, ast.ImportFrom):
        return "" if node.level else f"{node.module}.{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


@functools.lru_cache(maxsize=2000)
def names_from_library(module: Module) -> frozenset[str]:
    """Return what a module imports from the standard library, apart from asyncio."""
    found = set()
    for node in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = getattr(node, "module", alias.name) or ""
                package = name.partition(".")[0]
                if package in sys.stdlib_module_names - {"asyncio"}:
                    found.add((alias.asname or alias.name).partition(".")[0])
    return frozenset(found)
