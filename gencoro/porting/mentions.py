"""The names that a function uses, whatever they belong to.

Pure.  Used by `gencoro.porting.waits` and `gencoro.porting.fixers.stop_and_wait`.
"""

import ast

from gencoro.porting.program import Function

__all__ = ["name_of", "used_names"]


def used_names(function: Function) -> set[str]:
    """Return the names and attributes that a function uses; of ``fetch``, only a test's."""
    return {
        name_of(node)
        for node in ast.walk(function.node)
        if name_of(node) != "fetch" or ast.unparse(node) == "self.fetch"
    }


def name_of(node: ast.AST) -> str:
    """Return the name that a node is, or that of an attribute; empty if it is neither."""
    return getattr(node, "attr", getattr(node, "id", ""))
