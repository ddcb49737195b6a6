"""Results that are waited for only if they are Futures."""

import pytest

from tests.helpers.porting.converting import reasons

SOURCE = """\
from asyncio import isfuture
from tornado import gen
from tornado.concurrent import Future, is_future

class Page(object):
    @gen.coroutine
    def read(self): yield None

@gen.coroutine
def serve(page, names):
    {0}
"""


@pytest.mark.parametrize(
    "body",
    [
        "x = page.read()\n    if is_future(x): x = yield x",
        "x = page.read()\n    while isinstance(x, Future): x = yield x",
        "x = page.read()\n    if type(x) is Future: x = yield x",
        "x = page.read()\n    if isfuture(x): x = yield x",
        "x = page.read()\n    if hasattr(x, 'add_done_callback'): x = yield x",
        "x = yield gen.maybe_future(page.read())",
    ],
)
def test_method_of_an_unknown_object_stays(body):
    assert reasons(SOURCE.format(body)) == {"Page.read": "gated"}


def test_method_that_a_computed_name_may_find_stays():
    body = "x = getattr(page, names)\n    y = x()\n    if is_future(y): y = yield y"

    assert reasons(SOURCE.format(body)) == {"Page.read": "gated"}


TABLE = """\
from tornado import gen

class Kernel(object):
    def __init__(self):
        self.handlers = {}
        for name in ["complete", "inspect"]:
            self.handlers[name] = getattr(self, name)

    @gen.coroutine
    def complete(self, message): yield None

    @gen.coroutine
    def inspect(self, message): yield None

    @gen.coroutine
    def other(self, message): yield self.inspect(message)

    @gen.coroutine
    def dispatch(self, message):
        handler = self.handlers.get(message)
        yield gen.maybe_future(handler(message))
        yield self.other(message)
"""


def test_methods_in_a_table_of_names_stay():
    assert reasons(TABLE) == {"Kernel.complete": "gated", "Kernel.inspect": "gated"}


def test_maybe_future_of_a_coroutine_goes():
    source = """\
from tornado import gen

@gen.coroutine
def f(): yield None

@gen.coroutine
def main(): yield gen.maybe_future(f())
"""

    assert reasons(source) == {}
