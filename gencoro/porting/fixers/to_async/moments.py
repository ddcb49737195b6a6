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
from gencoro.porting.source.nodes import without_parentheses

__all__ = ["MOMENTS"]

CODE = "GC206"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of yielded moments."""
    for function, node in yields_of_kind(program, Kind.MOMENT):
        asyncio = reference_to("asyncio", function)
        if not asyncio.text:
            yield refusal(function, "name-taken", node, "asyncio")
            continue

        change = change_yield(function.module, node, _sleep, asyncio.imports)
        yield Fix(CODE, function.module, node.lineno, (change,), function)


def _sleep(value: Any) -> Any:
    """Return the call of sleep in place of a value, whose comments stay."""
    call = cst.parse_expression("asyncio.sleep(0)")
    if value is None or without_parentheses(value) is not value:
        return call
    return call.with_changes(lpar=value.lpar, rpar=value.rpar)


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
