"""``yield from`` becomes ``await``, and the generator it delegates to an ``async def``."""

import ast
from collections.abc import Iterator

from gencoro.porting.coroutines.decisions import decisions_of
from gencoro.porting.coroutines.yields import change_yield
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Program
from gencoro.porting.source.nodes import made_async

__all__ = ["DELEGATION"]

CODE = "GC209"


def find(program: Program) -> Iterator[Fix]:
    """Yield the changes of delegations, and of the generators."""
    for conversion in decisions_of(program).conversions:
        function = conversion.function
        if conversion.candidate.decorator is None:
            change = Change(function.node, made_async)
            yield Fix(CODE, function.module, function.line, (change,), function)
        for node in function.own:
            if isinstance(node, ast.YieldFrom):
                change = change_yield(function.module, node, lambda value: value)
                yield Fix(CODE, function.module, node.lineno, (change,), function)


DELEGATION = Fixer(
    CODE,
    "yield from becomes await",
    "A generator that only coroutines use, with yield from, is a part of them; it becomes "
    "an async def together with them.",
    (
        Example(
            "A generator that is a part of a coroutine",
            """\
from tornado import gen

def two_naps():
    yield gen.sleep(0.01)
    yield gen.sleep(0.02)
    return "awake"

@gen.coroutine
def main():
    return (yield from two_naps())
""",
            """\
from tornado import gen

async def two_naps():
    await gen.sleep(0.01)
    await gen.sleep(0.02)
    return "awake"

async def main():
    return await two_naps()
""",
        ),
        Example(
            "A generator that has other users",
            """\
from tornado import gen

def naps():
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    yield from naps()

waiting = list(naps())
""",
            refused="GC911",
        ),
    ),
    find,
)
