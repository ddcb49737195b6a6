"""Which methods of Tornado's classes may be ``async def`` when a program overrides them.

Rule: only methods whose result Tornado awaits at once; of any other base class nothing is
known, and its methods go on returning Futures.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
import builtins
import unittest

from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Home
from gencoro.porting.program import Function

__all__ = [
    "has_unknown_base",
    "is_entry_point",
    "is_exception",
    "is_unknown_base",
    "overrides_tornado",
]

_VERBS = frozenset({"delete", "get", "head", "options", "patch", "post", "put"})

# The methods by the class of Tornado that awaits them.
_AWAITED = {
    "tornado.web.RequestHandler": _VERBS | {"prepare", "data_received"},
    "tornado.websocket.WebSocketHandler": frozenset({"open", "on_message"}),
}

# Classes outside of Tornado that call no method of a subclass that may be a coroutine.
_OF_TEST_CASES = frozenset(dir(unittest.TestCase))
_HARMLESS = frozenset({"object", "unittest.TestCase", "unittest.case.TestCase"})


def is_entry_point(function: Function) -> bool:
    """Return whether Tornado itself calls a method, and awaits it at once."""
    name = function.node.name
    return any(
        name in methods and base in _owners(function)
        for base, methods in _AWAITED.items()
    )


def overrides_tornado(function: Function) -> bool:
    """Return whether a method replaces one of Tornado's or unittest's."""
    name = function.node.name
    owners = _owners(function)
    if is_entry_point(function):
        return False
    if _HARMLESS & owners and (name.startswith("test") or name in _OF_TEST_CASES):
        return True
    return any(TODAY.has(f"{base}.{name}") for base in owners)


def has_unknown_base(function: Function) -> bool:
    """Return whether the class of a method inherits from classes that are not known."""
    if function.owner is None:
        return False
    home = function.module.scope_at(function.owner)
    return _is_unknown(home, function.owner, set())


def _owners(function: Function) -> set[str]:
    """Return Tornado's classes that the class of a method inherits from."""
    if function.owner is None:
        return set()
    scope = function.module.scope_at(function.owner)
    bases = scope.bases(function.owner)
    return {owner for base in bases for owner in TODAY.owners(base) or [base]}


def _is_unknown(home: Home, owner: ast.ClassDef, seen: set[ast.ClassDef]) -> bool:
    seen.add(owner)
    if any(keyword.arg != "metaclass" for keyword in owner.keywords):
        return True
    return any(
        is_unknown_base(home, base)
        or any(
            _is_unknown(found.home, found.node, seen)
            for found in home.things(base)
            if isinstance(found.node, ast.ClassDef)
            and found.home is not None
            and found.node not in seen
        )
        for base in owner.bases
    )


def is_unknown_base(home: Home, base: ast.expr) -> bool:
    """Return whether a base class is neither of the program nor of Tornado."""
    if isinstance(base, ast.Name) and base.id in _HARMLESS:
        return False
    things = list(home.things(base))
    if not things:
        return not is_exception(base)
    names = [thing.name for thing in things if thing.name]
    return any(not TODAY.has(name) and name not in _HARMLESS for name in names)


def is_exception(base: ast.expr) -> bool:
    """Return whether an expression is the name of a builtin exception."""
    found = getattr(builtins, base.id, None) if isinstance(base, ast.Name) else None
    return isinstance(found, type) and issubclass(found, BaseException)
