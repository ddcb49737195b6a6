"""Chooses which branches of ``try`` and ``if`` count.

Rule: an alternative that is certainly not run, or that another one stands in for, does not
count.  Used by `gencoro.compat.doctor.scan` and `gencoro.compat.doctor.visitor`.
"""

import ast
import sys
from collections.abc import Iterator, Sequence

from gencoro.compat.doctor.known import has_rows
from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import all_statements
from gencoro.compat.doctor.rows import ROWS, TODAY

__all__ = ["are_there", "has_optional_import", "missing_handled", "tests_version"]

# The errors that a module catches to handle a missing name.
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_NAME_ERRORS = frozenset({"AttributeError", "NameError"})
_ANY_ERRORS = frozenset({"BaseException", "Exception"})


def missing_handled(node: ast.Try) -> tuple[bool, bool]:
    """Return whether a ``try`` handles a missing import, and a missing name.

    >>> missing_handled(ast.parse("try: import a\\nexcept ImportError: pass").body[0])
    (True, False)
    """
    caught = {name for handler in node.handlers for name in _caught(handler)}
    errors = _IMPORT_ERRORS
    imports = (ast.Import, ast.ImportFrom)
    if all(isinstance(statement, imports) for statement in node.body):
        errors |= _ANY_ERRORS
    return bool(caught & errors), bool(caught & _NAME_ERRORS)


def are_there(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements are imports of known names, none of which is gone."""
    names = []
    for node in body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            return False
    return all(map(_exists, names))


def tests_version(test: ast.expr, scope: Scope, methods: frozenset[str]) -> bool:
    """Return True if a condition tests Tornado's version, or TYPE_CHECKING."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr":
            if any(t.name for a in node.args for t in scope.things(a)):
                return True
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if any(text in methods for text in texts):
                return True
        elif isinstance(node, (ast.Name, ast.Attribute)):
            names = {thing.name for thing in scope.things(node)}
            names.add(ast.unparse(node).rpartition(".")[2])
            if names & {"tornado.version_info", "tornado.version", "TYPE_CHECKING"}:
                return True
    return False


def has_optional_import(node: ast.stmt) -> bool:
    """Return True if a node is a block in which something of interest is imported."""
    if not isinstance(node, (ast.If, ast.Try)):
        return False
    names: list[str] = []
    for child in all_statements([node]):
        if isinstance(child, ast.ImportFrom):
            names.append("tornado" if child.level else child.module or "")
        elif isinstance(child, ast.Import):
            names += [alias.name for alias in child.names]
    return any(map(has_rows, names))


def _exists(name: str) -> bool:
    """Return True if an import of a dotted name certainly works."""
    if name.startswith("tornado."):
        return TODAY.has(name.removesuffix(".*"))
    parts = name.split(".")
    is_gone = any(ROWS.is_gone(".".join(parts[:n])) for n in range(1, len(parts) + 1))
    # Whether another name of a module of Python is there is not known.
    is_module = name in sys.stdlib_module_names or name == "collections.abc"
    return is_module and not is_gone


def _caught(handler: ast.ExceptHandler) -> Iterator[str]:
    """Yield the names of the errors that a handler catches."""
    if handler.type is None:
        yield "BaseException"
        return
    for node in ast.walk(handler.type):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield ast.unparse(node).rpartition(".")[2]
