"""Imports left unused by the conversion are removed."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Module, Program
from gencoro.porting.program.listed_names import listed_at

__all__ = ["UNUSED_IMPORTS"]

CODE = "GC211"

# Longer strings are not names.
_LONGEST_NAME = 200

_PACKAGES = frozenset({"gencoro", "gencoro.gen", "tornado", "tornado.gen"})


def find(program: Program) -> Iterator[Fix]:
    """Yield the imports whose names were used before the conversion, and are not now."""
    if not program.used_before:
        return
    exported = _exported_names(program)
    for path, before in program.used_before.items():
        module = program.modules[path]
        unused = before - _used_names(module) - exported
        is_listed = listed_at(module, program, ignores_filtered=False)
        if path.endswith("__init__.py") or not unused or is_listed:
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module in _PACKAGES:
                names = {a.asname or a.name for a in node.names} & unused
                if names and not node.level and not _has_comment(module, node):
                    change = _change(node, names)
                    yield Fix(CODE, module, node.lineno, (change,))


def _used_names(module: Module) -> set[str]:
    return {
        node.id if isinstance(node, ast.Name) else str(node.value)
        for node in module.nodes
        if isinstance(node, (ast.Name, ast.Constant))
    }


def _exported_names(program: Program) -> set[str]:
    """Return the names that modules of the program may take from each other."""
    names: set[str] = set()
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Attribute):
                is_library = ast.unparse(node.value) in _PACKAGES
                names.update([] if is_library else [node.attr])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # unittest.mock.patch has "shop.cart.gen.sleep".
                if len(node.value) < _LONGEST_NAME:
                    names.update(node.value.split("."))
            elif isinstance(node, ast.ImportFrom) and (
                node.level or node.module not in _PACKAGES
            ):
                names.update(alias.name for alias in node.names)
    if "*" in names:  # it may take any name
        for module in program.modules.values():
            names |= module.top._bindings.keys()
    return names


def _has_comment(module: Module, node: ast.stmt) -> bool:
    """Return whether a comment above or beside an import would be lost."""
    lines = re.split(rb"\r\n|\r|\n", module.source)
    place = module.tree.body.index(node)
    # What is above the first statement is the head of the module, and stays.
    first = module.tree.body[place - 1].end_lineno if place else node.lineno - 2
    return any(b"#" in line for line in lines[first or 0 : node.end_lineno])


def _change(node: ast.ImportFrom, names: set[str]) -> Change:
    is_whole = len(names) == len(node.names)

    def change(statement: cst.ImportFrom) -> Any:
        if is_whole or isinstance(statement.names, cst.ImportStar):
            return cst.RemoveFromParent()
        kept = [
            alias
            for alias in statement.names
            if (alias.evaluated_alias or alias.evaluated_name) not in names
        ]
        last = statement.names[-1]
        kept[-1] = kept[-1].with_changes(comma=last.comma)
        return statement.with_changes(names=kept)

    return Change(node, change)


UNUSED_IMPORTS = Fixer(
    CODE,
    "imports that have become unused are removed",
    "Only names of Tornado's gen that the conversion itself has left without a use, and "
    "that no other module takes from there; and none of a module whose names are listed.",
    (
        Example(
            "Names that were used as decorators and exceptions",
            """\
from tornado.gen import Return, coroutine, sleep
from tornado import gen

@coroutine
def main():
    yield sleep(0.01)
    raise Return(1)

@gen.coroutine
def other():
    raise gen.Return((yield main()))
""",
            """\
from tornado.gen import sleep

async def main():
    await sleep(0.01)
    return 1

async def other():
    return await main()
""",
        ),
        Example(
            "A name that another module may take",
            """\
from tornado import gen

__all__ = ["gen", "main"]

@gen.coroutine
def main():
    return 1
""",
            """\
from tornado import gen

__all__ = ["gen", "main"]

async def main():
    return 1
""",
        ),
    ),
    find,
)
