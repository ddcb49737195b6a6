"""What a small edit is: where it is, and what changes.

Pure.  Used by the fixers and `gencoro.porting.conversion`.
"""

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gencoro.compat.doctor.program import Module, Program
from gencoro.compat.doctor.text import Edit

__all__ = ["Fix", "Fixer", "without_argument"]


class Fix(NamedTuple):
    """An edit of a module.

    Attributes:
        code: The code of its fixer.
        node: Where it is.
        edits: What changes.
    """

    code: str
    module: Module
    node: ast.AST
    edits: tuple[Edit, ...]

    @property
    def line(self) -> int:
        """The line where it is."""
        return getattr(self.node, "lineno", 1)

    @property
    def function_name(self) -> str:
        """The name of the function around it; empty outside of functions."""
        function = self.module.function_at(self.node)
        return function.name if function is not None else ""


class Fixer(NamedTuple):
    """A kind of edit.

    Attributes:
        code: Its code, such as ``GC101``.
        title: What it does.
        find: Finds the places of a program.
    """

    code: str
    title: str
    find: Callable[[Program], Iterable[Fix]]


def without_argument(module: Module, call: ast.Call, argument: ast.AST) -> Edit:
    """Return the edit that removes an argument of a call, with its comma."""
    text = module.text
    parts = sorted([*call.args, *call.keywords], key=lambda part: text.span(part))
    place = parts.index(argument)
    start, end = text.span(argument)
    if place + 1 < len(parts):
        return Edit(start, text.span(parts[place + 1])[0])
    if place:
        return Edit(text.span(parts[place - 1])[1], end)
    return Edit(start, end)
