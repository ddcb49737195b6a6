"""Imports of names that Tornado no longer has, and that nothing uses, are removed.

Such as ``engine`` and ``asynchronous`` after what used them was written anew: the import
alone would fail without `gencoro.compat`.

Pure.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.program import Program
from gencoro.compat.doctor.rows import ROWS
from gencoro.porting.fixers.fixer import Fix, Fixer
from gencoro.porting.imports import changed_import, names_used

__all__ = ["REMOVED_IMPORTS"]


def _find(program: Program) -> Iterator[Fix]:
    gone = [
        (module, node, names)
        for module in program.modules.values()
        # Others may import from a package.
        if not module.path.endswith("__init__.py")
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and not node.level
        for names in [_gone(node)]
        if names
    ]
    if not gone:
        return
    used = _used(program)
    for module, node, names in gone:
        unused = names - used
        if unused:
            edits = tuple(
                changed_import(module.text, module.tree.body, node, unused, [])
            )
            if edits:
                yield Fix("GC107", module, node, edits)


def _gone(node: ast.ImportFrom) -> frozenset[str]:
    """Return the names of an import that Tornado has no longer."""
    return frozenset(
        alias.asname or alias.name
        for alias in node.names
        if str(node.module).partition(".")[0] == "tornado"
        and ROWS.is_gone(f"{node.module}.{alias.name}")
    )


def _used(program: Program) -> frozenset[str]:
    """Return the names that modules use, or may import from each other."""
    names: set[str] = set()
    for module in program.modules.values():
        names |= names_used(module.tree)
        for node in module.nodes:
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.ImportFrom) and _is_own(node):
                names.update(alias.name for alias in node.names)
    return frozenset(names)


def _is_own(node: ast.ImportFrom) -> bool:
    return bool(node.level) or (node.module or "").partition(".")[0] != "tornado"


REMOVED_IMPORTS = Fixer("GC107", "imports of removed names that nothing uses go", _find)
