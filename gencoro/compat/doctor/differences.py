"""Finds uses whose behavior under gencoro.compat may differ from Tornado 4.5.

Rule: only what the source shows to be a Future or a client of Tornado counts.  Used by
`gencoro.compat.doctor.scan`.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import DEFS
from gencoro.compat.doctor.things import Thing

__all__ = ["NOTES", "differences", "is_coroutine"]

_FUTURE = "tornado.concurrent.Future"
_FETCH = "tornado.httpclient.AsyncHTTPClient.fetch"

# What is different, by the name and the argument of the use.
NOTES = {
    (_FUTURE, "type"): (
        "this is false for some Futures, such as that of TCPClient.connect; use isinstance"
    ),
    (f"{_FUTURE}.cancel", ""): (
        "it cancels the Future, as in Tornado 5; in Tornado 4 it did nothing"
    ),
    (_FETCH, "raise_error"): (
        "without a callback, errors other than HTTP statuses are raised; Tornado 4 and 5 "
        "returned them as response.error"
    ),
}

# The names of the class of Futures.
_FUTURES = frozenset(
    {
        "tornado.concurrent.Future",
        "tornado.concurrent.TracebackFuture",
        "tornado.gen.Future",
        "tornado.gen.TracebackFuture",
    }
)

# Decorators of Tornado whose functions return a Future.
_COROUTINES = frozenset({"tornado.concurrent.run_on_executor", "tornado.gen.coroutine"})


def differences(node: ast.AST, scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the name and the argument of what a node does differently from once."""
    match node:
        case ast.Compare(left=left, comparators=[right]):
            if _has_type(left, right, scope) or _has_type(right, left, scope):
                yield _FUTURE, "type"
        case ast.Call(func=ast.Attribute(value=value, attr="cancel"), args=[]):
            if any(t.is_object and is_coroutine(t) for t in scope.things(value)):
                yield f"{_FUTURE}.cancel", ""
        case ast.Call(
            func=ast.Attribute(attr="fetch") as func, args=args, keywords=keywords
        ):
            words = {keyword.arg: keyword.value for keyword in keywords}
            off = words.get("raise_error")
            is_off = isinstance(off, ast.Constant) and off.value is False
            is_known = any(thing.name == _FETCH for thing in scope.things(func))
            has_callback = "callback" in words or len(args) > 1
            if is_off and is_known and not has_callback:
                yield _FETCH, "raise_error"


def is_coroutine(thing: Thing) -> bool:
    """Return True if something is a coroutine of a scanned module, or a call of one."""
    if thing.home is None or not isinstance(thing.node, DEFS):
        return False
    return any(
        found.name in _COROUTINES
        for decorator in thing.node.decorator_list
        for found in thing.home.things(decorator)
    )


def _has_type(left: ast.expr, right: ast.expr, scope: Scope) -> bool:
    """Return True if ``type(...)`` is compared with the class of Futures."""
    match left:
        case ast.Call(func=ast.Name(id="type"), args=[_]):
            classes = (
                right.elts if isinstance(right, (ast.List, ast.Tuple)) else [right]
            )
            things = (thing for c in classes for thing in scope.things(c))
            return any(t.name in _FUTURES and not t.is_object for t in things)
    return False
