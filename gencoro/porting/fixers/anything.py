"""``yield`` of what may be anything is awaited through ``gen.convert_yielded``."""

from collections.abc import Iterator
from typing import Any

from gencoro.porting.awaitables import Kind
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.helpers import AWAITABLE, awaitable
from gencoro.porting.importing import is_free, reference_to, reference_to_gen
from gencoro.porting.program import Program
from gencoro.porting.reasons import refusal
from gencoro.porting.trees import call_of
from gencoro.porting.yields import change_yield, yields_of_kind

__all__ = ["ANYTHING"]

CODE = "GC207"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of yielded values of which nothing is certain."""
    for function, node in yields_of_kind(program, Kind.NOT_NONE):
        gen = reference_to_gen(function)
        if not gen.text:
            yield refusal(function, "name-taken", node, "gen")
            continue

        def converted(value: Any, name: str = gen.text) -> Any:
            return call_of(f"{name}.convert_yielded", value)

        change = change_yield(function.module, node, converted)
        yield Fix(CODE, function.module, node.lineno, (change,), function, gen.imports)
    for function, node in yields_of_kind(program, Kind.ANYTHING):
        gen, asyncio = reference_to_gen(function), reference_to("asyncio", function)
        if not gen.text or gen.is_local or not asyncio.text:
            name = "gen" if asyncio.text else "asyncio"
            yield refusal(function, "name-taken", node, name)
            continue
        if not is_free(AWAITABLE, function):
            yield refusal(function, "name-taken", node, AWAITABLE)
            continue

        def helped(value: Any) -> Any:
            return call_of(AWAITABLE, value)

        change = change_yield(function.module, node, helped)
        yield Fix(
            CODE,
            function.module,
            node.lineno,
            (change,),
            function,
            (*gen.imports, *asyncio.imports),
            (awaitable(gen.text),),
        )


ANYTHING = Fixer(
    CODE,
    "yield of anything else is awaited through gen.convert_yielded",
    "A coroutine may yield a Future, a list, a dict, None, a Future of an executor or what "
    "was registered with convert_yielded, and an async def can await the first only.  "
    "convert_yielded decides when the program runs; where the value may be None, a helper "
    "adds the turn of the loop that None stands for.",
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
import asyncio
from tornado import gen
from redis_client import connect

def _awaitable(value):
    """Return what an async def can await for a value that a coroutine yielded."""
    future = gen.convert_yielded(value)
    return asyncio.sleep(0) if future is gen.convert_yielded(None) else future

async def main(waited):
    await gen.convert_yielded(connect("localhost").fetch_keys())
    await _awaitable(waited)
''',
        ),
    ),
    find,
)
