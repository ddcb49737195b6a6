"""Builders of LibCST nodes shared by several fixers.

Rule: comments stay, and an expression that spans lines stays in parentheses.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks` and the fixers.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

__all__ = [
    "awaited",
    "call_of",
    "ended_like",
    "made_async",
    "raising",
    "removed",
    "returned",
    "without_decorator",
    "without_parentheses",
]

_EMPTY = cst.Module(body=())

# Operands that ``await`` takes without parentheses.
_PRIMARIES = (
    cst.Attribute,
    cst.Call,
    cst.Dict,
    cst.DictComp,
    cst.List,
    cst.ListComp,
    cst.Name,
    cst.Subscript,
)


def ended_like(kept: Any, last: Any) -> Any:
    """Return an argument or parameter that is the last one now, in place of another.

    It ends as that did, unless a comment comes after it.
    """
    after = getattr(kept.comma, "whitespace_after", None)
    if isinstance(after, cst.ParenthesizedWhitespace) and after.first_line.comment:
        return kept
    return kept.with_changes(comma=last.comma)


def awaited(node: Any, operand: Any, is_bare: bool = False) -> Any:
    """Return the ``await`` of an operand in place of a ``yield``.

    Args:
        is_bare: Whether the place needs no parentheses around it.
    """
    space = node.whitespace_after_yield
    if not isinstance(space, cst.BaseParenthesizableWhitespace) or _is_empty(space):
        space = cst.SimpleWhitespace(" ")
    if not operand.lpar and not isinstance(operand, _PRIMARIES):
        operand = operand.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    result = cst.Await(
        expression=operand,
        lpar=node.lpar,
        rpar=node.rpar,
        whitespace_after_await=space,
    )
    return without_parentheses(result) if is_bare else result


def _is_empty(space: cst.BaseParenthesizableWhitespace) -> bool:
    return isinstance(space, cst.SimpleWhitespace) and not space.value


def call_of(function: str, argument: Any) -> cst.Call:
    """Return a call with one argument.

    >>> _EMPTY.code_for_node(call_of("gen.multi", cst.parse_expression("[a, b]")))
    'gen.multi([a, b])'
    """
    if isinstance(argument, cst.GeneratorExp | cst.Tuple | cst.NamedExpr):
        if not argument.lpar:
            argument = _in_parentheses(argument)
    else:
        argument = without_parentheses(argument)
    return cst.Call(func=cst.parse_expression(function), args=[cst.Arg(argument)])


def _in_parentheses(node: Any) -> Any:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def without_parentheses(node: Any) -> Any:
    """Return an expression without one pair of parentheses, if it is on one line."""
    if len(node.lpar) != 1 or isinstance(node, (cst.GeneratorExp, cst.Tuple)):
        return node
    bare = node.with_changes(lpar=[], rpar=[])
    return node if "\n" in _code(node) or "\r" in _code(node) else bare


def returned(value: Any, before: Any = None, after: Any = None) -> cst.Return:
    """Return a ``return`` with a value, in parentheses if it needs them.

    Args:
        before: The whitespace and comments before the value; None if there is none.
        after: Those after it.
    """
    has_lines = any(
        space is not None and any(c in _code(space) for c in "\n\r#")
        for space in (before, after)
    )
    if has_lines:
        left = cst.LeftParen(whitespace_after=before or cst.SimpleWhitespace(""))
        right = cst.RightParen(whitespace_before=after or cst.SimpleWhitespace(""))
        value = value.with_changes(lpar=[left, *value.lpar], rpar=[*value.rpar, right])
    elif not _is_one_statement(f"return {_code(value)}"):
        value = _in_parentheses(value)
    return cst.Return(value=value, whitespace_after_return=cst.SimpleWhitespace(" "))


def _is_one_statement(text: str) -> bool:
    try:
        return len(ast.parse(text).body) == 1
    except SyntaxError:
        return False


def made_async(node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a function as an ``async def``."""
    return node.with_changes(asynchronous=cst.Asynchronous())


def without_decorator(node: cst.FunctionDef, place: int) -> cst.FunctionDef:
    """Return a function without one of its decorators, whose comments stay."""
    decorators = list(node.decorators)
    removed = decorators.pop(place)
    lines = [*removed.leading_lines]
    comment = removed.trailing_whitespace.comment
    if comment is not None:
        lines.append(cst.EmptyLine(comment=comment))
    if place < len(decorators):
        following = decorators[place]
        decorators[place] = following.with_changes(
            leading_lines=[*lines, *following.leading_lines]
        )
        return node.with_changes(decorators=decorators)
    after: Sequence[cst.EmptyLine] = [*lines, *node.lines_after_decorators]
    if decorators:
        return node.with_changes(decorators=decorators, lines_after_decorators=after)
    return node.with_changes(
        decorators=decorators,
        leading_lines=[*node.leading_lines, *after],
        lines_after_decorators=[],
    )


def removed(_node: Any) -> Any:
    """Return what removes a statement, or its line."""
    return cst.RemoveFromParent()


def _code(node: cst.CSTNode) -> str:
    return _EMPTY.code_for_node(node)


def raising(returning: Callable[[Any], Any], gen: str) -> Callable[[Any], Any]:
    """Return a change that raises the value of a ``return`` instead.

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
