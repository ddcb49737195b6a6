"""gencoro.testing: gen_test and its timeout, test cases and their loops."""

import asyncio
import contextlib
import functools
import logging
import os
import time
import traceback
import unittest
import unittest.mock

import pytest
import tornado.gen
import tornado.testing
from tornado.web import Application, RequestHandler

from gencoro import gen, testing
from gencoro.errors import DeadlockError
from gencoro.ioloop import IOLoop
from gencoro.legacy.engine import engine
from gencoro.testing import gen_test, new_io_loop, run_test
from gencoro.virtual_clock import VirtualClock
from tests.helpers.gencoro.outcomes import Failure


@pytest.fixture
def quick_end(monkeypatch):
    """Let a test that refuses to end be given up at once."""
    monkeypatch.setattr("gencoro.testrun.CLEAN_UP_S", 0.2)


@gen.coroutine
def stuck(steps):
    try:
        yield gen.sleep(60)
    finally:
        steps.append("cleaned up")


def in_virtual_time():
    return new_io_loop(VirtualClock().new_event_loop())


def functions_of(error):
    """List the functions of a traceback, from this module's on."""
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    return names[names.index("test") :]


# A test that ends.


@pytest.mark.parametrize(
    "decorate", [lambda body: body, gen.coroutine, tornado.gen.coroutine]
)
def test_generator_function_runs_to_its_end(decorate):
    steps = []

    @gen_test
    @decorate
    def test(value, *, name):
        steps.append(value)
        yield gen.sleep(0.001)
        steps.append(name)

    test("value", name="name")

    assert steps == ["value", "name"]


async def returns_natively():
    await asyncio.sleep(0.001)
    return "returned"


@functools.wraps(returns_natively)
def wrapped():
    return returns_natively()


@functools.wraps(returns_natively)
def run_by_its_wrapper():
    return "returned"


@pytest.mark.parametrize(
    "body", [returns_natively, lambda: "returned", wrapped, run_by_its_wrapper]
)
def test_async_def_and_plain_function_run_to_their_end(body):
    assert gen_test(timeout=5)(body)() == "returned"


def test_each_run_has_a_new_loop_which_is_closed_after_it():
    loops = []

    @gen_test
    def test():
        yield gen.moment
        loops.append(IOLoop.current())

    test()
    test()

    assert loops[0] is not loops[1]
    assert all(loop.asyncio_loop.is_closed() for loop in loops)
    with pytest.raises(RuntimeError):
        asyncio.get_event_loop()


def test_function_keeps_its_name_and_is_no_coroutine_any_more():
    ran = []

    @gen_test
    @gen.coroutine
    def test_something():
        """Something."""
        yield gen.moment
        ran.append(os.environ["PATCHED"])

    assert test_something.__name__ == "test_something"
    assert test_something.__doc__ == "Something."
    assert not gen.is_coroutine_function(test_something)
    # It would only call an async function, and return a native coroutine.
    unittest.mock.patch.dict("os.environ", PATCHED="yes")(test_something)()
    assert ran == ["yes"]


# The time-out.


@gen.coroutine
def load(steps):
    yield from between(steps)


def between(steps):
    yield stuck(steps)


async def native(steps):
    await stuck(steps)


async def stuck_natively(steps):
    try:
        await asyncio.Future()
    finally:
        steps.append("cleaned up")


@tornado.gen.coroutine
def of_tornado(_steps):
    yield gen.sleep(60)


def beside_others(steps):
    return [gen.sleep(0.001), stuck(steps), stuck(steps), gen.sleep(60)]


@gen.coroutine
def busy(_steps):
    while True:
        yield gen.moment


def in_a_circle(_steps):
    futures = []

    @gen.coroutine
    def wait_for_other(place):
        yield gen.moment
        yield futures[place]

    futures += [wait_for_other(1), wait_for_other(0)]
    return futures[0]


@pytest.mark.parametrize(
    ("wait_for", "functions", "cleaned_up"),
    [
        (lambda steps: {"load": load(steps)}, ["load", "between", "stuck"], 1),
        (beside_others, ["stuck"], 2),
        (native, ["native", "stuck"], 1),
        (lambda steps: [stuck_natively(steps)], ["stuck_natively"], 1),
        (of_tornado, [], 0),
        (busy, ["busy"], 0),
        (in_a_circle, ["wait_for_other"] * 2, 0),
    ],
    ids=[
        "dict",
        "list",
        "behind a native one",
        "native",
        "Tornado's",
        "busy",
        "circle",
    ],
)
def test_time_out_is_raised_where_the_test_is_stuck(wait_for, functions, cleaned_up):
    steps = []

    @gen_test(timeout=0.01)
    def test():
        yield wait_for(steps)

    with pytest.raises(TimeoutError, match="timed out after 0.01 seconds") as caught:
        test()

    last = functions_of(caught.value)[-1 - len(functions) :]
    assert last == ["test", *functions]
    assert steps == ["cleaned up"] * cleaned_up
    [note] = caught.value.__notes__
    assert note.startswith("Who waited for whom:\n")
    assert "test() at" in note


def test_test_of_tornado_times_out_and_is_not_said_to_go_on():
    @gen_test(timeout=0.01)
    @tornado.gen.coroutine
    def test():
        yield gen.sleep(60)

    with pytest.raises(TimeoutError) as caught:
        test()

    assert "The test caught this and went on." not in caught.value.__notes__


@pytest.mark.parametrize("waits_again", [False, True])
def test_test_that_goes_on_after_the_time_out_fails_all_the_same(
    quick_end, waits_again
):
    steps = []

    @gen_test(timeout=0.01)
    def test():
        with contextlib.suppress(TimeoutError):
            yield stuck(steps)
        if waits_again:
            yield stuck(steps)

    with pytest.raises(TimeoutError) as caught:
        test()

    assert steps == ["cleaned up"] * (1 + waits_again)
    assert caught.value.__notes__[-1] == "The test caught this and went on."
    assert functions_of(caught.value)[-1] == "stuck"


@pytest.mark.parametrize("body", ["generator", "native"])
def test_test_that_refuses_to_be_cancelled_is_given_up(quick_end, body):
    gates = []

    def refuse():
        for _ in range(3):
            with contextlib.suppress(TimeoutError, asyncio.CancelledError):
                gates.append(asyncio.Future())
                yield gates[-1]

    async def refuse_natively():
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                gates.append(asyncio.Future())
                await gates[-1]

    test = gen_test(refuse if body == "generator" else refuse_natively, timeout=0.01)
    began_at = time.monotonic()

    with pytest.raises(TimeoutError):
        test()

    assert time.monotonic() - began_at < 60


def test_error_of_cleaning_up_is_raised_and_names_the_time_out():
    @gen_test(timeout=0.01)
    def test():
        try:
            yield gen.sleep(60)
        finally:
            raise Failure("while cleaning up")

    with pytest.raises(Failure, match="while cleaning up") as caught:
        test()

    assert "timed out after" in caught.value.__notes__[0]
    assert isinstance(caught.value.__context__, TimeoutError)


@pytest.mark.parametrize("timeout", [0, 5])
def test_time_that_is_not_over_stops_nothing(timeout):
    @gen_test(timeout=timeout)
    def test():
        yield gen.sleep(0.01)

    test()


# Virtual time.


def test_endless_test_in_virtual_time_times_out():
    @gen.coroutine
    def body():
        while True:
            yield gen.sleep(3600)

    with in_virtual_time() as io_loop, pytest.raises(TimeoutError) as caught:
        run_test(io_loop, body, timeout=0.05)

    assert "virtual time is " in caught.value.__notes__[0]


def test_deadlock_is_raised_where_the_test_is_stuck():
    steps = []

    @gen.coroutine
    def wait_for_ever():
        try:
            yield asyncio.Future()
        finally:
            yield gen.sleep(60)
            steps.append("cleaned up")

    @gen.coroutine
    def test():
        yield [gen.sleep(60), wait_for_ever()]

    with (
        in_virtual_time() as io_loop,
        pytest.raises(DeadlockError, match="wait_for_ever") as caught,
    ):
        run_test(io_loop, test)

    assert functions_of(caught.value)[-2:] == ["test", "wait_for_ever"]
    assert steps == ["cleaned up"]


def test_second_deadlock_does_not_hide_the_first():
    @gen.coroutine
    def body():
        try:
            yield gen.moment
            yield asyncio.Future()
        finally:
            yield asyncio.Future()

    with in_virtual_time() as io_loop, pytest.raises(DeadlockError) as caught:
        run_test(io_loop, body)

    assert caught.value.__notes__ == ["The test caught this and went on."]


def test_deadlock_of_another_loop_is_the_tests_own_affair():
    @gen_test
    def test():
        yield gen.moment
        raise DeadlockError("of another loop")

    with pytest.raises(DeadlockError, match="of another loop"):
        test()


# Wrong use.


def test_number_in_place_of_the_function_is_refused():
    with pytest.raises(TypeError, match=r"write @gen_test\(timeout=5\)"):
        gen_test(5)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "5"])
def test_time_out_that_is_none_is_refused(timeout):
    with pytest.raises(ValueError, match="or 0 for no limit"):
        gen_test(timeout=timeout)


def test_engine_as_a_test_is_refused():
    @gen_test
    @engine
    def test():
        yield gen.moment
        raise AssertionError("nobody would hear of this")

    with pytest.raises(
        TypeError, match=r"with @gen\.coroutine instead of @gen\.engine"
    ):
        test()


# Test cases.


class Hello(RequestHandler):
    @gen.coroutine
    def get(self):
        yield gen.moment
        self.write("hello")


class Plain:
    """What tests of any kind of test case do."""

    __test__ = False

    @gen_test
    def test_loop(self):
        yield gen.moment
        loop = tornado.ioloop.IOLoop.current()
        assert loop is getattr(self, "io_loop", loop)
        assert IOLoop.current() is loop

    @gen_test(timeout=0.01)
    def test_stuck(self):
        yield gen.sleep(60)


class HTTPCase(Plain, testing.AsyncHTTPTestCase):
    def get_app(self):
        return Application([("/", Hello)])

    @gen_test
    def test_server(self):
        response = yield self.http_client.fetch(self.get_url("/"))
        assert response.body == b"hello"

    @tornado.testing.gen_test
    def test_gen_test_of_tornado(self):
        response = yield self.http_client.fetch(self.get_url("/"))
        assert response.body == b"hello"

    def test_fetch(self):
        assert type(self.io_loop) is IOLoop
        assert self.fetch("/").body == b"hello"


class HTTPSCase(HTTPCase, testing.AsyncHTTPSTestCase):
    pass


class TornadoCase(Plain, tornado.testing.AsyncTestCase):
    pass


class PlainCase(Plain, unittest.TestCase):
    pass


class IsolatedCase(Plain, unittest.IsolatedAsyncioTestCase):
    @gen_test
    @gen.coroutine
    def test_coroutine(self):
        yield gen.moment


@pytest.mark.parametrize(
    "test",
    [
        HTTPCase("test_loop"),
        HTTPCase("test_server"),
        HTTPCase("test_gen_test_of_tornado"),
        HTTPCase("test_fetch"),
        HTTPSCase("test_server"),
        TornadoCase("test_loop"),
        PlainCase("test_loop"),
        IsolatedCase("test_loop"),
        IsolatedCase("test_coroutine"),
    ],
    ids=lambda test: f"{type(test).__name__}.{test._testMethodName}",
)
def test_method_of_a_test_case_passes(test):
    result = test.run()

    assert result.testsRun == 1
    assert result.errors == result.failures == []


@pytest.mark.parametrize("case", [HTTPCase, TornadoCase, PlainCase])
def test_method_of_a_test_case_that_is_stuck_times_out(case):
    result = case("test_stuck").run()

    [(_, text)] = result.errors
    assert "yield gen.sleep(60)" in text
    assert "TimeoutError: The test timed out after 0.01 seconds" in text


# What a test leaves behind.


def test_what_a_test_has_left_running_ends_with_its_loop(caplog):
    caplog.set_level(logging.DEBUG)
    steps = []

    async def native():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            steps.append("native")

    @gen_test
    def test():
        tasks.append(asyncio.ensure_future(native()))
        stuck(steps)
        yield gen.moment

    tasks = []
    test()

    assert sorted(steps) == ["cleaned up", "native"]
    assert tasks[0].cancelled()
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_test_may_close_its_loop():
    with new_io_loop(asyncio.new_event_loop()) as io_loop:
        io_loop.close()


# Names.
