"""``yield`` of an unknown value becomes ``await`` through ``gen.convert_yielded``."""

from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.awaitables import Kind
from gencoro.porting.coroutines.yields import change_yield, yields_of_kind
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.program import Program
from gencoro.porting.reasons import refusal
from gencoro.porting.source.helpers import AWAITABLE, awaitable
from gencoro.porting.source.imports import (
    is_free,
    reference_in_module,
    reference_to_gen,
    standard_module,
)
from gencoro.porting.source.nodes import call_of

__all__ = ["ANYTHING"]

CODE = "GC207"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of yielded values of which nothing is certain."""
    for function, node in yields_of_kind(program, Kind.ANYTHING):
        gen = reference_to_gen(function)
        types = standard_module("types", function.module)
        if gen.is_local:
            gen = reference_in_module(function.module)
            if not gen.text:
                yield refusal(function, "bound-inside", node, "gen")
                continue
        if not gen.text or not types.text:
            name = "gen" if types.text else "types"
            yield refusal(function, "name-taken", node, name)
            continue
        if not is_free(AWAITABLE, function):
            yield refusal(function, "name-taken", node, AWAITABLE)
            continue

        def helped(value: Any) -> Any:
            return call_of(AWAITABLE, value or cst.Name("None"))

        imports = (*gen.imports, *types.imports)
        helpers = (awaitable(gen.text),)
        change = change_yield(function.module, node, helped, imports, helpers)
        yield Fix(CODE, function.module, node.lineno, (change,), function)


ANYTHING = Fixer(
    CODE,
    "yield of anything else is awaited through gen.convert_yielded",
    "A coroutine may yield a Future, a list, a dict, None, a Future of an executor or what "
    "was registered with convert_yielded; an async def can await the first only.  A helper "
    "decides when the program runs, and makes the turn of the loop that None stands for.",
    (
        Example(
            "A function of another package, and an argument",
            """\
from tornado import gen
from redis_client import connect

@gen.coroutine
def main(waited):
    yield connect("localhost").fetch_keys()
    yield waited
""",
            '''\
import types
from tornado import gen
from redis_client import connect

@types.coroutine
def _awaitable(value):
    """Wait for a value as a coroutine that yields it does."""
    future = gen.convert_yielded(value)
    if future is gen.convert_yielded(None):
        yield
        return None
    if not hasattr(future, "__await__"):

        @gen.coroutine
        def waiting():
            return (yield value)

        future = waiting()
    yield from future.__await__()
    return future.result()

async def main(waited):
    await _awaitable(connect("localhost").fetch_keys())
    await _awaitable(waited)
''',
        ),
    ),
    find,
)
