"""What keeps a body as it is."""

import sys

import pytest

from tests.helpers.porting.converting import reasons

HEAD = """\
import contextvars, functools
from tornado import gen, stack_context, testing, web

request = contextvars.ContextVar("request")

def remember():
    request.set(1)

def numbers(): yield 1

class Made:
    pass

def forwarding(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def counting(function):
    @functools.wraps(function)
    def wrapper(*args):
        return list(function(*args))
    return wrapper

"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("yield from numbers()", "yield-from"),
        ("with stack_context.NullContext(): yield None", "stack-context"),
        ("request.set(1); yield None", "sets-context"),
        ("remember(); yield None", "sets-context"),
        ("request.get(); yield None", None),
        ("return numbers()", "returns-generator"),
        ("return x(1)", "returns-generator"),
        ("return str(x)", None),
        ("return Made(x)", None),
        ("return next(x)", "stop-iteration"),
        ("return next(x, None)", None),
        ("yield next(x)", None),  # it is an error in a generator, too
        ("raise StopIteration", "stop-iteration"),
    ],
)
def test_body(body, reason):
    found = reasons(HEAD, f"@gen.coroutine\ndef main(x):\n    {body}\n")

    assert found == ({"main": reason} if reason else {})


def test_decorator_of_generator_functions_keeps_what_runs_them():
    found = reasons(
        HEAD,
        """\
        def run(test):
            def wrapper():
                @gen.coroutine
                def main():
                    return test()
                IOLoop.current().run_sync(main)
            return wrapper
        """,
    )

    assert found == {"run.<locals>.wrapper.<locals>.main": "returns-generator"}


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="positions are right since 3.12"
)
def test_yield_in_an_f_string_keeps_a_function():
    found = reasons(
        HEAD, "@gen.coroutine\ndef main(x):\n    return f'{1!r} {(yield x)}'\n"
    )

    assert found in ({}, {"main": "in-f-string"})


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        ("forwarding", None),
        ("functools.wraps(print)", None),
        ("counting", "decorator-below"),
        ("unknown", "decorator-below"),
    ],
)
def test_decorator_below(decorator, reason):
    source = f"from other import unknown\n@gen.coroutine\n@{decorator}\ndef main(): yield None\n"

    assert reasons(HEAD, source) == ({"main": reason} if reason else {})


def test_decorators_of_handlers_may_be_on_both_sides():
    source = """\
class Page(web.RequestHandler):
    @gen.coroutine
    @web.authenticated
    def get(self): yield None

    @web.authenticated
    @web.addslash
    @gen.coroutine
    def post(self): yield None
"""

    assert reasons(HEAD, source) == {}


def test_coroutine_below_gen_test_stays():
    source = """\
class Test(testing.AsyncTestCase):
    @testing.gen_test
    @gen.coroutine
    def test(self): yield None
"""

    assert reasons(HEAD, source) == {"Test.test": "decorator-above"}
