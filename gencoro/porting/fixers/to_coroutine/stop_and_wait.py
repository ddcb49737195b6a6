"""``stop()`` and ``wait()`` of a test become ``yield`` in a ``gen_test``."""

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.awaitable_calls import Start, start_of
from gencoro.porting.callbacks.callback_starts import may_start_callbacks, names_to_call
from gencoro.porting.callbacks.engines_of_tests import inner_engine
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.callbacks.waits import (
    Stop,
    other_stop,
    stops_of,
    use_of_wait,
    used_names,
)
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.kept_functions import kept_names
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.references import references_of
from gencoro.porting.source.helpers import fetch
from gencoro.porting.source.imports import name_in_module

__all__ = ["STOP_AND_WAIT"]

CODE = "GC113"

_TESTING = "tornado.testing"

# What runs a loop by itself, which it cannot in a test that the loop runs.
_RUNNERS = frozenset({"run_sync", "run_until_complete", "run_forever", "wait"})


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the tests that yield what they wait for."""
    for module in program.modules.values():
        if b"wait" not in module.source or b"stop" not in module.source:
            continue
        for function in module.functions:
            if function.owner is not None and use_of_wait(function):
                yield _of_function(program, function)


def _of_function(program: Program, function: Function) -> Fix | Refusal:
    problem = _problem(program, function)
    if problem:
        return _refusal(function, "wait", problem)
    inner = inner_engine(program, function)
    stops = stops_of(function) if inner is None else [inner.stop]
    if not stops:
        return _refusal(function, "wait", "what calls self.stop()")
    starts = [start_of(program, function, s.call, s.callback) for s in stops]
    if inner is not None:
        starts = [Start(lambda call: call)]
    calls = {stop.call for stop in stops}
    known = calls if inner is not None else ()
    started = may_start_callbacks(program, function, calls, known)
    if started:
        return _refusal(function, "callbacks", started)
    if None in starts:
        call = stops[starts.index(None)].call
        return _refusal(function, "wait", ast.unparse(call.func))
    pairs = [(s, start) for s, start in zip(stops, starts, strict=True) if start]
    return _fix(function, pairs, inner.changes if inner is not None else ())


def _refusal(function: Function, reason: str, name: str = "") -> Refusal:
    use = use_of_wait(function)
    assert use is not None, "it waits"
    return legacy_refusal(function.module, use, reason, name, function)


def _problem(program: Program, function: Function) -> str:
    """Return the reason why a method cannot be a generator; empty if there is none."""
    node = function.node
    is_test = node.name.startswith("test") and len(node.args.args) == 1
    if not is_test or node.decorator_list or isinstance(node, ast.AsyncFunctionDef):
        return f"{node.name}() is not a plain test"
    if function.is_generator or references_of(program).of(function):
        return f"{node.name}() is used otherwise"
    if any(isinstance(n, ast.Return) and n.value for n in function.own):
        return f"{node.name}() returns a value"
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and (
            _may_run_loop(program, function, part) or _blocks(function, part)
        ):
            return ast.unparse(part.func)
        is_own = isinstance(part, ast.Attribute) and part.attr in ("stop", "wait")
        if last_name(part) in _names_that_run(program) and not is_own:
            return ast.unparse(part)
    return other_stop(program, function)


def _may_run_loop(program: Program, function: Function, call: ast.Call) -> bool:
    """Return whether a call may run a loop, apart from ``self.wait``."""
    func = call.func
    name = last_name(func)
    if isinstance(func, ast.Attribute) and ast.unparse(func.value) == "self":
        if name == "wait":
            return False
        if name == "fetch" or not function.module.things(func):
            return not name.startswith(("assert", "fail", "skip"))
    return _runs_loop(call)


def _blocks(function: Function, call: ast.Call) -> bool:
    """Return whether a call sleeps, which the timeout of a ``gen_test`` would count."""
    return any(
        thing.name == "time.sleep" for thing in function.module.things(call.func)
    )


def _runs_loop(node: ast.AST) -> bool:
    """Return whether a node is a call that runs a loop, or ends its run."""
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if name in ("run", "start", "stop") and isinstance(node.func, ast.Attribute):
        text = ast.unparse(node.func.value).lower()
        return "loop" in text or "asyncio" in text
    return name in _RUNNERS or name == "HTTPClient"


@functools.lru_cache(maxsize=1)
def _names_that_run(program: Program) -> frozenset[str]:
    """Return the names of the program's functions, properties and classes that run a loop."""
    used = [(names_to_call(program, f), used_names(f)) for f in program.functions]
    running = {
        name
        for function, (own, names) in zip(program.functions, used, strict=True)
        if "fetch" in names or any(map(_runs_loop, ast.walk(function.node)))
        for name in own
    }
    used += kept_names(program)
    found: set[str] = set()
    while running:
        found |= running
        running = {n for own, names in used if names & running for n in own} - found
    return frozenset(found)


def _fix(
    function: Function,
    stops: list[tuple[Stop, Start]],
    inside: tuple[Change, ...],
) -> Fix | Refusal:
    module = function.module
    decorator = name_in_module(_TESTING, "gen_test", module)
    timeout = _timeout([stop for stop, _ in stops], module)
    if not decorator.text or timeout is None:
        return _refusal(function, "name-taken", "gen_test")
    text, imports = timeout
    arguments = f"({text})" if text else ""
    by = _decorating(f"{decorator.text}{arguments}")
    needs = (*decorator.imports, *imports)
    changes = [Change(function.node, by, imports=needs), *inside]
    for stop, start in stops:
        changes += _changes(module, stop, start)
    return Fix(CODE, module, function.line, tuple(changes), function)


def _timeout(stops: list[Stop], module: Module) -> tuple[str, tuple[str, ...]] | None:
    """Return the argument of the decorator for as long as all waits may take together."""
    given = [s.timeout_s * s.times for s in stops if s.timeout_s is not None]
    usual = sum(stop.times for stop in stops if stop.timeout_s is None)
    if usual == 1 and not given:
        return "", ()
    parts = [f"{sum(given):g}"] if given else []
    imports: tuple[str, ...] = ()
    if usual:
        name = name_in_module(_TESTING, "get_async_test_timeout", module)
        if not name.text:
            return None
        imports = name.imports
        parts.append(f"{usual} * {name.text}()" if usual > 1 else f"{name.text}()")
    return f"timeout={' + '.join(parts)}", imports


def _decorating(decorator: str) -> Callable[[Any], Any]:
    def change(node: Any) -> Any:
        new = cst.Decorator(cst.parse_expression(decorator))
        return node.with_changes(decorators=[new], lines_after_decorators=[])

    return change


def _changes(module: Module, stop: Stop, start: Start) -> list[Change]:
    """Return what puts a call in the place of its wait, with the comments around it."""
    taken: list[Any] = []
    node: ast.AST = stop.wait
    while isinstance(node, ast.expr):
        node = module.parents[node]
    is_bare = module.parents[stop.wait] is node

    def take(line: Any) -> Any:
        taken.append(line)
        return cst.RemoveFromParent()

    def put(wait: Any) -> Any:
        called = start.change(taken[0].body[0].value).with_changes(lpar=[], rpar=[])
        left = [] if is_bare else [cst.LeftParen()]
        right = [] if is_bare else [cst.RightParen()]
        return cst.Yield(called, lpar=left, rpar=right)

    def keep_comments(line: Any) -> Any:
        comment = taken[0].trailing_whitespace.comment
        own = [cst.EmptyLine(comment=comment)] if comment is not None else []
        lines = [*taken[0].leading_lines, *own, *line.leading_lines]
        return line.with_changes(leading_lines=lines)

    line = "SimpleStatementLine"
    return [
        Change(module.parents[stop.call], take, line),
        start.in_place_of(stop.wait, put),
        Change(node, keep_comments, line),
    ]


STOP_AND_WAIT = Fixer(
    CODE,
    "stop() and wait() of a test become yield in a gen_test",
    "Only if it is certain what calls ``self.stop``, and how often, and if nothing else in the "
    "test runs the loop, because a ``gen_test`` does that itself.  An engine inside the test, whose last statement is "
    "``self.stop()``, becomes a coroutine that the test yields.",
    (
        Example(
            "A fetch, a coroutine, and a timeout",
            """\
import time
from tornado import gen, testing, web

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

class PageTest(testing.AsyncHTTPTestCase):
    def get_app(self):
        return web.Application([])

    def test_missing(self):
        self.http_client.fetch(self.get_url("/"), self.stop)
        response = self.wait()
        self.assertEqual(response.code, 404)

    def test_double(self):
        double(21, callback=self.stop)
        self.assertEqual(self.wait(), 42)

        self.io_loop.add_timeout(time.time() + 0.01, self.stop)
        self.wait(timeout=2)
""",
            """\
from tornado import httpclient
import time
from tornado import gen, testing, web

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

"""
            + fetch("gen", "httpclient", "time.time")
            + """\

class PageTest(testing.AsyncHTTPTestCase):
    def get_app(self):
        return web.Application([])

    @testing.gen_test
    def test_missing(self):
        response = yield _fetch(self.http_client, self.get_url("/"))
        self.assertEqual(response.code, 404)

    @testing.gen_test(timeout=2 + testing.get_async_test_timeout())
    def test_double(self):
        self.assertEqual((yield double(21)), 42)

        yield gen.sleep(0.01)
""",
        ),
        Example(
            "A callback that calls stop",
            """\
from tornado.testing import AsyncTestCase
from mylib import store

class StoreTest(AsyncTestCase):
    def test_load(self):
        def on_load(value):
            self.assertEqual(value, 42)
            self.stop()

        store.load(on_load)
        self.wait()
""",
            refused="GC968",
        ),
    ),
    find,
)
