"""Finds the arguments of a call that only legacy Tornado accepts.

Rule: for a function of Tornado, these are the arguments that its current parameters do
not accept.  A method of an unknown object counts only if its name, or another method that
the module calls on the object, is one that nothing but Tornado has.  Used by `gencoro.compat.doctor.scan`.
"""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.compat.doctor.differences import is_coroutine
from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import DEFS, all_statements
from gencoro.compat.doctor.rows import Rows
from gencoro.compat.doctor.things import Function, Thing
from gencoro.compat.doctor.today import Today

__all__ = ["Argument", "KnownObjects", "legacy_arguments"]

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

# Methods that nothing but Tornado has.
_OF_STREAMS = frozenset(
    {
        "read_bytes",
        "read_until",
        "read_until_close",
        "read_until_regex",
        "wait_for_handshake",
    }
)
_OF_TORNADO = _OF_STREAMS | {
    "facebook_request",
    "get_authenticated_user",
    "oauth2_request",
    "twitter_request",
}

# Methods that decide which arguments a class accepts.
_MAKERS = frozenset({"__init__", "__new__", "initialize"})

# Calls that return a function.
_FUNCTION_MAKERS = ("async_callback", "partial")

# What took a loop.  Anything else, such as gen.Return, gets one like any value.
_LOOP_TAKERS = _MAKERS | {
    "PeriodicCallback",
    "TornadoReactor",
    "YieldFuture",
    "add_accept_handler",
    "start",
    "websocket_connect",
    "with_timeout",
}

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


class KnownObjects:
    """What a module shows about its objects.

    >>> known = KnownObjects(ast.parse("self.s.read_until(b'x'); self.t.write(b'x')"))
    >>> known.streams, known.has_client
    ({'self.s'}, False)
    """

    def __init__(self, module: ast.Module) -> None:
        self._module = module

    @functools.cached_property
    def streams(self) -> set[str]:
        """The expressions that have methods of a stream, as text."""
        return {
            ast.unparse(node.value)
            for node in ast.walk(self._module)
            if isinstance(node, ast.Attribute) and node.attr in _OF_STREAMS
        }

    @functools.cached_property
    def has_client(self) -> bool:
        """Whether the module imports Tornado's HTTP client."""
        return any(
            "tornado.httpclient" in _modules_in(node)
            for node in all_statements(self._module.body)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        )


def _modules_in(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in node.names]
    module = getattr(node, "module", None)
    return [module, *(f"{module}.{name}" for name in names)] if module else names


def legacy_arguments(
    call: ast.Call,
    scope: Scope,
    today: Today,
    rows: Rows,
    known: KnownObjects | None,
) -> Iterator[Argument]:
    """Yield the arguments of a call that only legacy Tornado accepts.

    Args:
        scope: The scope that contains the call.
        known: What the module shows about its objects; None if it has nothing of
            Tornado.
    """
    things = list(scope.things(call.func))
    names = [name for name in _callees(things) if today.has(name)]
    for name in names:
        yield from _of_known(name, call, scope, today, rows)
    for thing in things:
        yield from _of_coroutine(thing, call)
    is_ours = names or any(thing.node for thing in things)
    if known is None or is_ours or not isinstance(call.func, ast.Attribute):
        return
    method = call.func.attr
    if today.has(f"tornado.iostream.IOStream.{method}") and _may_have_callback(call):
        if method in _OF_STREAMS or ast.unparse(call.func.value) in known.streams:
            name = f"tornado.iostream.IOStream.{method}"
            yield from _of_known(name, call, scope, today, rows)
    elif method in _OF_TORNADO or (
        method == "fetch" and (known.has_client or _has_stop(call, scope))
    ):
        yield from _of_unknown(method, call, scope, today, rows)


def _may_have_callback(call: ast.Call) -> bool:
    return bool(call.args) or any(k.arg in _WORDS_OF_METHODS for k in call.keywords)


def _has_stop(call: ast.Call, scope: Scope) -> bool:
    """Return True if an argument is the method of a test case that ends its waiting."""
    stop = "tornado.testing.AsyncTestCase.stop"
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [thing.name for argument in arguments for thing in scope.things(argument)]
    found = (scope.defining_name(name) for name in names if name.endswith(".stop"))
    return stop in found


def _of_coroutine(thing: Thing, call: ast.Call) -> Iterator[Argument]:
    """Check a call of a coroutine that a scanned module defines."""
    node = thing.node
    if not isinstance(node, DEFS) or thing.is_object or node.args.kwarg:
        return
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    callbacks = [keyword for keyword in call.keywords if keyword.arg == "callback"]
    if not callbacks or any(arg.arg == "callback" for arg in parameters):
        return
    if is_coroutine(thing):
        yield Argument("tornado.gen.coroutine", "callback", callbacks[0])


def _callees(things: list[Thing]) -> Iterator[str]:
    """Yield the dotted names of the called function; for a class, of its bases."""
    for thing in things:
        if thing.is_object:
            continue
        if thing.name:
            yield thing.name
        elif (
            isinstance(thing.node, ast.ClassDef)
            and thing.home is not None
            and not _MAKERS & thing.home.members(thing.node).methods.keys()
        ):
            yield from thing.home.bases(thing.node)


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
    takers = [row for row in about if row.rpartition(".")[2] in _LOOP_TAKERS]
    if takers and any(_is_io_loop(argument, scope) for argument in call.args):
        yield Argument(takers[0], "io_loop", call)
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
    """Return True if an argument is certainly a function, by its syntax or its name."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in _FUNCTION_MAKERS
    if isinstance(node, (ast.Attribute, ast.Name)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name.endswith("callback"):
            return True
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
