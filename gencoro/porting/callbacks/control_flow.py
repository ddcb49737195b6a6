"""Control flow of callback-style functions: how each path ends, and what it passes.

Rule: every path counts, and one that is not understood does not end well.

Pure.  Used by the other modules of `gencoro.porting.callbacks`.
"""

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gencoro.porting.program import Function
from gencoro.porting.program.trees import block_of

__all__ = ["IsEnd", "ends_each_path", "is_guarded", "passes_on_each_path"]

# Whether a statement is a last one.
IsEnd: TypeAlias = Callable[[ast.stmt], bool]


def ends_each_path(function: Function, is_end: IsEnd) -> bool:
    """Return whether each path through a function has a certain last statement.

    A path that raises an error has none, and need not.
    """
    if not _ends(function.node.body, is_end):
        return False
    returns = [node for node in function.own if isinstance(node, ast.Return)]
    return all(_ends_before(function, node, is_end) for node in returns)


def _ends(block: Sequence[ast.stmt], is_end: IsEnd) -> bool:
    if not block:
        return False
    last = block[-1]
    if is_end(last):
        return True
    match last:
        case ast.Raise():
            return True
        case ast.Return(value=None):
            return _ends(block[:-1], is_end) if len(block) > 1 else False
        case ast.If(body=body, orelse=orelse):
            return _ends(body, is_end) and _ends(orelse, is_end)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[]):
            inner = orelse or body
            rest = [handler.body for handler in handlers]
            return all(_ends(part, is_end) for part in [inner, *rest])
    return False


def passes_on_each_path(function: Function, is_passed: IsEnd) -> bool:
    """Return whether each path through a function has a certain statement somewhere.

    A path that raises an error before has none, and need not.
    """
    if not _passes(function.node.body, is_passed):
        return False
    returns = [node for node in function.own if isinstance(node, ast.Return)]
    return all(_passes_before(function, node, is_passed) for node in returns)


def _passes(block: Sequence[ast.stmt], is_passed: IsEnd) -> bool:
    return any(_passes_in(statement, is_passed) for statement in block)


def _passes_in(statement: ast.stmt, is_passed: IsEnd) -> bool:
    match statement:
        case ast.Raise():
            return True
        case ast.If(body=body, orelse=orelse):
            return _passes(body, is_passed) and _passes(orelse, is_passed)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            parts = [[*body, *orelse], *(handler.body for handler in handlers)]
            in_each = all(_passes(part, is_passed) for part in parts)
            return in_each or _passes(finalbody, is_passed)
    return is_passed(statement)


def _passes_before(function: Function, node: ast.Return, is_passed: IsEnd) -> bool:
    """Return whether the way to a ``return`` has such a statement, or it is one."""
    if is_passed(node):
        return True
    child: ast.AST = node
    while child is not function.node:
        block = block_of(function.module.parents, child)
        if _passes(block[: block.index(child)] if block else [], is_passed):
            return True
        child = function.module.parents[child]
    return False


def is_guarded(function: Function, statement: ast.AST) -> bool:
    """Return whether a statement is inside a ``try``, a ``with`` or a loop."""
    return not all(isinstance(node, ast.If) for node in function.around(statement))


def _ends_before(function: Function, node: ast.Return, is_end: IsEnd) -> bool:
    """Return whether the statement before a ``return`` is a last one."""
    block = block_of(function.module.parents, node)
    is_bare = node.value is None and _ends(block[: block.index(node)], is_end)
    return is_bare or is_end(node)
