"""``callback=`` of a resolver or a TCP client becomes ``add_future``; a Task, its call."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.future_callbacks import given_to_loop
from gencoro.porting.callbacks.legacy import (
    calls,
    is_of_library,
    is_yielded,
    legacy_refusal,
    task_call,
    without_callback,
    without_last_positional,
)
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.program.receivers import certain_method
from gencoro.porting.source.imports import module_reference

__all__ = ["NATIVE_CALLS"]

CODE = "GC110"

_TASK = "tornado.gen.Task"

# Native coroutines of today, and the former position of their callbacks.
_PLACES = {
    "tornado.netutil.Resolver.resolve": 3,
    "tornado.tcpclient.TCPClient.connect": None,
}


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the calls that lose their callback."""
    for module, task in calls(program, _TASK):
        if task.args and _name_of(program, module, task.args[0]):
            yield _of_task(module, task)
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call):
                yield from _of_call(program, module, node)


def _name_of(program: Program, module: Module, func: ast.expr) -> str:
    """Return which of these methods an expression certainly is; empty for another."""
    if not is_of_library(module, func):
        return ""
    name = certain_method(program, module, func)
    return name if name in _PLACES else ""


def _of_task(module: Module, task: ast.Call) -> Fix | Refusal:
    has_stars = any(isinstance(arg, ast.Starred) for arg in task.args)
    words = {keyword.arg for keyword in task.keywords}
    if has_stars or {None, "callback"} & words or not is_yielded(module, task):
        name = ast.unparse(task.args[0])
        return legacy_refusal(module, task, "library-callback", name)
    return Fix(CODE, module, task.lineno, (Change(task, task_call),))


def _of_call(
    program: Program, module: Module, call: ast.Call
) -> Iterator[Fix | Refusal]:
    place = _PLACES.get(_name_of(program, module, call.func))
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    callback = words.get("callback")
    is_in_place = place is not None and len(call.args) == place + 1
    has_stars = any(isinstance(arg, ast.Starred) for arg in call.args)
    if callback is None and is_in_place and not has_stars:
        callback = call.args[-1]
    if callback is None or not _name_of(program, module, call.func):
        return
    gen = module_reference("tornado.gen", module)
    if not gen.text:
        yield legacy_refusal(module, call, "name-taken", "gen")
        return

    def change(node: Any) -> Any:
        if "callback" in words:
            called = without_callback(node)
        else:
            called = without_last_positional(node)
        called = called.with_changes(lpar=[], rpar=[])
        func = cst.parse_expression(f"{gen.text}.convert_yielded")
        return cst.Call(func=func, args=[cst.Arg(called)])

    given = given_to_loop(program, module, call, callback, change)
    if isinstance(given, Refusal):
        yield given
    else:
        given = given._replace(imports=(*gen.imports, *given.imports))
        yield Fix(CODE, module, call.lineno, (given,))


NATIVE_CALLS = Fixer(
    CODE,
    "callback= of a resolver or a TCP client becomes add_future",
    "Until Tornado 5 these methods passed their results to a callback; an error went to the "
    "context of the caller or to the log, as with ``add_future``.",
    (
        Example(
            "A callback, and a Task",
            """\
from tornado import gen
from tornado.ioloop import IOLoop
from tornado.netutil import Resolver
from tornado.tcpclient import TCPClient

def show(addresses):
    print(addresses)

@gen.coroutine
def main():
    Resolver().resolve("localhost", 80, callback=show)
    stream = yield gen.Task(TCPClient().connect, "localhost", 80)
""",
            """\
from tornado import gen
from tornado.ioloop import IOLoop
from tornado.netutil import Resolver
from tornado.tcpclient import TCPClient

def show(addresses):
    print(addresses)

@gen.coroutine
def main():
    IOLoop.current().add_future(gen.convert_yielded(Resolver().resolve("localhost", 80)), lambda future: show(future.result()))
    stream = yield TCPClient().connect("localhost", 80)
""",
        ),
        Example(
            "A callback that may be None",
            """\
from tornado.netutil import Resolver

def look_up(host, callback):
    Resolver().resolve(host, 80, callback=callback)
""",
            refused="GC958",
        ),
    ),
    find,
)
