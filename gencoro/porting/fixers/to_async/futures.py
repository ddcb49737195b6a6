"""``yield`` of an expression known to be a Future becomes ``await``."""

from collections.abc import Iterator

from gencoro.porting.coroutines.awaitables import Kind
from gencoro.porting.coroutines.yields import change_yield, yields_of_kind
from gencoro.porting.fixer import Example, Fix, Fixer
from gencoro.porting.program import Program

__all__ = ["FUTURES"]

CODE = "GC204"


def find(program: Program) -> Iterator[Fix]:
    """Yield the changes of yielded Futures."""
    for function, node in yields_of_kind(program, Kind.FUTURE):
        change = change_yield(function.module, node, lambda value: value)
        yield Fix(CODE, function.module, node.lineno, (change,), function)


FUTURES = Fixer(
    CODE,
    "yield of a Future becomes await",
    "Only what certainly can be awaited: coroutines of the program, functions of Tornado "
    "that return Futures, and variables that have nothing else.",
    (
        Example(
            "Calls of Tornado, and parentheses",
            """\
from tornado import gen
from tornado.httpclient import AsyncHTTPClient

@gen.coroutine
def length(url):
    client = AsyncHTTPClient()
    response = yield client.fetch(url)
    again = (yield client.fetch(url)).body
    return len(response.body) + len(again)
""",
            """\
from tornado.httpclient import AsyncHTTPClient

async def length(url):
    client = AsyncHTTPClient()
    response = await client.fetch(url)
    again = (await client.fetch(url)).body
    return len(response.body) + len(again)
""",
        ),
    ),
    find,
)
