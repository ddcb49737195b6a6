"""Control flow of callback-style functions: how each path ends.

Rule: every path counts, and one that is not understood does not end well.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gencoro.porting.program import Function

__all__ = ["IsEnd", "ends_each_path"]

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


def _ends_before(function: Function, node: ast.Return, is_end: IsEnd) -> bool:
    """Return whether the statement before a ``return`` is a last one."""
    parent = function.module.parents[node]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, [])
        if isinstance(block, list) and node in block:
            place = block.index(node)
            is_bare = node.value is None and _ends(block[:place], is_end)
            return is_bare or is_end(node)
    return False
