"""``@gen.coroutine`` becomes ``async def`` if every call is awaited at once."""

from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.decisions import Conversion, decisions_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Program
from gencoro.porting.source.nodes import made_async, without_decorator

__all__ = ["COROUTINES"]

CODE = "GC201"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the conversions of coroutines, and why others are refused."""
    decisions = decisions_of(program)
    yield from decisions.refusals
    for conversion in decisions.conversions:
        is_coroutine = conversion.candidate.kind == "tornado.gen.coroutine"
        if is_coroutine and not conversion.starts_at_once:
            function = conversion.function
            change = Change(function.node, _changer(conversion))
            yield Fix(CODE, function.module, function.line, (change,), function)


def _changer(conversion: Conversion) -> Any:
    place = next(
        i
        for i, (decorator, _) in enumerate(conversion.function.decorators())
        if decorator is conversion.candidate.decorator
    )

    def change(node: cst.FunctionDef) -> cst.FunctionDef:
        return made_async(without_decorator(node, place))

    return change


COROUTINES = Fixer(
    CODE,
    "gen.coroutine becomes async def",
    "A native coroutine needs no decorator, and debuggers, type checkers and asyncio's "
    "own functions know it.",
    (
        Example(
            "A coroutine that is awaited where it is called",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

@gen.coroutine
def main():
    return (yield double(21))
""",
            """\
from tornado import gen

async def double(number):
    await gen.sleep(0.01)
    return 2 * number

async def main():
    return await double(21)
""",
        ),
        Example(
            "A coroutine inside another function",
            """\
from tornado import gen

def main(loop):
    @gen.coroutine
    def nap():
        yield gen.sleep(0.01)
    loop.run_sync(nap)
""",
            """\
from tornado import gen

def main(loop):
    async def nap():
        await gen.sleep(0.01)
    loop.run_sync(nap)
""",
        ),
        Example(
            "A decorator with the same name from elsewhere",
            """\
from mylib import gen

@gen.coroutine
def main():
    yield gen.sleep(0.01)
""",
        ),
        Example(
            "A decorator below, which receives the generator function",
            """\
from tornado import gen
from mylib import traced

@gen.coroutine
@traced
def main():
    yield gen.sleep(0.01)
""",
            refused="GC903",
        ),
    ),
    find,
)
