"""Finds the arguments of a call that only legacy Tornado accepts.

Rule: for a function of Tornado, these are the arguments that its current parameters do
not accept; for a method of an unknown object, only arguments that no other library has
in that position.  Used by `gencoro.compat.doctor.scan`.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.compat.doctor.naming import Function, Scope, Thing, find_in_class
from gencoro.compat.doctor.rows import Rows
from gencoro.compat.doctor.today import Today

__all__ = ["Argument", "legacy_arguments"]

# Legacy arguments, which a function with ``**kwargs`` would misinterpret today.
_LEGACY_WORDS = frozenset({"callback", "io_loop"})
_WORDS_OF_METHODS = _LEGACY_WORDS | {"streaming_callback"}

# The former position of the callback of each method, not counting ``self``.
_PLACES = {
    "connect": 1,
    "facebook_request": 1,
    "fetch": 1,
    "flush": 1,
    "get_authenticated_user": 0,
    "oauth2_request": 1,
    "read_bytes": 1,
    "read_into": 1,
    "read_until": 1,
    "read_until_close": 0,
    "read_until_regex": 1,
    "resolve": 3,
    "twitter_request": 1,
    "wait_for_handshake": 0,
    "write": 1,
}

# Calls that return a function.
_FUNCTION_MAKERS = ("async_callback", "partial")

_LOOP = Thing("tornado.ioloop.IOLoop", is_object=True)


class Argument(NamedTuple):
    """An argument of a call.

    Attributes:
        callee: The dotted name of the called function, with or without a row.
        word: The name of the argument.
        node: Its place in the source.
    """

    callee: str
    word: str
    node: ast.AST


def legacy_arguments(
    call: ast.Call, scope: Scope, today: Today, rows: Rows
) -> Iterator[Argument]:
    """Yield the arguments of a call that only legacy Tornado accepts.

    Args:
        scope: The scope that contains the call.
    """
    names = [name for name in _callees(call, scope) if today.has(name)]
    for name in names:
        yield from _of_known(name, call, scope, today, rows)
    if names or not isinstance(call.func, ast.Attribute):
        return
    if not any(thing.node for thing in scope.things(call.func)):
        yield from _of_unknown(call.func.attr, call, scope, today, rows)


def _callees(call: ast.Call, scope: Scope) -> Iterator[str]:
    """Yield the dotted names of the called function; for a class, of its bases."""
    for thing in scope.things(call.func):
        if thing.is_object:
            continue
        if thing.name:
            yield thing.name
        elif (
            isinstance(thing.node, ast.ClassDef)
            and find_in_class(thing.node, "__init__") is None
        ):
            yield from scope.bases(thing.node)


def _of_known(
    name: str, call: ast.Call, scope: Scope, today: Today, rows: Rows
) -> Iterator[Argument]:
    """Check a call of a function or class of Tornado."""
    takes = today.parameters(name)
    if takes is None:
        return
    about = rows.about_call(name)
    is_class = bool(today.owners(name))
    for keyword in call.keywords:
        word = keyword.arg
        if word is None or word in takes.names:
            continue
        is_legacy = word in _LEGACY_WORDS or not takes.takes_any
        if (about and is_legacy) or (is_class and word == "io_loop"):
            yield Argument((about or [name])[0], word, keyword)
    about_class = about or ([name] if is_class else [])
    if any(_is_io_loop(argument, scope) for argument in call.args):
        yield from (Argument(row, "io_loop", call) for row in about_class[:1])
    yield from _in_place(name.rpartition(".")[2], about, call, scope, today)


def _of_unknown(
    method: str, call: ast.Call, scope: Scope, today: Today, rows: Rows
) -> Iterator[Argument]:
    """Check a call of a method of an unknown object."""
    about = rows.of_method(method)
    for keyword in call.keywords:
        word = keyword.arg or ""
        for name in about if word in _WORDS_OF_METHODS else ():
            takes = today.parameters(name)
            if takes is None or word in takes.names:
                continue
            if word in _LEGACY_WORDS or not takes.takes_any:
                yield Argument(name, word, keyword)
                break
    yield from _in_place(method, about, call, scope, today)


def _in_place(
    method: str, about: list[str], call: ast.Call, scope: Scope, today: Today
) -> Iterator[Argument]:
    """Check for a function in the former position of a method's callback."""
    place = _PLACES.get(method)
    if not about or place is None or len(call.args) <= place:
        return
    if _is_function(call.args[place], scope, today):
        yield Argument(about[0], "callback", call)


def _is_function(node: ast.expr, scope: Scope, today: Today) -> bool:
    """Return whether an argument is certainly a function."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in _FUNCTION_MAKERS
    for thing in scope.things(node):
        if thing.is_object:
            continue
        found = today.find(thing.name) if thing.name else None
        function = found[1] if found is not None else thing.node
        if isinstance(function, Function):
            decorators = getattr(function, "decorator_list", [])
            return not any("property" in ast.unparse(d) for d in decorators)
    return False


def _is_io_loop(node: ast.expr, scope: Scope) -> bool:
    name = ast.unparse(node).rpartition(".")[2]
    return name == "io_loop" or _LOOP in scope.things(node)
