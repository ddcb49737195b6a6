"""What counts as a coroutine."""

import pytest

from tests.helpers.porting.converting import convert_text, reasons

BODY = "def main():\n    yield None\n"


@pytest.mark.parametrize(
    ("head", "decorator"),
    [
        ("from tornado import gen", "gen.coroutine"),
        ("from tornado.gen import coroutine as co", "co"),
        ("import tornado.gen", "tornado.gen.coroutine"),
        ("import tornado.web", "tornado.web.gen.coroutine"),
        ("from gencoro import gen", "gen.coroutine"),
        ("from gencoro import coroutine", "coroutine"),
        ("from zmq.eventloop.minitornado import gen", "gen.coroutine"),
        ("import pytest\ngen = pytest.importorskip('tornado.gen')", "gen.coroutine"),
        ("from tornado import gen\nco = gen.coroutine", "co"),
        ("from tornado import gen\ndef co(f): return gen.coroutine(f)", "co"),
        (
            (
                "import functools\nfrom tornado import gen\n"
                "def co(f):\n    '''Doc.'''\n    return functools.wraps(f)(gen.coroutine(f))"
            ),
            "co",
        ),
    ],
)
def test_decorator_of_tornado(head, decorator):
    found = convert_text(f"{head}\n\n@{decorator}\n{BODY}")

    assert [d.function.name for d in found.converted] == ["main"]


@pytest.mark.parametrize(
    ("head", "decorator", "reason"),
    [
        (
            "from tornado import gen\ndef co(f):\n    print(f)\n    return gen.coroutine(f)",
            "co",
            "wrapper",
        ),
        ("from mylib import coroutine", "coroutine", "wrapper"),
        ("from mylib import gen", "gen.coroutine", "wrapper"),
        (
            (
                "try:\n    from tornado.gen import coroutine\n"
                "except ImportError:\n    def coroutine(f): return f"
            ),
            "coroutine",
            "uncertain-decorator",
        ),
    ],
)
def test_other_wrapper_is_named(head, decorator, reason):
    assert reasons(f"{head}\n\n@{decorator}\n{BODY}") == {"main": reason}


def test_wrapper_that_is_made_by_another_function_is_named():
    source = """\
from tornado import gen, ioloop

def gen_test(timeout=10):
    def decorate(function):
        def run():
            ioloop.IOLoop.current().run_sync(gen.coroutine(function), timeout)
        return run
    return decorate

@gen_test(timeout=5)
def test_it():
    yield None
"""

    assert reasons(source) == {"test_it": "wrapper"}


@pytest.mark.parametrize("decorator", ["asyncio.coroutine", "types.coroutine"])
def test_decorators_of_python_are_others(decorator):
    found = convert_text(f"import asyncio, types\n\n@{decorator}\n{BODY}")

    assert found.decisions == []


def test_engines_are_counted_and_left():
    found = convert_text(f"from tornado import gen\n\n@gen.engine\n{BODY}")

    assert (found.decisions, found.engines, found.sources) == ([], 1, {})
