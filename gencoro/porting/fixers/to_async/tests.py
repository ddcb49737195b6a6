"""``@gen_test`` on a generator becomes ``@gen_test`` on an ``async def``."""

from collections.abc import Iterator

from gencoro.porting.coroutines.candidates import GEN_TEST
from gencoro.porting.coroutines.decisions import decisions_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Program
from gencoro.porting.source.nodes import made_async

__all__ = ["TESTS"]

CODE = "GC203"


def find(program: Program) -> Iterator[Fix]:
    """Yield the conversions of tests."""
    for conversion in decisions_of(program).conversions:
        if conversion.candidate.kind == GEN_TEST:
            function = conversion.function
            change = Change(function.node, made_async)
            yield Fix(CODE, function.module, function.line, (change,), function)


TESTS = Fixer(
    CODE,
    "gen_test decorates an async def",
    "The decorator accepts both.",
    (
        Example(
            "A test",
            """\
from tornado import gen, testing

class SleepTest(testing.AsyncTestCase):
    @testing.gen_test
    def test_sleep(self):
        yield gen.sleep(0.01)
""",
            """\
from tornado import gen, testing

class SleepTest(testing.AsyncTestCase):
    @testing.gen_test
    async def test_sleep(self):
        await gen.sleep(0.01)
""",
        ),
    ),
    find,
)
