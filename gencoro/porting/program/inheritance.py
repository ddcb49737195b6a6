"""Base classes, known and unknown, and the methods of Tornado that a program overrides.

Rule: only methods whose result Tornado awaits at once; of any other base class nothing is
known, and its methods go on returning Futures.

Pure.  Used by `gencoro.porting.program`, `gencoro.porting.coroutines`,
`gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
import builtins
import unittest
from collections.abc import Container, Iterator

from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Home
from gencoro.porting.program import Function, Program
from gencoro.porting.program.families import heirs_of

__all__ = [
    "VERBS",
    "has_unknown_base",
    "has_unknown_heir",
    "is_entry_point",
    "is_exception",
    "is_unknown_base",
    "overrides_tornado",
]

# The methods of a handler that answer requests.
VERBS = frozenset({"delete", "get", "head", "options", "patch", "post", "put"})

# The methods by the class of Tornado that awaits them.
_AWAITED = {
    "tornado.web.RequestHandler": VERBS | {"prepare", "data_received"},
    "tornado.websocket.WebSocketHandler": frozenset({"open", "on_message"}),
}

# Classes outside of Tornado that call no method of a subclass that may be a coroutine.
_OF_TEST_CASES = frozenset(dir(unittest.TestCase))
_HARMLESS = frozenset({"object", "unittest.TestCase", "unittest.case.TestCase"})


def is_entry_point(function: Function, program: Program) -> bool:
    """Return whether Tornado itself calls a method, and awaits it at once."""
    name, owners = function.node.name, _owners(function, program)
    return any(name in methods and base in owners for base, methods in _AWAITED.items())


def overrides_tornado(function: Function, program: Program) -> bool:
    """Return whether a method replaces one of Tornado's or unittest's.

    That of a mixin does so in the classes that inherit from it.
    """
    name = function.node.name
    owners = _owners(function, program)
    if is_entry_point(function, program):
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


def has_unknown_heir(function: Function, program: Program) -> bool:
    """Return whether a class with a method inherits from classes that are not known."""
    read = program.module_by_class
    return any(
        _is_unknown(home, heir, set(), read) for home, heir in _heirs(function, program)
    )


def _owners(function: Function, program: Program) -> set[str]:
    """Return Tornado's classes that a class with a method inherits from."""
    return {
        owner
        for home, heir in _heirs(function, program)
        for base in home.bases(heir)
        for owner in TODAY.owners(base) or [base]
    }


def _heirs(function: Function, program: Program) -> Iterator[tuple[Home, ast.ClassDef]]:
    """Yield the class of a method, and those that inherit from it."""
    for heir in heirs_of(program, function.owner):
        yield program.module_by_class[heir].scope_at(heir), heir


def _is_unknown(
    home: Home,
    owner: ast.ClassDef,
    seen: set[ast.ClassDef],
    read: Container[ast.ClassDef] | None = None,
) -> bool:
    """Return whether a base class is not known; nor is one that is found, but not read."""
    seen.add(owner)
    if read is not None and owner not in read:
        return True
    if any(keyword.arg != "metaclass" for keyword in owner.keywords):
        return True
    return any(
        is_unknown_base(home, base)
        or any(
            _is_unknown(found.home, found.node, seen, read)
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
