"""Finds the coroutines of a program, and the decorator of each.

Rule: a decorator counts only if it is certainly Tornado's or gencoro's.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks.legacy` and the
fixers.
"""

import ast
from typing import NamedTuple

from gencoro.porting.program import Function, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.source.helpers import is_helper

__all__ = [
    "COROUTINE",
    "GEN_TEST",
    "Candidate",
    "candidates_of",
    "is_abstract",
    "is_transparent",
    "marks_test",
    "runs_it",
]

COROUTINE = "tornado.gen.coroutine"
GEN_TEST = "tornado.testing.gen_test"

# Decorators that may be above a coroutine, because they await what it returns, or return it.
_TRANSPARENT_ABOVE = frozenset(
    {
        "tornado.web.addslash",
        "tornado.web.authenticated",
        "tornado.web.removeslash",
    }
)
_BUILTIN_ABOVE = frozenset({"classmethod", "staticmethod"})

_ABSTRACT = "abc.abstractmethod"

# Decorators that mark a test, return it as it is, or run nothing of it.
_OF_TESTS = frozenset(
    {
        "unittest.expectedFailure",
        "unittest.skip",
        "unittest.skipIf",
        "unittest.skipUnless",
    }
)


class Candidate(NamedTuple):
    """A coroutine that might be converted.

    Attributes:
        decorator: The decorator that makes it one, `COROUTINE` or `GEN_TEST`; None for a
            generator that coroutines use with ``yield from``.
        above: Whether a decorator above it is unknown, which receives the Future.
        below: The decorators that receive the generator function.
        is_certain: Whether the decorator is certainly Tornado's.
    """

    function: Function
    decorator: ast.expr | None
    kind: str
    above: bool
    below: tuple[ast.expr, ...]
    is_certain: bool


def candidates_of(program: Program) -> list[Candidate]:
    """Return the coroutines and tests of a program, in the order of its sources."""
    found = []
    for function in program.functions:
        if isinstance(function.node, ast.FunctionDef):
            candidate = _candidate(program, function)
            outer = function.module.enclosing(function.node)
            if candidate is not None and not is_helper(outer):
                found.append(candidate)
    return found


def _candidate(program: Program, function: Function) -> Candidate | None:
    decorators = list(function.decorators())
    kinds = [
        next((k for k in (COROUTINE, GEN_TEST) if k in names), "")
        for _, names in decorators
    ]
    if COROUTINE not in kinds and GEN_TEST not in kinds:
        return None
    kind = COROUTINE if COROUTINE in kinds else GEN_TEST
    place = kinds.index(kind)
    decorator, names = decorators[place]
    is_certain = names == {kind} and function.outer.is_certain(decorator)
    above = any(not is_transparent(program, function, *d) for d in decorators[:place])
    below = tuple(d for d, _ in decorators[place + 1 :])
    return Candidate(function, decorator, kind, above, below, is_certain)


def is_transparent(
    program: Program, function: Function, decorator: ast.expr, names: set[str]
) -> bool:
    """Return whether a decorator awaits or returns the result of a coroutine."""
    if isinstance(decorator, ast.Name) and decorator.id in _BUILTIN_ABOVE:
        return True
    if runs_it(decorator) or is_abstract(program, function, decorator):
        return True
    return bool(names) and names <= _TRANSPARENT_ABOVE


def runs_it(decorator: ast.expr) -> bool:
    """Return whether a decorator is ``run_sync`` of a loop, which runs the coroutine."""
    return isinstance(decorator, ast.Attribute) and decorator.attr == "run_sync"


def is_abstract(program: Program, function: Function, decorator: ast.expr) -> bool:
    """Return whether a decorator is ``abc.abstractmethod``, which only marks a function."""
    return library_name(program, function.module, decorator) == _ABSTRACT


def marks_test(program: Program, function: Function, decorator: ast.expr) -> bool:
    """Return whether a decorator is one of unittest that skips a test, or expects it to fail."""
    value = function.module.values_of(decorator)[-1]
    maker = value.func if isinstance(value, ast.Call) else value
    return library_name(program, function.module, maker) in _OF_TESTS
