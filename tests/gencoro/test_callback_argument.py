"""gencoro.callback_argument: who gets callback=, and when it is called."""

import asyncio
import contextvars
import functools

import pytest

from gencoro import gen
from gencoro.callback_argument import is_for_caller
from gencoro.concurrent import dummy_executor, run_on_executor

pytestmark = pytest.mark.filterwarnings("ignore:.* is legacy. :DeprecationWarning")


class Methods:
    def declares(self, callback):
        pass

    @classmethod
    def of_the_class(cls, callback=None):
        pass

    @staticmethod
    def static(callback):
        pass

    def does_not(self, url):
        pass

    def __call__(self, *, callback):
        pass


def _declares(url, callback=None):
    pass


def _takes_any(url, **options):
    pass


@functools.wraps(_declares)
def _wraps_one_that_declares(*args, **kwargs):
    pass


@pytest.mark.parametrize(
    "function",
    [
        _declares,
        _wraps_one_that_declares,
        Methods().declares,
        Methods.of_the_class,
        Methods.static,
        Methods(),
        functools.partial(_declares, "url"),
        functools.partial(_declares, callback=None),
        lambda *, callback: None,
        lambda callback, **options: None,
    ],
)
def test_function_that_declares_it_gets_it(function):
    assert not is_for_caller(function, {"callback": print})


@pytest.mark.parametrize(
    "function",
    [
        _takes_any,
        Methods().does_not,
        functools.partial(_takes_any, "url"),
        lambda: None,
        lambda *args: None,
        lambda callbacks: None,
        lambda callback, /: None,
        lambda *callback: None,
        lambda **callback: None,
        max,
        dict,
        iter,
    ],
)
def test_function_that_does_not_leaves_it_to_the_caller(function):
    assert is_for_caller(function, {"callback": print})


@pytest.mark.parametrize("kwargs", [{}, {"callbacks": print}, {"url": "callback"}])
def test_call_without_it_has_none_for_the_caller(kwargs):
    assert not is_for_caller(_takes_any, kwargs)


def test_callback_has_the_callers_context_variables(loop):
    variable = contextvars.ContextVar("variable")
    seen = []

    @gen.coroutine
    def work():
        variable.set("body")
        yield gen.moment

    @gen.coroutine
    def main():
        variable.set("caller")
        work(callback=lambda _: seen.append(variable.get()))
        for _ in range(4):
            yield gen.moment

    loop.run_sync(main)

    assert seen == ["caller"]


class Worker:
    executor = dummy_executor

    @run_on_executor
    def work(self, **options):
        return options

    @run_on_executor
    def declares(self, callback):
        return callback


def test_method_on_an_executor_takes_it_from_its_arguments(run):
    async def main():
        results = []
        worker = Worker()
        result = await worker.work(callback=results.append, timeout=5)
        await asyncio.sleep(0)
        return result, results, await worker.declares(callback=print)

    assert run(main) == ({"timeout": 5}, [{"timeout": 5}], print)
