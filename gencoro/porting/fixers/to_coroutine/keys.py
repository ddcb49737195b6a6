"""``gen.Callback`` and ``gen.Wait`` become a Future in a variable."""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.awaitable_calls import Start, start_of, task_of
from gencoro.porting.callbacks.callback_functions import CALLBACK, takes_callback
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.keys import Pair, first_use_of_key, pairs_of
from gencoro.porting.callbacks.legacy import is_certain_call, legacy_refusal
from gencoro.porting.callbacks.tail_calls import tails_of
from gencoro.porting.callbacks.waits import statement_that_begins_with
from gencoro.porting.coroutines.awaitables import awaitables_of
from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.source.helpers import fetch
from gencoro.porting.source.imports import reference_to_gen, unused_name

__all__ = ["KEYS"]

CODE = "GC111"

_ENGINE = "tornado.gen.engine"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the functions that keep Futures instead of keys."""
    for function in program.functions:
        use = first_use_of_key(function)
        if use is not None:
            yield _of_function(program, function, use)


def _of_function(program: Program, function: Function, use: ast.expr) -> Fix | Refusal:
    module = function.module
    pairs = pairs_of(function) if _is_coroutine(function) else None
    if pairs is None:
        return legacy_refusal(module, use, "key", ast.unparse(use), function)
    calls = {pair.call for pair in pairs}
    tasks = {p.call: t for p in pairs if (t := _task_of_own(program, function, p))}
    started = may_start_callbacks(program, function, calls, tasks)
    if started:
        return legacy_refusal(module, use, "callbacks", started, function)
    changes: list[Change] = []
    names: dict[object, str] = {}
    for pair in pairs:
        start = start_of(program, function, pair.call, pair.callback)
        start = start or tasks.get(pair.call)
        if start is None or (start.may_fail and not pair.is_adjacent):
            name = ast.unparse(pair.call.func)
            return legacy_refusal(module, pair.call, "key", name, function)
        names[pair.key] = name = _name_for(pair.key, function.module, names)
        statement = module.parents[pair.call]
        changes.append(start.in_place_of(statement, _keeping(name, start), "Expr"))
    for waits in {pair.waits: None for pair in pairs}:
        changes.append(Change(waits, _waiting(waits, names)))
    return Fix(CODE, module, function.line, tuple(changes), function)


def _task_of_own(program: Program, function: Function, pair: Pair) -> Start | None:
    """Return the Task of a function of the program that certainly calls back once.

    An error of it comes where the Task is yielded, which is the next statement.  It came at
    the call, and left a key that nothing waited for: that is an error only if the other one
    is caught.
    """
    module, call = function.module, pair.call
    wait = module.parents[pair.waits]
    is_first = isinstance(wait, ast.Yield) and statement_that_begins_with(
        function, wait
    )
    if not is_first or _may_be_caught(function, call):
        return None
    is_last = call.args[-1:] == [pair.callback] and not call.keywords
    if not is_certain_call(program, module, call.func) or not (
        is_last
        or any(k.arg == CALLBACK and k.value is pair.callback for k in call.keywords)
    ):
        return None
    for called in awaitables_of(program).callees(module, call.func):
        parameters = len(called.node.args.args) - isinstance(call.func, ast.Attribute)
        if not called.is_bare or not takes_callback(called):
            return None
        if is_last and (called.owner is not None) != isinstance(
            call.func, ast.Attribute
        ):
            return None
        if is_last and len(call.args) != parameters:
            return None
        tails = tails_of(program, called, CALLBACK)
        apart_from = {tail.call for tail in tails or () if tail.call is not None}
        if tails is None or may_start_callbacks(program, called, apart_from):
            return None
    gen = reference_to_gen(function)
    change = task_of(gen.text, is_last)
    return Start(change, gen.imports, may_fail=True) if gen.text else None


def _may_be_caught(function: Function, node: ast.AST) -> bool:
    """Return whether a function may go on after an error."""
    guards = (ast.AsyncWith, ast.Try, ast.TryStar, ast.With)
    return any(isinstance(outer, guards) for outer in function.around(node))


def _is_coroutine(function: Function) -> bool:
    decorators = [names for _, names in function.decorators()]
    return decorators[-1:] in ([{COROUTINE}], [{_ENGINE}])


def _name_for(key: object, module: Module, taken: dict[object, str]) -> str:
    """Return a name that is free in a module for the Future of a key."""
    name = re.sub(r"\W", "_", str(key))
    name = f"{name}_future" if name[:1].isalpha() else f"future_{name}"
    return unused_name(name, module, taken.values())


def _keeping(name: str, start: Start) -> Callable[[Any], Any]:
    def change(node: Any) -> Any:
        target = cst.AssignTarget(cst.Name(name))
        value = start.change(node.value)
        return cst.Assign([target], value, semicolon=node.semicolon)

    return change


def _waiting(waits: ast.Call, names: dict[object, str]) -> Callable[[Any], Any]:
    """Return what replaces a Wait by its Future, or a WaitAll by a list of them."""
    keys = waits.args[0]
    if isinstance(keys, (ast.List, ast.Tuple)):
        parts = [names[k.value] for k in keys.elts if isinstance(k, ast.Constant)]
        text = f"[{', '.join(parts)}]"
    else:
        assert isinstance(keys, ast.Constant), "it is paired"
        text = names[keys.value]

    def change(node: Any) -> Any:
        new = cst.parse_expression(text)
        return new.with_changes(lpar=node.lpar, rpar=node.rpar)

    return change


KEYS = Fixer(
    CODE,
    "gen.Callback and gen.Wait become a Future that is kept in a variable",
    "A call that returns a Future has started when it returns, and the Future is yielded "
    "where the key was waited for.  Only if each key is a constant, and every path that "
    "passes its callback waits for it once.  An error of a coroutine that got the callback "
    "came at whatever was yielded at that time; so nothing may be between that call and its "
    "wait.  A function of the program that certainly calls back once is given to a Task first.",
    (
        Example(
            "Two fetches at the same time, a timer, and a coroutine",
            """\
import time
from tornado import gen, httpclient
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

@gen.coroutine
def main():
    IOLoop.current().add_timeout(time.time() + 1, (yield gen.Callback("pause")))
    double(21, callback=(yield gen.Callback("number")))
    number = yield gen.Wait("number")
    yield gen.Wait("pause")

@gen.coroutine
def load(first, second):
    client = httpclient.AsyncHTTPClient()
    client.fetch(first, callback=(yield gen.Callback(1)))
    client.fetch(second, callback=(yield gen.Callback(2)))
    responses = yield gen.WaitAll([1, 2])
""",
            """\
import time
from tornado import gen, httpclient
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

@gen.coroutine
def main():
    pause_future = gen.sleep(1)
    number_future = double(21)
    number = yield number_future
    yield pause_future

"""
            + fetch("gen", "httpclient", "time.time")
            + """\

@gen.coroutine
def load(first, second):
    client = httpclient.AsyncHTTPClient()
    future_1 = _fetch(client, first)
    future_2 = _fetch(client, second)
    responses = yield [future_1, future_2]
""",
        ),
        Example(
            "A function of another package",
            """\
from tornado import gen
from mylib import store

@gen.coroutine
def main():
    store.load("key", callback=(yield gen.Callback("loaded")))
    return (yield gen.Wait("loaded"))
""",
            refused="GC961",
        ),
        Example(
            "A path that does not wait",
            """\
from tornado import gen, httpclient

@gen.coroutine
def main(url, is_needed):
    client = httpclient.AsyncHTTPClient()
    client.fetch(url, callback=(yield gen.Callback("response")))
    if is_needed:
        response = yield gen.Wait("response")
""",
            refused="GC961",
        ),
    ),
    find,
)
