"""Which uses wait at once, and which keep a coroutine."""

import textwrap

import pytest

from tests.helpers.porting.converting import convert_text, listed, reasons

HEAD = """\
import asyncio
import functools
from tornado import gen, ioloop, web
from tornado.ioloop import IOLoop, PeriodicCallback

@gen.coroutine
def f(x=None):
    yield gen.sleep(1)

class A(object):
    @gen.coroutine
    def load(self, x=None):
        yield gen.sleep(1)

loop = IOLoop.current()
"""

AT_ONCE = [
    "yield f()",
    "x = yield f()",
    "yield [f(), f()]",
    "yield {1: f()}",
    "yield [f() for x in y]",
    "yield {x: f() for x in y}",
    "yield [f()] + [f()]",
    "yield list(map(f, y))",
    "yield f() if y else None",
    "yield y or f()",
    "yield gen.multi([f()])",
    "yield gen.multi(f() for x in y)",
    "yield gen.with_timeout(1, f())",
    "yield asyncio.gather(f(), f())",
    "yield gen.convert_yielded(f())",
    "x = f(); yield x",
    "x = [f() for z in y]; yield x",
    "yield functools.partial(f, 1)()",
    "g = f; yield g()",
    "raise gen.Return((yield f()))",
    "yield A().load()",
    "a = A(); yield a.load()",
    "yield A.load(A())",
    "loop.run_sync(f)",
    "loop.run_sync(lambda: f(1))",
    "loop.run_sync(functools.partial(f, 1))",
    "loop.add_callback(f)",
    "loop.spawn_callback(f, 1)",
    "loop.call_later(1, f)",
    "y.io_loop.add_callback(A().load)",
    "PeriodicCallback(f, 100).start()",
    "print(f.__name__, f is None, callable(f))",
]

NOT = [
    ("f()", "dropped"),
    ("A().load()", "dropped"),
    ("x = f(); y(); yield x", "kept"),
    ("x = f(); z = f(); yield [x, z]", "kept"),
    ("x = f(); yield x; yield x", "kept"),
    ("y.x = f()", "kept"),
    ("x = [f()]; y(); yield x", "kept"),
    ("y.append(f())", "passed-on"),
    ("loop.add_future(f(), y)", "passed-on"),
    ("x = asyncio.ensure_future(f())", "kept"),
    ("yield asyncio.wait_for(f(), 1)", "passed-on"),
    ("f().add_done_callback(y)", "used"),
    ("x = f() is None", "used"),
    ("f(callback=y)", "callback"),
    ("y(f)", "passed-on"),
    ("y({1: f})", "passed-on"),
    ("x = {1: f}", "passed-on"),
    ("return f()", "returned-by-coroutine"),
    ("raise gen.Return(f())", "passed-on"),
    ("gen.coroutine(f)", "passed-on"),
    ("print(f.__wrapped__)", "used"),
    ("x = f()\n    if gen.is_future(x): x = yield x", "gated"),
    ("x = yield gen.maybe_future(y(f()))", "passed-on"),
]


def _main(body):
    return f"@gen.coroutine\ndef main(y):\n    {body}\n    yield None\n"


@pytest.mark.parametrize("body", AT_ONCE)
def test_use_that_waits_at_once(body):
    found = reasons(HEAD, _main(body))

    assert found == {}


@pytest.mark.parametrize(("body", "reason"), NOT)
def test_use_that_does_not_wait_keeps_it(body, reason):
    found = reasons(HEAD, _main(body))

    kept = {name: why for name, why in found.items() if name != "main"}
    assert list(kept.values()) == [reason]


THROUGH = {
    "a plain function": "def g(): return f()\n@gen.coroutine\ndef main(): yield g()\n",
    "a method": """\
class B(object):
    def g(self): return f()
    @gen.coroutine
    def main(self): yield self.g()
""",
    "a decorator": """\
def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper
@twice
@gen.coroutine
def g(): yield f()
@gen.coroutine
def main(): yield g()
""",
    "a decorator that is a coroutine": """\
def retry(count):
    def decorate(function):
        @functools.wraps(function)
        @gen.coroutine
        def wrapper(*args):
            for _ in range(count):
                yield function(*args)
        return wrapper
    return decorate
@retry(3)
@gen.coroutine
def g(): yield f()
@gen.coroutine
def main(): yield g()
""",
    "a parameter": """\
@gen.coroutine
def run(function): yield function()
@gen.coroutine
def main(): yield run(f)
""",
    "a yield from": """\
def steps():
    yield f()
@gen.coroutine
def main():
    yield from steps()
""",
}


@pytest.mark.parametrize("way", THROUGH)
def test_value_is_followed(way):
    found = reasons(HEAD, THROUGH[way])

    assert {name: why for name, why in found.items() if why != "yield-from"} == {}


DROPPED = {
    "a plain function": "def g(): return f()\ng()\n",
    "a lambda": "g = lambda: f()\ng()\n",
    "a factory": "def make():\n    return f\nmake()()\n",
    "an alias": "g = f\ng()\n",
    "an attribute": "class B(object):\n    g = f\nB().g()\n",
    "a decorator": """\
def logged(function):
    def wrapper():
        function()
    return wrapper
@logged
@gen.coroutine
def f(): yield None
""",
    "a partial": "g = functools.partial(f, 1)\ng()\n",
}


@pytest.mark.parametrize("way", DROPPED)
def test_value_is_followed_to_where_it_is_dropped(way):
    assert reasons(HEAD, DROPPED[way])["f"] == "dropped"


def test_function_of_another_module_is_found():
    found = reasons(HEAD, files={"other.py": "from m import f as g\ng()\n"})

    assert found == {"f": "dropped"}


def test_value_that_leaves_a_with_block_first_stays():
    found = reasons(HEAD, "def g(y):\n    with y:\n        return f()\n")

    assert found == {"f": "returned-in-block"}


def test_what_a_decorator_returns_replaces_only_what_it_got():
    found = reasons(
        HEAD,
        """\
        def documented(text):
            def decorate(function):
                function.__doc__ = text
                return function
            return decorate

        @documented("x")
        def plain(): pass

        @documented("y")
        @gen.coroutine
        def g(): yield f()

        plain()
        """,
    )

    assert found == {}


CALLS = """\
from tornado import gen

class Cart(object):
    @gen.coroutine
    def total(self): yield None

    @gen.coroutine
    def close(self): yield None

def use(cart):
    {0}
"""


@pytest.mark.parametrize(
    ("use", "kept", "places"),
    [
        ("cart.total()", {"Cart.total": "dropped"}, []),
        ("cart.close()", {}, ["unresolved-use:11"]),
        ("cart.close(1)", {}, []),  # it does not accept that
        ("x = cart.close().name", {}, []),  # a Future has no name
        ("return cart.close()", {}, []),
        ("cart = {}; cart.close()", {}, ["unresolved-use:11"]),
        ("import io; cart = io.StringIO(); cart.close()", {}, []),
    ],
)
def test_method_of_an_unknown_object(use, kept, places):
    source = CALLS.format(use)

    assert reasons(source) == kept
    assert [p for p in listed(source) if p.startswith("unresolved-use")] == places


def test_strict_keeps_what_would_be_listed():
    source = CALLS.format("cart.close()")

    assert reasons(source, strict=True) == {"Cart.close": "unresolved-use"}


def test_place_is_that_of_the_use():
    found = convert_text(HEAD, "\n\nf()\n")

    [decision] = found.left
    line = textwrap.dedent(HEAD).count("\n") + 3
    assert (decision.stays[0].file, decision.stays[0].line) == ("m.py", line)


def test_functions_that_pass_each_other_on_end():
    source = """\
@gen.coroutine
def even(function, n): yield odd(function, n - 1)
@gen.coroutine
def odd(function, n): yield even(functools.partial(function, n), n)
@gen.coroutine
def main(): yield even(f, 4)
"""

    assert reasons(HEAD, source) == {}
