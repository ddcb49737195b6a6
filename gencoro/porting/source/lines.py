"""The lines of statements and calls: what shares them, and where comments may be.

Rule: a ``#`` in a line may begin a comment, also if it is in a string.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast

from gencoro.porting.program import Function, Module

__all__ = ["has_comment", "have_own_lines", "is_alone"]


def has_comment(module: Module, node: ast.expr | ast.stmt) -> bool:
    """Return whether there may be a comment inside a node; one after it does not count."""
    lines = module.source.splitlines()[node.lineno - 1 : node.end_lineno]
    return any(b"#" in line for line in lines[:-1])


def is_alone(function: Function, statement: ast.stmt) -> bool:
    """Return whether a statement has its lines for itself, and no comment inside."""
    module = function.module
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    before = module.source.splitlines()[first - 1][: statement.col_offset]
    if before.strip() or has_comment(module, statement):
        return False
    others = (n for n in function.own if isinstance(n, ast.stmt) and n is not statement)
    return all(other.lineno != last for other in others)


def have_own_lines(function: Function, block: list[ast.stmt]) -> bool:
    """Return whether no two statements of a block, or it and its head, share a line."""
    head = function.module.parents[block[0]]
    ends = [
        getattr(head, "lineno", 0),
        *(statement.end_lineno or 0 for statement in block),
    ]
    begins = [statement.lineno for statement in block]
    return all(end < begin for end, begin in zip(ends, begins, strict=False))
