"""``gen.engine`` with a callback becomes ``gen.coroutine`` with a result."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.finishing import tail_calls
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.legacy import (
    as_coroutine,
    legacy_refusal,
    may_start_callbacks,
    task_call,
)
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.references import references_of
from gencoro.porting.trees import returned

__all__ = ["ENGINES"]

CODE = "GC104"

_ENGINE = "tornado.gen.engine"
_TASK = "tornado.gen.Task"
_CALLBACK = "callback"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of engines, and of the calls of each."""
    for function in program.functions:
        decorators = [names for _, names in function.decorators()]
        if decorators == [{_ENGINE}]:
            yield from _of_engine(program, function)


def _of_engine(program: Program, function: Function) -> Iterator[Fix | Refusal]:
    module, node = function.module, function.node
    started = may_start_callbacks(program, function)
    tails = tail_calls(function, _CALLBACK) if _takes_callback(function) else None
    tasks = _tasks_of(program, function)
    coroutine = as_coroutine(function, 0)
    if tails is None or _returns_value(function):
        yield legacy_refusal(module, node, "callback-use", "", function)
    elif started:
        yield legacy_refusal(module, node, "callbacks", started, function)
    elif isinstance(tasks, str):
        yield legacy_refusal(module, node, "used-otherwise", tasks, function)
    elif coroutine is None:
        yield legacy_refusal(module, node, "name-taken", "gen", function)
    else:
        changes = (
            Change(node, coroutine.change),
            Change(node, _without_callback),
            *(Change(tail.value, _result, "Expr") for tail in tails),
        )
        yield Fix(CODE, module, function.line, changes, function, coroutine.imports)
        for user, call in tasks:
            yield Fix(CODE, user, call.lineno, (Change(call, task_call),), function)


def _takes_callback(function: Function) -> bool:
    """Return whether the last parameter is the callback."""
    args = function.node.args
    if args.vararg or args.kwarg or args.kwonlyargs or not args.args:
        return False
    return args.args[-1].arg == _CALLBACK


def _returns_value(function: Function) -> bool:
    return any(
        isinstance(node, ast.Return) and node.value is not None for node in function.own
    )


def _tasks_of(
    program: Program, function: Function
) -> list[tuple[Module, ast.Call]] | str:
    """Return the Tasks of an engine, if it has no other use; else that use."""
    references = references_of(program)
    name = function.node.name
    if references.is_named(function) or name in references.stored:
        return f"{name!r}"
    if len(program.functions_by_name[name]) > 1:
        return f"there are several functions {name}"
    tasks = []
    for use in references.of(function):
        call = use.module.parents.get(use.node)
        if not isinstance(call, ast.Call) or not _is_plain_task(
            use.module, call, use.node
        ):
            return ast.unparse(call or use.node)
        tasks.append((use.module, call))
    return tasks or "no use was found"


def _is_plain_task(module: Module, call: ast.Call, function: ast.expr) -> bool:
    """Return whether a call is a Task of a function, which passes no callback."""
    if call.args[:1] != [function] or module.names(call.func) != {_TASK}:
        return False
    words = [keyword.arg for keyword in call.keywords]
    has_stars = any(isinstance(argument, ast.Starred) for argument in call.args)
    return not has_stars and None not in words and _CALLBACK not in words


def _without_callback(node: Any) -> Any:
    params = node.params
    kept = list(params.params[:-1])
    if kept:
        kept[-1] = kept[-1].with_changes(comma=params.params[-1].comma)
    return node.with_changes(params=params.with_changes(params=kept))


def _result(node: Any) -> Any:
    call = node.value
    if not call.args:
        return cst.Return(semicolon=node.semicolon)
    [argument] = call.args
    after = argument.whitespace_after_arg
    new = returned(argument.value, call.whitespace_before_args, after)
    return new.with_changes(semicolon=node.semicolon)


ENGINES = Fixer(
    CODE,
    "gen.engine with a callback becomes gen.coroutine with a result",
    "Together with every gen.Task of the engine.  Only if each path through the engine "
    "ends with one call of its callback, with at most one argument: after that an engine "
    "can go on, and a coroutine cannot.",
    (
        Example(
            "An engine and its Task",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    if number:
        callback(2 * number)
    else:
        callback(None)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    if number:
        return 2 * number
    else:
        return None

@gen.coroutine
def main():
    return (yield double(21))
""",
        ),
        Example(
            "An engine that goes on after its callback",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    callback(2 * number)
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    callback(2 * number)
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            refused="GC955, GC957",
        ),
        Example(
            "An engine that is called with a callback",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    callback(2 * number)

double(21, callback=print)
""",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    callback(2 * number)

double(21, callback=print)
""",
            refused="GC956",
        ),
    ),
    find,
)
