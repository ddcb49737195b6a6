"""Finds calls of Tornado's native coroutines whose results are not waited for at once.

Rule: `gencoro.compat` starts such a call at once, as Tornado itself did when it returned a
Future, unless it is made in an ``async def``, which gets the coroutine.  One that is yielded
where it is called, or is passed to what starts it, does the same in both.

Pure.  Used by `gencoro.porting.coroutines.problems`.
"""

import ast

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.program import Function

__all__ = ["unawaited_call"]

# What starts a coroutine that it gets, or each of several.
_STARTERS = frozenset(
    f"tornado.gen.{name}"
    for name in (
        "Multi",
        "convert_yielded",
        "multi",
        "multi_future",
        "with_timeout",
    )
)

_COLLECTIONS = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.keyword)
_WAITS = (ast.Await, ast.Yield, ast.YieldFrom)


def unawaited_call(function: Function) -> ast.Call | None:
    """Return the first such call in the body of a coroutine; None if there is none."""
    return next(
        (
            node
            for node in function.own
            if isinstance(node, ast.Call)
            and any(map(_is_native, function.module.names(node.func)))
            and not _is_waited_for(function, node)
        ),
        None,
    )


def _is_native(name: str) -> bool:
    found = TODAY.find(name)
    return found is not None and isinstance(found[1], ast.AsyncFunctionDef)


def _is_waited_for(function: Function, call: ast.Call) -> bool:
    parent = function.module.parents[call]
    while isinstance(parent, _COLLECTIONS):
        parent = function.module.parents[parent]
    if isinstance(parent, ast.Call):
        return bool(function.module.names(parent.func) & _STARTERS)
    return isinstance(parent, _WAITS)
