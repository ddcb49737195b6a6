"""Yield expressions in converted functions, and their replacements.

Pure.  Used by the fixers for ``--to async``.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from gencoro.porting.coroutines.awaitables import Kind, awaitables_of
from gencoro.porting.coroutines.decisions import decisions_of
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.source.nodes import awaited

__all__ = ["change_yield", "yields_of_kind"]


def yields_of_kind(
    program: Program, *kinds: Kind
) -> Iterator[tuple[Function, ast.Yield]]:
    """Yield the places where functions that are converted yield such values."""
    awaitables = awaitables_of(program)
    for conversion in decisions_of(program).conversions:
        function = conversion.function
        for node in function.yields:
            if awaitables.kind(function.module, node.value) in kinds:
                yield function, node


def change_yield(
    module: Module,
    node: ast.Yield | ast.YieldFrom,
    operand: Callable[[Any], Any],
    imports: tuple[str, ...] = (),
    helpers: tuple[str, ...] = (),
) -> Change:
    """Return the change of a ``yield`` into the ``await`` of another operand.

    Args:
        operand: Returns the operand for the yielded value, which may be None.
        imports, helpers: What the module needs for the operand.
    """
    is_bare = _needs_no_parentheses(module, node)

    def change(yielded: Any) -> Any:
        value = getattr(yielded.value, "item", yielded.value)
        return awaited(yielded, operand(value), is_bare)

    return Change(node, change, "", imports, helpers)


def _needs_no_parentheses(module: Module, node: ast.expr) -> bool:
    match module.parents[node]:
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.keyword():
            return True
        case ast.Expr():
            return True
        case ast.Return(lineno=line, col_offset=column):
            # Without a space, as in `return(yield x)`, they are needed.
            has_space = node.col_offset - column >= len("return (")
            return has_space and node.lineno == line
        case ast.Call(func=func):
            return node is not func
    return False
