"""Values that are the same before a wait and after it.

Rule: constants, and variables of a function that no function inside it assigns.

Pure.  Used by `gencoro.porting.callbacks.answering_callbacks` and
`gencoro.porting.callbacks.delayed_callbacks`.
"""

import ast

from gencoro.porting.program import Function

__all__ = ["is_same_later"]


def is_same_later(function: Function, value: ast.expr) -> bool:
    """Return whether a value is the same after the wait."""
    if isinstance(value, ast.Constant):
        return True
    if not isinstance(value, ast.Name):
        return False
    scope = function.scope
    is_own = scope._scope_of(value.id) is scope
    shared = (n for n in ast.walk(function.node) if isinstance(n, ast.Nonlocal))
    return is_own and not any(value.id in node.names for node in shared)
