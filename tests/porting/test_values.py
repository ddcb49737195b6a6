"""What a yield gets, and how an async def waits for it."""

import pytest

from gencoro.porting.values import Kind, wrapper_of
from tests.helpers.porting.converting import converted, listed, reasons

HEAD = """\
import functools
from concurrent.futures import Future as Slow, ThreadPoolExecutor
from tornado import gen, web
from tornado.concurrent import Future

@gen.coroutine
def f(): yield None

def futures(): return [f(), f()]

def threaded(func):
    @functools.wraps(func)
    def submit(*args): return pool.submit(func, *args)
    return submit

@threaded
def table(): return []

@unknown
def rows(): return []

def perhaps(x):
    if x:
        return f()

class Odd(object): pass

class Op(object):
    @gen.coroutine
    def __call__(self): yield None

class Page(web.RequestHandler):
    executor = ThreadPoolExecutor(2)
    waiting = None

    def begin(self):
        self.waiting = Future()

    def work(self):
        return self.executor.submit(print)

    @gen.coroutine
    def main(self, unknown):
        {0}
"""

VALUES = [
    ("yield f()", "await f()"),
    ("yield Future()", "await Future()"),
    ("yield table()", "await asyncio.wrap_future(table())"),
    ("yield rows()", "await rows()"),
    ("op = Op()\n        yield op()", "await op()"),
    ("yield futures()", "await gen.multi(futures())"),
    ("yield perhaps(1)", "await gen.convert_yielded(perhaps(1))"),
    ("x = []\n        yield x", "await gen.multi(x)"),
    ("x = [f()] * 2\n        yield x", "await gen.multi(x)"),
    (
        "yield self.executor.submit(f)",
        "await asyncio.wrap_future(self.executor.submit(f))",
    ),
    ("yield self.work()", "await asyncio.wrap_future(self.work())"),
    ("yield Slow()", "await asyncio.wrap_future(Slow())"),
    (
        "yield f() if unknown else None",
        "await gen.convert_yielded(f() if unknown else None)",
    ),
    ("yield Odd()", "await gen.convert_yielded(Odd())"),
    ("yield self.finish()", "await self.finish()"),
    ("yield self.write('')", "await gen.convert_yielded(self.write(''))"),
    ("yield self.waiting", "await self.waiting"),
    ("for x in [f(), None]: yield x", "await gen.convert_yielded(x)"),
    ("for x in [f(), f()]: yield x", "await x"),
    ("yield gen.Task(unknown)", "await gen.Task(unknown)"),
]


@pytest.mark.parametrize(("before", "after"), VALUES)
def test_value(before, after):
    text = converted(HEAD.format(before))

    assert text.endswith(f"{after}\n")


@pytest.mark.parametrize(
    ("value", "is_listed"),
    [
        ("f()", False),
        ("unknown", True),
        ("unknown.fetch()", True),
        ("self.waiting", True),
        ("[unknown]", False),
    ],
)
def test_unknown_value_is_listed(value, is_listed):
    places = listed(HEAD.format(f"yield {value}"))

    assert any(p.startswith("unresolved-value") for p in places) is is_listed


@pytest.mark.parametrize("value", ["gen.Wait('x')", "[gen.Callback('x')]"])
def test_yield_point_keeps_a_function(value):
    assert reasons(HEAD.format(f"yield {value}"))["Page.main"] == "yield-point"


def test_future_with_a_result_of_its_own_keeps_a_function():
    source = """\
class Loud(Future):
    def result(self): return 1

def make():
    return Loud()

@gen.coroutine
def main():
    yield make()
"""

    assert reasons(HEAD.format("yield f()"), source)["main"] == "own-result"


@pytest.mark.parametrize(
    ("kinds", "wrapper"),
    [
        ({Kind.AWAITABLE}, ""),
        ({Kind.UNKNOWN}, ""),
        ({Kind.COLLECTION}, "multi"),
        ({Kind.COLLECTION, Kind.UNKNOWN}, "convert_yielded"),
        ({Kind.CONCURRENT, Kind.AWAITABLE}, "wrap_future"),
        ({Kind.NONE, Kind.AWAITABLE}, "convert_yielded"),
    ],
)
def test_wrapper(kinds, wrapper):
    assert wrapper_of(frozenset(kinds)) == wrapper
