"""``yield`` of a list or a dict becomes ``await gen.multi(...)``."""

from collections.abc import Iterator
from typing import Any

from gencoro.porting.coroutines.awaitables import Kind
from gencoro.porting.coroutines.yields import change_yield, yields_of_kind
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.program import Program
from gencoro.porting.reasons import refusal
from gencoro.porting.source.imports import reference_to_gen
from gencoro.porting.source.nodes import call_of

__all__ = ["COLLECTIONS"]

CODE = "GC205"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of yielded lists and dicts."""
    for function, node in yields_of_kind(program, Kind.COLLECTION):
        gen = reference_to_gen(function)
        if not gen.text:
            yield refusal(function, "name-taken", node, "gen")
            continue

        def multi(value: Any, name: str = gen.text) -> Any:
            return call_of(f"{name}.multi", value)

        change = change_yield(function.module, node, multi, gen.imports)
        yield Fix(CODE, function.module, node.lineno, (change,), function)


COLLECTIONS = Fixer(
    CODE,
    "yield of a list or a dict becomes await gen.multi",
    "It waits for all children and then raises the first error in their order, as the "
    "yield did; asyncio.gather raises the first error in time.",
    (
        Example(
            "A list and a dict",
            """\
from tornado import gen

@gen.coroutine
def main():
    yield [gen.sleep(0.01), gen.sleep(0.02)]
    return (yield {"a": gen.sleep(0.01)})
""",
            """\
from tornado import gen

async def main():
    await gen.multi([gen.sleep(0.01), gen.sleep(0.02)])
    return await gen.multi({"a": gen.sleep(0.01)})
""",
        ),
    ),
    find,
)
