"""``@gen.coroutine`` becomes ``async def`` with a decorator that starts its calls at once."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.decisions import Conversion, decisions_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Program
from gencoro.porting.reasons import refusal
from gencoro.porting.source.helpers import STARTS_AT_ONCE as HELPER
from gencoro.porting.source.helpers import starts_at_once
from gencoro.porting.source.imports import (
    Reference,
    is_free,
    is_of_module,
    reference_in_module,
    standard_module,
)
from gencoro.porting.source.nodes import made_async

__all__ = ["STARTS_AT_ONCE"]

CODE = "GC202"

# The modules that the decorator uses.
_MODULES = ("functools", "inspect")


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the conversions of coroutines whose calls must start at once."""
    for conversion in decisions_of(program).conversions:
        if conversion.starts_at_once:
            function = conversion.function
            decorator = conversion.candidate.decorator
            assert decorator is not None, "it is a coroutine"
            modules = [standard_module(n, function.module) for n in _MODULES]
            taken = [n for n, m in zip(_MODULES, modules, strict=True) if not m.text]
            if taken or not is_free(HELPER, function):
                name = taken[0] if taken else HELPER
                yield refusal(function, "name-taken", None, name)
                continue
            found = _in_module(decorator, function)
            if not found.text:
                name = ast.unparse(decorator)
                yield refusal(function, "bound-inside", decorator, name)
                continue
            needed = [*modules, found]
            change = Change(
                function.node,
                _changer(conversion),
                imports=tuple(text for module in needed for text in module.imports),
                helpers=(starts_at_once(found.text),),
            )
            yield Fix(CODE, function.module, function.line, (change,), function)


def _in_module(decorator: ast.expr, function: Function) -> Reference:
    """Return how the module of a function can refer to its decorator."""
    if is_of_module(decorator, function):
        return Reference(ast.unparse(decorator))
    gen = reference_in_module(function.module)
    return gen._replace(text=f"{gen.text}.coroutine") if gen.text else gen


def _changer(conversion: Conversion) -> Any:
    decorator = conversion.candidate.decorator
    assert isinstance(decorator, ast.expr), "it is a coroutine"
    place = conversion.function.node.decorator_list.index(decorator)

    def change(node: cst.FunctionDef) -> cst.FunctionDef:
        decorators = list(node.decorators)
        decorators[place] = decorators[place].with_changes(decorator=cst.Name(HELPER))
        return made_async(node.with_changes(decorators=decorators))

    return change


STARTS_AT_ONCE = Fixer(
    CODE,
    "a coroutine that must start at once becomes async def with a decorator",
    "A call of a coroutine runs its body up to the first wait, and returns a Future that "
    "can be stored, awaited twice or left alone.  A call of an async def does nothing "
    "until it is awaited.  If not every call is awaited at once, a decorator keeps the old "
    "behavior.",
    (
        Example(
            "A coroutine that is started, and awaited later",
            """\
from tornado import gen

@gen.coroutine
def job():
    print("started")
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    future = job()
    print("waiting")
    yield future
""",
            '''\
import functools
import inspect
from tornado import gen

def _starts_at_once(function):
    """Start the body at the call, and return a Future, as gen.coroutine does."""

    @gen.coroutine
    @functools.wraps(function)
    def start(*args, **kwargs):
        body, error = function(*args, **kwargs), None
        while True:
            try:
                future = body.send(None) if error is None else body.throw(error)
            except StopIteration as end:
                return end.value
            finally:
                error = None
            if future is not None:
                future._asyncio_future_blocking = False
            try:
                yield future
            except BaseException as thrown:
                error = thrown

    del start.__wrapped__.__wrapped__
    start.__wrapped__.__signature__ = inspect.signature(function)
    return start

@_starts_at_once
async def job():
    print("started")
    await gen.sleep(0.01)

async def main():
    future = job()
    print("waiting")
    await future
''',
        ),
    ),
    find,
)
