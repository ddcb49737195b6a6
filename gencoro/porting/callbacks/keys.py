"""Pairs of ``gen.Callback`` and ``gen.Wait`` with the same key.

Rule: each key is a constant with one callback and one wait, in this order in one block, so
that each path through the one goes through the other.

Pure.  Used by `gencoro.porting.fixers.to_coroutine.keys`.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gencoro.porting.program import Function
from gencoro.porting.program.trees import block_of

__all__ = ["Pair", "first_use_of_key", "pairs_of"]

_CALLBACK = "tornado.gen.Callback"
_WAIT = "tornado.gen.Wait"
_WAIT_ALL = "tornado.gen.WaitAll"
_KEYS = {_CALLBACK, _WAIT, _WAIT_ALL}

# Expressions of which a part may not be evaluated.
_CONDITIONAL = (ast.BoolOp, ast.IfExp)

# Statements that may leave a block before its end, apart from errors.
_EXITS = (ast.Break, ast.Continue, ast.Return)

_LOOPS = (ast.AsyncFor, ast.For, ast.While)


class Pair(NamedTuple):
    """A key, the call that gets its callback, and what waits for it.

    Attributes:
        key: The key.
        call: The call, which is a statement.
        callback: The argument that is the callback.
        waits: The call of ``Wait`` or ``WaitAll``.
        is_adjacent: Whether nothing is between the two, and nothing else is waited for.
    """

    key: object
    call: ast.Call
    callback: ast.Yield
    waits: ast.Call
    is_adjacent: bool


def first_use_of_key(function: Function) -> ast.expr | None:
    """Return the first use of a key in a function; None if there is none."""
    return next(_uses(function), None)


def _uses(function: Function) -> Iterator[ast.expr]:
    for node in function.own:
        if isinstance(node, (ast.Attribute, ast.Name)) and function.names(node) & _KEYS:
            yield node


def pairs_of(function: Function) -> list[Pair] | None:
    """Return the keys of a function; None if some use of a key is not understood."""
    starts: dict[object, tuple[ast.Call, ast.Yield]] = {}
    waits: dict[object, ast.Call] = {}
    parents = function.module.parents
    for node in _uses(function):
        call = parents[node]
        if not isinstance(call, ast.Call) or call.func is not node or call.keywords:
            return None
        names = function.names(node)
        keys = _keys_of(call, names)
        if keys is None or any(key in waits for key in keys if names != {_CALLBACK}):
            return None
        if names == {_CALLBACK}:
            start = _start_of(function, call)
            if start is None or keys[0] in starts:
                return None
            starts[keys[0]] = start
        else:
            waits.update(dict.fromkeys(keys, call))
    if starts.keys() != waits.keys():
        return None
    pairs = [_pair(function, key, *starts[key], waits[key]) for key in starts]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _keys_of(call: ast.Call, names: set[str]) -> list[object] | None:
    """Return the keys of a call of Callback, Wait or WaitAll, if they are constants."""
    if len(call.args) != 1 or len(names) != 1:
        return None
    nodes: Sequence[ast.expr] = call.args
    if names == {_WAIT_ALL}:
        if not isinstance(call.args[0], (ast.List, ast.Tuple)):
            return None
        nodes = call.args[0].elts
    keys = [node.value for node in nodes if isinstance(node, ast.Constant)]
    is_whole = len(keys) == len(nodes) and len(set(keys)) == len(keys)
    return list(keys) if is_whole else None


def _start_of(
    function: Function, callback: ast.Call
) -> tuple[ast.Call, ast.Yield] | None:
    """Return the statement that a callback is passed in, as a call and its argument."""
    parents = function.module.parents
    argument = parents[callback]
    if not isinstance(argument, ast.Yield):
        return None
    call = parents[argument]
    call = parents[call] if isinstance(call, ast.keyword) else call
    is_statement = isinstance(call, ast.Call) and isinstance(parents[call], ast.Expr)
    if not is_statement or not isinstance(call, ast.Call) or call.func is argument:
        return None
    return call, argument


def _pair(
    function: Function,
    key: object,
    call: ast.Call,
    callback: ast.Yield,
    waits: ast.Call,
) -> Pair | None:
    """Return a key, if each path that passes its callback waits for it, too."""
    parents = function.module.parents
    begin = parents[call]
    end = _statement_that_waits(function, waits)
    block = block_of(parents, begin)
    if end not in block or _may_run_again(function, begin):
        return None
    place, last = block.index(begin), block.index(end)
    between = block[place + 1 : last]
    exits = (n for s in between for n in ast.walk(s) if isinstance(n, _EXITS))
    if place >= last or any(True for _ in exits):
        return None
    is_only = isinstance(parents[waits], ast.Yield) and not isinstance(
        waits.args[0], (ast.List, ast.Tuple)
    )
    return Pair(key, call, callback, waits, is_only and not between)


def _statement_that_waits(function: Function, waits: ast.Call) -> ast.AST | None:
    """Return the statement that certainly waits, if a yield there does."""
    parents = function.module.parents
    node: ast.AST = parents[waits]
    while isinstance(node, (ast.List, ast.Dict)):
        node = parents[node]
    if not isinstance(node, ast.Yield):
        return None
    while isinstance(node, (ast.expr, ast.keyword, ast.withitem)):
        if isinstance(node, _CONDITIONAL):
            return None
        node, child = parents[node], node
    if isinstance(node, ast.While) or child in getattr(node, "body", ()):
        return None
    return node


def _may_run_again(function: Function, statement: ast.AST) -> bool:
    """Return whether an error may be caught before the wait, and a loop come back."""
    is_caught = False
    for node in function.around(statement):
        is_caught = is_caught or (isinstance(node, ast.Try) and bool(node.handlers))
        if is_caught and isinstance(node, _LOOPS):
            return True
    return False
