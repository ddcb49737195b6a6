"""Methods and assigned attributes of a class, from its source.

Pure.  Used by `gencoro.compat.doctor.naming`.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.compat.doctor.parsing import DEFS, statements

__all__ = ["Members", "Value", "members_of", "own_nodes"]


class Value(NamedTuple):
    """A value that is assigned to an attribute.

    Attributes:
        place: The class, or the method, that assigns it.
        value: None if it is not an expression, as in a loop.
    """

    place: ast.AST
    value: ast.expr | None


class Members(NamedTuple):
    """The members of a class, by their names.

    Attributes:
        methods: The functions that it defines.
        values: What it and its methods assign.
    """

    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    values: dict[str, list[Value]]


def members_of(node: ast.ClassDef) -> Members:
    """Return what a class defines by itself.

    >>> source = "class C:\\n  a = 1\\n  def f(self): self.b = 2"
    >>> members = members_of(ast.parse(source).body[0])
    >>> list(members.methods), list(members.values)
    (['f'], ['a', 'b'])
    """
    methods = {s.name: s for s in statements(node.body) if isinstance(s, DEFS)}
    values: dict[str, list[Value]] = {}
    for place in (node, *methods.values()):
        for name, value in _assigned_in(place):
            values.setdefault(name, []).append(Value(place, value))
    return Members(methods, values)


def _assigned_in(place: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the attributes that a class body or a method assigns, and their values."""
    is_class = isinstance(place, ast.ClassDef)
    nodes = own_nodes(place) if is_class else ast.walk(place)
    value_by_target: dict[ast.AST, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            value_by_target.update(dict.fromkeys(node.targets, node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            value_by_target[node.target] = node.value
        elif is_class and isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node.id, value_by_target.get(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, value_by_target.get(node)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a class or a function that are not in others inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.ClassDef, *DEFS, ast.Lambda)):
            yield child
            yield from own_nodes(child)
