"""Several arguments of a callback become a tuple, without ``gen.Arguments``."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.callback_functions import (
    CALLBACK,
    Call,
    calls_of,
    is_task,
    takes_callback,
)
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Module, Program

__all__ = ["ARGUMENTS"]

CODE = "GC114"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the functions that pass a tuple to their callbacks, and what gets it."""
    for function in program.functions:
        if takes_callback(function):
            calls = _calls_of_callback(function)
            if calls and all(len(call.args) > 1 for call in calls):
                yield from _of_function(program, function, calls)


def _calls_of_callback(function: Function) -> list[ast.Call]:
    """Return the calls of the callback; none if it is used otherwise, or with words."""
    parents = function.module.parents
    found = []
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and node.id == CALLBACK:
            match parents[node]:
                case ast.Call(func=func, args=args, keywords=[]) as call if (
                    func is node and not any(isinstance(a, ast.Starred) for a in args)
                ):
                    found.append(call)
                case _:
                    return []
    return found


def _of_function(
    program: Program, function: Function, calls: list[ast.Call]
) -> Iterator[Fix | Refusal]:
    tasks = calls_of(program, function, is_task)
    if isinstance(tasks, str):
        return  # it is not clear that a Task gets the arguments
    changes = [_changes_of(task) for task in tasks]
    if None in changes:
        module, task = tasks[changes.index(None)]
        name = ast.unparse(task)
        yield legacy_refusal(module, task, "arguments", name, function)
        return
    tuples = tuple(Change(call, _with_tuple) for call in calls)
    yield Fix(CODE, function.module, function.line, tuples, function)
    for (module, task), change in zip(tasks, changes, strict=True):
        if change is not None:
            yield Fix(CODE, module, task.lineno, change, function)


def _changes_of(task: Call) -> tuple[Change, ...] | None:
    """Return what takes ``.args`` from the result of a Task; None if it has other uses."""
    module, call = task
    parents = module.parents
    waits = parents[call]
    if not isinstance(waits, ast.Yield):
        return None
    match parents[waits]:
        case ast.Attribute(attr="args") as attribute:
            return (Change(attribute, _without_attribute),)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _changes_of_name(module, call, name)
    return None


def _changes_of_name(
    module: Module, call: ast.Call, name: str
) -> tuple[Change, ...] | None:
    function = module.function_at(call)
    if function is None or len(function.scope._bindings.get(name, ())) != 1:
        return None
    uses = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and node.id == name
        if isinstance(node.ctx, ast.Load)
    ]
    if any(module.function_at(use) is not function for use in uses):
        return None
    attributes = [module.parents[use] for use in uses]
    if all(isinstance(a, ast.Attribute) and a.attr == "args" for a in attributes):
        return tuple(Change(a, _without_attribute) for a in attributes)
    return None


def _without_attribute(node: Any) -> Any:
    return node.value


def _with_tuple(node: Any) -> Any:
    elements = [
        cst.Element(arg.value, comma=arg.comma)
        if isinstance(arg.comma, cst.Comma)
        else cst.Element(arg.value)
        for arg in node.args
    ]
    left, right = [cst.LeftParen()], [cst.RightParen()]
    return node.with_changes(args=[cst.Arg(cst.Tuple(elements, lpar=left, rpar=right))])


ARGUMENTS = Fixer(
    CODE,
    "several arguments of a callback become a tuple",
    "A Task whose callback got several arguments has a ``gen.Arguments`` for its result; a "
    "Future has one value.  Only if every call of the callback has several arguments, all "
    "by position, and every use of the function is a Task of which only ``.args`` is used.",
    (
        Example(
            "Two arguments",
            """\
from tornado import gen

@gen.engine
def measure(scale, callback):
    yield gen.sleep(0.01)
    callback(3 * scale, "m")

@gen.coroutine
def main():
    number, unit = (yield gen.Task(measure, 2)).args
    measured = yield gen.Task(measure, 4)
    print(measured.args[0], unit)
""",
            """\
from tornado import gen

@gen.coroutine
def measure(scale):
    yield gen.sleep(0.01)
    return (3 * scale, "m")

@gen.coroutine
def main():
    number, unit = (yield measure(2))
    measured = yield measure(4)
    print(measured[0], unit)
""",
        ),
        Example(
            "Arguments by name",
            """\
from tornado import gen

def measure(scale, callback):
    callback(3 * scale, unit="m")

@gen.coroutine
def main():
    measured = yield gen.Task(measure, 2)
    print(measured.args[0], measured.kwargs["unit"])
""",
            refused="GC957",
        ),
        Example(
            "Another use of the result",
            """\
from tornado import gen

def measure(scale, callback):
    callback(3 * scale, "m")

@gen.coroutine
def main():
    args, kwargs = yield gen.Task(measure, 2)
""",
            refused="GC957, GC963",
        ),
    ),
    find,
)
