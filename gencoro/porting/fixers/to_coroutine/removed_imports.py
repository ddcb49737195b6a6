"""Unused imports of names that Tornado no longer has are removed."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.compat.doctor.rows import ROWS
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Module, Program

__all__ = ["REMOVED_IMPORTS"]

CODE = "GC107"


def find(program: Program) -> Iterator[Fix]:
    """Yield the imports that lose a name, or go."""
    # A star import may take a name to any module.
    used = _imported_names(program)
    for module in program.modules.values():
        used |= _used_names(module)
    for module in program.modules.values():
        if module.path.endswith("__init__.py"):  # others may import from it
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = _unused(node, used)
                if names:
                    yield Fix(CODE, module, node.lineno, (_change(node, names),))


def _unused(node: ast.ImportFrom, used: set[str]) -> set[str]:
    """Return the names of an import that Tornado has no longer, and nothing uses."""
    return {
        alias.name
        for alias in node.names
        if ROWS.is_gone(f"{node.module}.{alias.name}")
        and str(node.module).partition(".")[0] == "tornado"
        and (alias.asname or alias.name) not in used
    }


def _used_names(module: Module) -> set[str]:
    """Return the names that a module uses, in strings too."""
    used = set()
    for node in module.nodes:
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            used.add(node.value)
    return used


def _imported_names(program: Program) -> set[str]:
    """Return the names that modules may import from each other."""
    names: set[str] = set()
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.ImportFrom) and _is_own(node):
                names.update(alias.name for alias in node.names)
    return names


def _is_own(node: ast.ImportFrom) -> bool:
    return bool(node.level) or (node.module or "").partition(".")[0] != "tornado"


def _change(node: ast.ImportFrom, names: set[str]) -> Change:
    kept = [alias for alias in node.names if alias.name not in names]
    if not kept:
        return Change(node, _removed)

    def change(statement: Any) -> Any:
        aliases = [a for a in statement.names if a.name.value not in names]
        last = statement.names[-1].comma
        aliases[-1] = aliases[-1].with_changes(comma=last)
        return statement.with_changes(names=aliases)

    return Change(node, change)


def _removed(_statement: Any) -> Any:
    return cst.RemoveFromParent()


REMOVED_IMPORTS = Fixer(
    CODE,
    "imports of removed names that nothing uses any more are left out",
    "Such as engine, Task and asynchronous after their conversion: the import alone would "
    "fail without gencoro.",
    (
        Example(
            "Names that were used before",
            """\
from tornado.gen import Task, coroutine, engine, sleep
from tornado.web import asynchronous

@coroutine
def main():
    yield sleep(0.01)
""",
            """\
from tornado.gen import coroutine, sleep

@coroutine
def main():
    yield sleep(0.01)
""",
        ),
        Example(
            "A name that is still used, and one that others may import",
            """\
from tornado.gen import Task, engine

__all__ = ["engine"]

waiting = Task(print)
""",
            refused="GC957, GC966",
        ),
    ),
    find,
)
