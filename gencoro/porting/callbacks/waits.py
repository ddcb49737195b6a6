"""Pairs of ``self.stop`` and ``self.wait()`` in tests.

Rule: each ``stop`` is the callback of one statement, and the next statement begins with
the ``wait`` for it.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.program import Function, Program
from gencoro.porting.program.families import heirs_of
from gencoro.porting.program.origins import last_name
from gencoro.porting.source.lines import have_own_lines

__all__ = [
    "Stop",
    "other_stop",
    "statement_that_begins_with",
    "stops_of",
    "timeout_of",
    "use_of_wait",
    "used_names",
    "uses_of_wait",
]

_CASE = "tornado.testing.AsyncTestCase"
_NAMES = {f"{_CASE}.stop", f"{_CASE}.wait"}

# Methods that a test case runs before a test, or as its application.
_HOOKS = frozenset(
    {
        "__init__",
        "get_app",
        "get_http_server",
        "get_httpserver_options",
        "get_new_ioloop",
        "setUp",
        "setUpClass",
    }
)

_GUARDS = (ast.AsyncWith, ast.Try, ast.With)


class Stop(NamedTuple):
    """A call whose callback is ``self.stop``, and the wait after it.

    Attributes:
        call: The call, which is a statement.
        callback: The argument that is the callback.
        wait: The call of ``wait``.
        timeout_s: Its timeout in seconds; None for the usual one.
        times: How often it waits, at most.
    """

    call: ast.Call
    callback: ast.expr
    wait: ast.Call
    timeout_s: float | None
    times: int


def use_of_wait(function: Function) -> ast.expr | None:
    """Return the first use of ``stop`` or ``wait`` in a method; None if there is none."""
    return next(uses_of_wait(function), None)


def uses_of_wait(function: Function) -> Iterator[ast.expr]:
    """Yield the uses of ``stop`` and ``wait`` in a method and the functions inside it."""
    for node in ast.walk(function.node):
        if isinstance(node, ast.Attribute) and node.attr in ("stop", "wait"):
            names = {
                found[0] if (found := TODAY.find(thing.name)) else thing.name
                for thing in function.module.things(node)
            }
            if names & _NAMES:
                yield node


def stops_of(function: Function) -> list[Stop] | None:
    """Return where a test waits; None if some use is not understood."""
    module = function.module
    uses = list(uses_of_wait(function))
    if any(module.function_at(use) is not function for use in uses):
        return None
    waits = [
        use for use in uses if isinstance(use, ast.Attribute) and use.attr == "wait"
    ]
    callbacks = {use for use in uses if use not in waits}
    found = []
    for wait in waits:
        stop = _stop(function, wait, callbacks)
        if stop is None:
            return None
        callbacks.discard(stop.callback)
        found.append(stop)
    return None if callbacks else found


def other_stop(program: Program, test: Function) -> str:
    """Return other code that may call the ``stop`` of a test; empty if there is none.

    That is what is used before the test, and does not wait for each ``stop`` itself.
    """
    used = _used_before_tests(program)
    for function in program.functions:
        is_open = bool(use_of_wait(function)) and not stops_of(function)
        is_of_test = test.owner in heirs_of(program, function.owner)
        if is_open and is_of_test and function.node.name in used:
            return f"{function.node.name}()"
    return ""


@functools.lru_cache(maxsize=1)
def _used_before_tests(program: Program) -> frozenset[str]:
    """Return the names of the hooks that a test case runs, and of what they use."""
    used = [(f.node.name, used_names(f)) for f in program.functions]
    found: set[str] = set()
    more = set(_HOOKS)
    while more:
        found |= more
        more = {n for name, names in used if name in more for n in names} - found
    return frozenset(found)


def _stop(function: Function, use: ast.expr, callbacks: set[ast.expr]) -> Stop | None:
    parents = function.module.parents
    wait = parents[use]
    timeout = timeout_of(wait) if isinstance(wait, ast.Call) else -1
    if not isinstance(wait, ast.Call) or wait.func is not use or timeout == -1:
        return None
    statement = statement_that_begins_with(function, wait)
    block = getattr(parents.get(statement), "body", []) if statement else []
    place = block.index(statement) if statement in block else 0
    previous = block[place - 1] if place else None
    match previous:
        case ast.Expr(value=ast.Call() as call) if have_own_lines(function, block):
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            passed = [argument for argument in arguments if argument in callbacks]
            times = _times_of(function, call, timeout is not None)
            if len(passed) == 1 and times:
                return Stop(call, passed[0], wait, timeout, times)
    return None


def timeout_of(wait: ast.Call) -> float | None:
    """Return a timeout in seconds, None for the usual one, and -1 for an unknown one."""
    match wait:
        case ast.Call(args=[], keywords=[]):
            return None
        case ast.Call(
            args=[],
            keywords=[ast.keyword(arg="timeout", value=ast.Constant(value=value))],
        ) if isinstance(value, (int, float)):
            return float(value)
    return -1


def statement_that_begins_with(function: Function, first: ast.expr) -> ast.AST | None:
    """Return the statement that evaluates an expression first; None if it may not."""
    parents = function.module.parents
    node: ast.AST = first
    while isinstance(node, ast.expr):
        child, node = node, parents[node]
        match node:
            case ast.Attribute() | ast.Expr() | ast.Return() | ast.Await():
                pass
            case ast.Assign(targets=[ast.Name()]):
                pass
            case ast.Subscript(value=part) | ast.Call(func=part) if part is child:
                pass
            case ast.Call(func=func, args=args) if child in args:
                before = args[: args.index(child)]
                if not _is_name(func) or not all(map(_is_constant, before)):
                    return None
            case ast.Compare(left=part) if part is child:
                pass
            case _:
                return None
    return node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _is_name(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _times_of(function: Function, call: ast.AST, has_timeout: bool) -> int:
    """Return how often a statement is run, at most; 0 if that is not known.

    Also if a timeout may be caught there.
    """
    times = 1
    for node in function.around(call):
        if isinstance(node, (ast.AsyncFor, ast.While)):
            return 0
        if has_timeout and isinstance(node, _GUARDS):
            return 0
        if isinstance(node, ast.For):
            times *= _length_of(function, node.iter)
    return times


def _length_of(function: Function, items: ast.expr) -> int:
    """Return how many items there are; 0 if that is not known."""
    module = function.module
    match items:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            is_whole = not any(isinstance(part, ast.Starred) for part in parts)
            return len(parts) if is_whole else 0
        case ast.Name() if isinstance(module.values_of(items)[-1], ast.Tuple):
            return _length_of(function, module.values_of(items)[-1])
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            found = [a.value for a in args if isinstance(a, ast.Constant)]
            numbers = [number for number in found if isinstance(number, int)]
            is_builtin = module.scope_at(items)._scope_of("range") is None
            is_known = is_builtin and 0 < len(numbers) == len(args) < 3
            return len(range(*numbers)) if is_known else 0
    return 0


def used_names(function: Function) -> set[str]:
    """Return the names and attributes that a function uses; ``fetch`` only of ``self``."""
    return {
        last_name(node)
        for node in ast.walk(function.node)
        if last_name(node) != "fetch" or ast.unparse(node) == "self.fetch"
    }
