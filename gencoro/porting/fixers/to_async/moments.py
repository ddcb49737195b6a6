"""``yield None`` and ``yield gen.moment`` become ``await asyncio.sleep(0)``."""

from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.awaitables import Kind
from gencoro.porting.coroutines.yields import change_yield, yields_of_kind
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.program import Program
from gencoro.porting.reasons import refusal
from gencoro.porting.source.imports import reference_to

__all__ = ["MOMENTS"]

CODE = "GC206"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of yielded moments."""
    for function, node in yields_of_kind(program, Kind.MOMENT):
        asyncio = reference_to("asyncio", function)
        if not asyncio.text:
            yield refusal(function, "name-taken", node, "asyncio")
            continue

        def sleep(_value: Any) -> Any:
            return cst.parse_expression("asyncio.sleep(0)")

        change = change_yield(function.module, node, sleep, asyncio.imports)
        yield Fix(CODE, function.module, node.lineno, (change,), function)


MOMENTS = Fixer(
    CODE,
    "yield None and yield gen.moment become await asyncio.sleep(0)",
    "Each lets the loop run for one turn.  None cannot be awaited, and Tornado's moment "
    "cannot either.",
    (
        Example(
            "A turn of the loop",
            """\
from tornado import gen

@gen.coroutine
def main():
    yield gen.moment
    yield
""",
            """\
import asyncio

async def main():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
""",
        ),
    ),
    find,
)
