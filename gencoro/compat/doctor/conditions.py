"""Evaluates conditions about Python's version for the running Python.

Pure.  Used by `gencoro.compat.doctor.scan`.
"""

import ast
import operator
import re
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["holds"]

# Names such as PY2, six.PY3 and IS_PYTHON_3.
_NAME = re.compile(r"(?:is_?)?py(?:thon)?_?([23])k?", re.IGNORECASE)

_VALUES: dict[str, Any] = {
    "sys.hexversion": sys.hexversion,
    "sys.version": sys.version,
    "sys.version_info": tuple(sys.version_info),
    "sys.version_info.major": sys.version_info.major,
    "sys.version_info.minor": sys.version_info.minor,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.NotEq: operator.ne,
}


def holds(test: ast.expr) -> bool | None:
    """Return whether a condition holds; None if it is not about Python's version.

    >>> import ast
    >>> [holds(ast.parse(text, mode="eval").body)
    ...     for text in ("sys.version_info[0] < 3", "not six.PY2", "x > 3")]
    [False, True, None]
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = holds(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            results = {holds(value) for value in values}
            decisive = isinstance(op, ast.Or)
            if decisive in results:
                return decisive
            return None if None in results else not decisive
        case ast.Name() | ast.Attribute():
            name = _NAME.fullmatch(ast.unparse(test).rpartition(".")[2])
            return name[1] == "3" if name else None
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(_value(left), op, _value(right))
    return None


def _compare(left: Any, op: ast.cmpop, right: Any) -> bool | None:
    compare = _COMPARISONS.get(type(op))
    if compare is None or left is None or right is None:
        return None
    try:
        return bool(compare(left, right))
    except TypeError:  # such as a version compared with a float
        return None


def _value(node: ast.expr) -> Any:
    """Return the value of an expression; None if it is unknown."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elts):
            return tuple(map(_value, elts))
        case ast.Attribute():
            return _VALUES.get(ast.unparse(node))
        case ast.Subscript(value=ast.Attribute() as base, slice=place):
            whole = _VALUES.get(ast.unparse(base))
            try:
                return None if whole is None else whole[ast.literal_eval(place)]
            except ValueError:
                return _first(whole, place)
            except (IndexError, TypeError):
                return None
    return None


def _first(whole: Any, place: ast.expr) -> Any:
    """Return the first elements, as by ``[:2]``."""
    match place:
        case ast.Slice(lower=None, upper=ast.Constant(value=int() as count), step=None):
            return whole[:count]
    return None
