"""Results of a coroutine that may be generators.

Rule: a generator that a coroutine without a ``yield`` returns is run as its body; one that it
raises as its result is not.

Pure.  Used by `gencoro.porting.tails`.
"""

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

__all__ = ["may_be_generator", "raising"]

_NO_GENERATORS = (
    ast.BinOp,
    ast.Compare,
    ast.Constant,
    ast.Dict,
    ast.DictComp,
    ast.JoinedStr,
    ast.Lambda,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.SetComp,
    ast.Tuple,
    ast.UnaryOp,
)


def may_be_generator(value: ast.expr | None) -> bool:
    """Return whether an expression may be a generator."""
    return value is not None and not isinstance(value, _NO_GENERATORS)


def raising(returning: Callable[[Any], Any], gen: str) -> Callable[[Any], Any]:
    """Return what raises the value that a ``return`` would have.

    Args:
        returning: Returns the ``return``, or its line, for a node of LibCST.
        gen: How the module refers to ``gen``.
    """

    def change(node: Any) -> Any:
        new = returning(node)
        is_line = isinstance(new, cst.SimpleStatementLine)
        end: Any = new.body[0] if is_line else new
        call = cst.Call(cst.parse_expression(f"{gen}.Return"), [cst.Arg(end.value)])
        raised = cst.Raise(call, semicolon=end.semicolon)
        return new.with_changes(body=[raised]) if is_line else raised

    return change
