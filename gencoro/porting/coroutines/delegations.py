"""Generators that a coroutine delegates to with ``yield from``, directly or by a variable.

Rule: a generator, and a coroutine that nothing awaits, do nothing; but of the latter Python
warns.  So a variable counts only if the next statement delegates to it, and nothing else
uses it.

Pure.  Used by `gencoro.porting.coroutines.decisions`.
"""

import ast

from gencoro.porting.program import Module
from gencoro.porting.program.trees import block_of

__all__ = ["delegated", "is_delegated"]


def delegated(module: Module, node: ast.YieldFrom) -> ast.Call | None:
    """Return the call whose generator a ``yield from`` gets; None if it is another value."""
    if isinstance(node.value, ast.Call):
        return node.value
    function = module.function_at(node)
    if function is None or not isinstance(node.value, ast.Name):
        return None
    name = node.value.id
    uses = [
        part
        for part in ast.walk(function.node)
        if isinstance(part, ast.Name) and part.id == name
    ]
    match _statement_before(module, node):
        case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as call):
            is_only_use = {*uses} == {target, node.value}
            is_own = function.scope._scope_of(name) is function.scope
            return call if is_only_use and is_own else None
    return None


def is_delegated(module: Module, call: ast.AST) -> bool:
    """Return whether the generator that a call returns is only delegated to."""
    parent = module.parents[call]
    if isinstance(parent, ast.YieldFrom):
        return True
    following = _neighbor(module, parent, 1)
    return following is not None and any(
        isinstance(node, ast.YieldFrom) and delegated(module, node) is call
        for node in ast.walk(following)
    )


def _statement_before(module: Module, node: ast.YieldFrom) -> ast.AST | None:
    """Return what precedes the statement that begins with a ``yield from``."""
    parent = module.parents[node]
    is_first = isinstance(parent, (ast.Assign, ast.Expr, ast.Return))
    is_plain = not isinstance(parent, ast.Assign) or all(
        isinstance(target, ast.Name) for target in parent.targets
    )
    return _neighbor(module, parent, -1) if is_first and is_plain else None


def _neighbor(module: Module, statement: ast.AST, distance: int) -> ast.AST | None:
    """Return the statement at a distance in the same block; None if there is none."""
    block = block_of(module.parents, statement)
    if not block:
        return None
    place = block.index(statement) + distance
    return block[place] if 0 <= place < len(block) else None
