"""``gen.Task`` of a coroutine becomes its call, and of a timer a sleep."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.importing import reference_to_gen
from gencoro.porting.legacy import (
    called_coroutines,
    calls,
    is_of_library,
    legacy_refusal,
    task_call,
)
from gencoro.porting.program import Module, Program
from gencoro.porting.timers import pause

__all__ = ["TASKS"]

CODE = "GC105"

_ENGINE = "tornado.gen.engine"
_TASK = "tornado.gen.Task"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the Tasks that are replaced."""
    for module, call in calls(program, _TASK):
        func = call.args[0] if call.args else call
        if not _is_engine(program, module, func) and not is_of_library(module, func):
            yield _of_task(program, module, call)


def _is_engine(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an engine decides by itself what becomes of its Tasks."""
    functions = program.functions_of(module, node)
    return any(function.has_decorator(_ENGINE) for function in functions)


def _of_task(program: Program, module: Module, call: ast.Call) -> Fix | Refusal:
    if not call.args or isinstance(call.args[0], ast.Starred):
        return legacy_refusal(module, call, "task", ast.unparse(call))
    called, *args = call.args
    is_simple = not any(k.arg in (None, "callback") for k in call.keywords)
    if is_simple and called_coroutines(program, module, called):
        return Fix(CODE, module, call.lineno, (Change(call, task_call),))
    if is_simple and len(args) == 1 and not call.keywords:
        sleep = _sleep(module, call, called, args[0])
        if sleep is not None:
            return sleep
    return legacy_refusal(module, call, "task", ast.unparse(called))


def _sleep(
    module: Module, call: ast.Call, method: ast.expr, deadline: ast.expr
) -> Fix | None:
    """Return the sleep that a timer of an IOLoop is."""
    function = module.function_at(call)
    found = pause(module, method, deadline)
    gen = reference_to_gen(function) if function is not None else None
    if found is None or gen is None or not gen.text:
        return None
    text = ast.unparse(found.node)
    if found.is_timedelta:
        text += ".total_seconds()"
    new = f"{gen.text}.sleep({text})"

    def change(node: Any) -> Any:
        return cst.parse_expression(new).with_changes(lpar=node.lpar, rpar=node.rpar)

    return Fix(CODE, module, call.lineno, (Change(call, change),), None, gen.imports)


TASKS = Fixer(
    CODE,
    "gen.Task of a coroutine becomes its call, and of a timer a sleep",
    "A coroutine returns a Future, which has its result and its error, as the Task has.",
    (
        Example(
            "A coroutine and a timer",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.Task(IOLoop.current().add_timeout, time.time() + 0.01)
    return 2 * number

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

@gen.coroutine
def main():
    return (yield double(21))
""",
        ),
        Example(
            "A function of another package",
            """\
from tornado import gen
from mylib import store

@gen.coroutine
def main():
    return (yield gen.Task(store.load, "key"))
""",
            """\
from tornado import gen
from mylib import store

@gen.coroutine
def main():
    return (yield gen.Task(store.load, "key"))
""",
            refused="GC957",
        ),
    ),
    find,
)
