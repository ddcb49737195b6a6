"""Each legacy use warns once, at the caller's line, with the replacement."""

import asyncio
import datetime
import re
import warnings

import pytest

from gencoro import concurrent as concurrent_facade
from gencoro import gen, legacy_names, stack_context
from gencoro.concurrent import dummy_executor, run_on_executor
from gencoro.ioloop import IOLoop, PeriodicCallback

# What to write in the place of each name.
NAMES = {
    f"{facade.removeprefix('gencoro.')}.{name}": legacy.instead
    for facade, names in legacy_names.NAMES.items()
    for name, legacy in names.items()
}

FACADES = {
    "concurrent": concurrent_facade,
    "gen": gen,
    "stack_context": stack_context,
}


def _nothing(*_args):
    pass


@gen.coroutine
def _work():
    return 42


class Worker:
    executor = dummy_executor

    @run_on_executor
    def work(self):
        return 42

    @run_on_executor
    def declares(self, callback=None):
        return callback


# Uses of arguments and methods, by what the warning calls them.
USES = {
    "the argument callback=": [
        lambda _: _work(callback=_nothing),
        lambda _: _work(callback=None),
        lambda _: Worker().work(callback=_nothing),
    ],
    "the argument io_loop= of run_on_executor": [
        lambda _: run_on_executor(io_loop="loop"),
        lambda _: run_on_executor(executor="pool", io_loop="loop"),
    ],
    "the argument io_loop= of with_timeout": [
        lambda loop: gen.with_timeout(SOON, _work(), io_loop=loop),
        lambda loop: gen.with_timeout(SOON, _work(), loop),
        lambda loop: gen.with_timeout(SOON, _work(), loop, KeyError),
        lambda loop: gen.with_timeout(SOON, _work(), loop, quiet_exceptions=KeyError),
    ],
    "the argument io_loop= of PeriodicCallback": [
        lambda loop: PeriodicCallback(_nothing, 100, loop),
        lambda loop: PeriodicCallback(_nothing, 100, io_loop=loop),
        lambda loop: PeriodicCallback(_nothing, 100, 0.1, loop),
    ],
    "IOLoop.instance()": [
        lambda _: IOLoop.instance(),
        lambda loop: loop.instance(),
    ],
    "IOLoop.initialized()": [lambda _: IOLoop.initialized()],
    "IOLoop.install()": [lambda loop: loop.install()],
    "IOLoop.clear_instance()": [
        lambda _: IOLoop.clear_instance(),
        lambda loop: loop.clear_instance(),
    ],
    "add_callback_from_signal": [
        lambda loop: loop.add_callback_from_signal(_nothing),
    ],
}

SOON = datetime.timedelta(seconds=1)

# Uses that look like those and are of today.
MODERN = [
    lambda _: gen.Runner,
    lambda _: gen.Multi([]),
    lambda _: gen.IOLoop,
    lambda _: gen._null_future,
    lambda _: gen.LeakedCallbackError,
    lambda _: concurrent_facade.ReturnValueIgnoredError,
    lambda _: run_on_executor(executor="pool"),
    lambda _: run_on_executor(_nothing),
    lambda _: Worker().work(),
    lambda _: gen.coroutine(_nothing)(callback_time=1),
    lambda _: gen.coroutine(lambda callback: callback)(callback=_nothing),
    lambda _: Worker().declares(callback=_nothing),
    lambda _: gen.with_timeout(SOON, _work()),
    lambda _: gen.with_timeout(SOON, _work(), None),
    lambda _: gen.with_timeout(SOON, _work(), KeyError),
    lambda _: gen.with_timeout(SOON, _work(), (KeyError, ValueError)),
    lambda _: PeriodicCallback(_nothing, 100),
    lambda _: PeriodicCallback(_nothing, 100, 0.1),
    lambda _: PeriodicCallback(_nothing, SOON, jitter=0.1),
    lambda _: IOLoop.current(),
    lambda loop: loop.add_callback(_nothing),
    lambda loop: loop.spawn_callback(_nothing),
    lambda loop: loop.add_future(_work(), _nothing),
]


@pytest.fixture(autouse=True)
def no_instance():
    """Have no loop of the program, and leave none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        IOLoop.clear_instance()
        yield
        IOLoop.clear_instance()


@pytest.fixture
def within(loop):
    """Call a function with the loop while that runs; return the warnings."""

    def within(function):
        @gen.coroutine
        def main():
            result = function(loop)
            yield gen.moment
            return result

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            loop.run_sync(main)
        return caught

    return within


def _line_of(function):
    return __file__, function.__code__.co_firstlineno


def _place_of(warning):
    return warning.filename, warning.lineno


def _each(uses):
    return [
        pytest.param(used, use, id=f"{used.removeprefix('the argument ')}-{number}")
        for used, them in uses.items()
        for number, use in enumerate(them)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_name_warns_at_its_line_and_names_the_replacement(name):
    facade, _, attribute = name.partition(".")
    [use] = [lambda: getattr(FACADES[facade], attribute)]

    with pytest.warns(DeprecationWarning) as caught:
        use()

    [warning] = caught
    assert _place_of(warning) == _line_of(use)
    assert str(warning.message) == f"{name} is legacy: {NAMES[name]}"


@pytest.mark.parametrize(("used", "use"), _each(USES))
def test_use_warns_at_its_line_and_says_what_to_write(within, used, use):
    [warning] = within(use)

    assert warning.category is DeprecationWarning
    assert _place_of(warning) == _line_of(use)
    assert re.match(rf"{re.escape(used)} is legacy: \w+ \w+", str(warning.message))


@pytest.mark.parametrize("use", MODERN)
def test_what_is_of_today_does_not_warn(within, use):
    assert within(use) == []


def test_import_warns_at_the_line_of_the_import():
    with pytest.warns(DeprecationWarning, match=r"gen\.Task is legacy") as caught:
        from gencoro.gen import Task  # the import

    [warning] = caught
    assert Task.__name__ == "Task"
    with open(__file__) as source:
        line = source.read().splitlines()[warning.lineno - 1]
    assert line.endswith("# the import")


def test_use_refused_as_an_error_leaves_the_coroutine_uncalled(loop):
    called = []

    @gen.coroutine
    def work():
        called.append("work")

    async def main():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DeprecationWarning):
                work(callback=_nothing)
        await asyncio.sleep(0)

    loop.run_sync(main)

    assert called == []
