"""``gen.maybe_future()`` of a coroutine goes."""

import pytest

from tests.helpers.porting.converting import HEAD, converted, reasons

SOURCE = (
    HEAD
    + """\
def perhaps(x):
    if x:
        return f()

@gen.coroutine
def f(): yield None

@gen.coroutine
def main(unknown):
    yield {0}
"""
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("gen.maybe_future(f())", "f()"),
        ("gen.maybe_future(\n        f())", "(\n        f())"),
        ("gen.maybe_future(perhaps(1))", "gen.convert_yielded(perhaps(1))"),
        ("gen.maybe_future(unknown)", "gen.maybe_future(unknown)"),
    ],
)
def test_call(before, after):
    assert converted(SOURCE.format(before)).endswith(f"    await {after}\n")


def test_it_goes_in_a_function_that_stays_too():
    source = SOURCE.format("gen.maybe_future(f())") + "\nwaiting = main(1)\n"

    assert reasons(source) == {"main": "passed-on"} or reasons(source) == {
        "main": "kept"
    }
    assert "    yield f()\n" in converted(source)


HANDLERS = """\
import functools
from tornado import gen, web

def json_errors(method):
    @functools.wraps(method)
    @gen.coroutine
    def wrapper(self, *args):
        yield gen.maybe_future(method(self, *args))
    return wrapper

class Page(web.RequestHandler):
    @json_errors
    @gen.coroutine
    def get(self): yield None

    @web.authenticated
    @json_errors
    def post(self): self.finish()
"""


def test_value_is_what_a_decorator_gets():
    text = converted(HANDLERS)

    assert "        await gen.convert_yielded(method(self, *args))\n" in text
    assert "    async def get(self): await asyncio.sleep(0)\n" in text
