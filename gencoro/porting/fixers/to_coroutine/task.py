"""``gen.Task`` of a coroutine becomes a call; of a loop method, a sleep or two moments."""

import ast
from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.legacy import (
    called_coroutines,
    calls,
    is_of_library,
    legacy_refusal,
    task_call,
)
from gencoro.porting.callbacks.timers import wait_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.source.lines import has_comment, is_alone

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
    is_simple = is_simple and not isinstance(module.parents[call], ast.Expr)
    if is_simple and called_coroutines(program, module, called):
        return Fix(CODE, module, call.lineno, (Change(call, task_call),))
    if is_simple and len(args) < 2 and not call.keywords:
        wait = _wait(program, module, call, args[0] if args else None)
        if wait is not None:
            return wait
    return legacy_refusal(module, call, "task", ast.unparse(called))


def _wait(
    program: Program, module: Module, call: ast.Call, deadline: ast.expr | None
) -> Fix | None:
    """Return the sleep that a timer of an IOLoop is, or the moments of a next turn."""
    function = module.function_at(call)
    if function is None or has_comment(module, call):
        return None
    wait = wait_of(program, function, call.args[0], deadline)
    if wait is None:
        return None

    def change(node: Any) -> Any:
        new = cst.parse_expression(wait.text)
        return new.with_changes(lpar=node.lpar, rpar=node.rpar)

    changes = [Change(call, change, imports=wait.imports)]
    if deadline is None:
        statement = _statement_of(module, call)
        if statement is None or not is_alone(function, statement):
            return None
        changes.append(Change(statement, _after(wait.text), "SimpleStatementLine"))
    return Fix(CODE, module, call.lineno, tuple(changes))


def _statement_of(module: Module, call: ast.Call) -> ast.stmt | None:
    """Return the statement that only yields a Task, or assigns its result."""
    waiting = module.parents[call]
    statement = module.parents[waiting]
    if not isinstance(statement, ast.Assign | ast.Expr):
        return None
    return statement if statement.value is waiting else None


def _after(wait: str) -> Callable[[Any], Any]:
    """Return what puts a line with a wait before a line.

    A Task takes two turns of the loop: the callback is called in the first, and the
    generator is resumed in the second.
    """

    def change(node: Any) -> Any:
        first = cst.parse_statement(f"yield {wait}\n")
        first = first.with_changes(leading_lines=node.leading_lines)
        return cst.FlattenSentinel([first, node.with_changes(leading_lines=[])])

    return change


TASKS = Fixer(
    CODE,
    "gen.Task of a coroutine becomes its call, and of the loop a sleep or two moments",
    "A coroutine returns a Future, which has its result and its error, as the Task has.  A "
    "Task of ``add_callback`` takes two turns of the loop, and a moment takes one.",
    (
        Example(
            "A coroutine, a timer, and the next turn of the loop",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

WAITS = {"short": 0.01}

@gen.coroutine
def double(number):
    yield gen.Task(IOLoop.current().add_timeout, time.time() + WAITS["short"])
    yield gen.Task(IOLoop.current().add_callback)
    return 2 * number

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

WAITS = {"short": 0.01}

@gen.coroutine
def double(number):
    yield gen.sleep(WAITS["short"])
    yield gen.moment
    yield gen.moment
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
            refused="GC957",
        ),
    ),
    find,
)
