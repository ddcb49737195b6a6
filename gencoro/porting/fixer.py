"""The interface of a fixer: code, reason, examples, and a search for what to change.

Rule: a fixer decides on the syntax tree of the whole program, and says which nodes to
change; `gencoro.porting.source.rewriting` changes them.  A function is converted whole or not at
all.  Used by everything in `gencoro.porting` that makes changes or refusals.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gencoro.porting.program import Function, Module, Program

__all__ = ["Change", "Example", "Fix", "Fixer", "Refusal"]


class Change(NamedTuple):
    """A change of one node of a source.

    Attributes:
        node: The node, in the tree of its module.
        by: Receives the node of LibCST, whose parts have been changed already, and returns
            another, or ``libcst.RemoveFromParent()``.
        kind: The class of the node of LibCST, if its name is not that of the node's own
            class; such as ``SimpleStatementLine`` for a statement and its line.
        imports: Statements that the module then needs, such as ``import asyncio``.
        helpers: Definitions that the module then needs, by name: source without decorators
            of the program, placed before the first statement that needs them.
    """

    node: ast.AST
    by: Callable[[Any], Any]
    kind: str = ""
    imports: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


class Fix(NamedTuple):
    """A fixer's proposed changes at one place.

    Attributes:
        code: The code of the fixer.
        module: The module that is changed.
        line: The place that is shown to the user.
        changes: What is changed, all of it or nothing.
        function: The function that is converted, if it is a part of that.  If any fixer
            refuses the function, none of its fixes is made.
    """

    code: str
    module: Module
    line: int
    changes: tuple[Change, ...]
    function: Function | None = None


class Refusal(NamedTuple):
    """Something that stays unconverted, and why.

    Attributes:
        file: Its file.
        line: The line with the reason; 0 for the whole file.
        code: The code of the reason.
        why: One sentence.
        advice: What a person would do.
        function: The function that stays as it is; None if it is another thing.
    """

    file: str
    line: int
    code: str
    why: str
    advice: str
    function: Function | None = None


class Example(NamedTuple):
    """A source, and what becomes of it: the tests and the documentation of a fixer.

    Attributes:
        about: What it shows, as a title.
        before: A whole module.
        converted: The module after the conversion; empty if it is left alone.
        refused: The codes of the refusals, such as ``GC955, GC957``.
    """

    about: str
    before: str
    converted: str = ""
    refused: str = ""

    @property
    def after(self) -> str:
        """What the module is in the end, changed or not."""
        return self.converted or self.before


class Fixer(NamedTuple):
    """One kind of conversion.

    Attributes:
        code: Such as ``GC201``, for ``--only`` and ``--skip``.
        title: What it does, as a heading.
        why: Why, in a sentence or a few.
        examples: Sources that are converted, left alone and refused.
        find: Returns what it would do to a program, and what it refuses.
    """

    code: str
    title: str
    why: str
    examples: tuple[Example, ...]
    find: Callable[[Program], Iterable[Fix | Refusal]]
