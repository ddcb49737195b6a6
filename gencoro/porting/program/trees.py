"""Syntax trees, with the parents of their nodes and the blocks of statements.

Rule: a tree that is too deep to be visited recursively cannot be parsed.

Pure: sources come as bytes.  Used by `gencoro.porting.program` and by the modules that look at the
statements beside one.
"""

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from gencoro.compat.doctor.parsing import DEFS, TOO_DEEP, parse

__all__ = ["Definition", "Tree", "block_of", "own_nodes", "parsed"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

# How many sources and functions are kept; each source may have several states.
TREES = 2000
FUNCTIONS = 20_000

# The greatest depth of a tree, such as that of a sum; the fixers visit it recursively.
DEEPEST = 600


class Tree(NamedTuple):
    """The tree of a source.

    Attributes:
        module: Its root.
        parents: The parent of each node.
        nodes: All nodes.
    """

    module: ast.Module
    parents: dict[ast.AST, ast.AST]
    nodes: tuple[ast.AST, ...]


@functools.lru_cache(maxsize=TREES)
def parsed(source: bytes) -> Tree:
    """Return the tree of a source.

    Each fixer needs it again, and most sources do not change from one to the next.

    Raises:
        SyntaxError: it cannot be parsed.
    """
    tree = parse(source)
    nodes = tuple(ast.walk(tree))
    parents: dict[ast.AST, ast.AST] = {}
    depths: dict[ast.AST, int] = {tree: 0}
    for node in nodes:
        depth = depths.get(node, 0) + 1
        for child in ast.iter_child_nodes(node):
            # One object stands for each context such as Load: it has no parent.
            if not isinstance(child, (ast.expr_context, ast.operator)):
                parents[child] = node
                depths[child] = depth
    if max(depths.values()) > DEEPEST:
        raise SyntaxError(TOO_DEEP)
    return Tree(tree, parents, nodes)


@functools.lru_cache(maxsize=FUNCTIONS)
def own_nodes(function: Definition) -> tuple[ast.AST, ...]:
    """Return the nodes of a body, without those of other scopes inside it."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        found.append(node)
        pending += reversed(list(_children(node)))
    return tuple(found)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that are evaluated in the same scope."""
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, (*DEFS, ast.ClassDef, ast.Lambda)):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part


def block_of(parents: Mapping[ast.AST, ast.AST], node: ast.AST) -> list[Any]:
    """Return the statements among which a node is one; none if it is no statement."""
    parent = parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block:
            return block
    return []
