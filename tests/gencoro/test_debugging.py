"""gencoro.debugging: the reports of debug mode, and what turns it on."""

import asyncio
import gc
import os
import re
import subprocess
import sys
import textwrap

import pytest

from gencoro import debugging, gen
from gencoro.ioloop import IOLoop
from tests.helpers.gencoro.outcomes import Failure

SLOW_S = 0.15


class Clock:
    """Tells gencoro how long a step takes: as long as it says, on the busiest machine."""

    now_s = 0.0

    def perf_counter(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


clock = Clock()


@pytest.fixture
def debug_loop(monkeypatch):
    """Make an IOLoop in debug mode, to which a step of 0.15 s is slow."""
    monkeypatch.setattr(debugging, "time", clock)
    loop = IOLoop()
    loop.asyncio_loop.set_debug(True)
    loop.asyncio_loop.slow_callback_duration = SLOW_S
    yield loop
    loop.close()


@pytest.fixture
def messages(caplog):
    """Return a function that gives what gencoro has logged."""

    def messages():
        records = [r for r in caplog.records if r.name == "tornado.application"]
        assert all(record.levelname == "WARNING" for record in records)
        return [record.getMessage() for record in records]

    return messages


def _line(text):
    """Return "file:line" of the one line of this file that ends with a mark."""
    with open(__file__) as source:
        [number] = [
            n for n, line in enumerate(source, 1) if line.endswith(f"# {text}\n")
        ]
    return f"{__file__}:{number}"


def _run(source, *options, **environment):
    """Run a script in a process of its own; return its stderr."""
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(source)],
        env=os.environ | {"PYTHONASYNCIODEBUG": ""} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


# Slow steps.


@gen.coroutine
def _works(first_s, second_s, last_s):
    clock.sleep(first_s)
    yield gen.moment  # first step ends
    clock.sleep(second_s)
    yield gen.moment  # second step ends
    clock.sleep(last_s)


@gen.coroutine
def _calls_working(durations):
    yield _works(*durations)  # call of the worker


@pytest.mark.parametrize(
    "slow_steps",
    [
        (True, False, False),
        (False, True, False),
        (False, False, True),
        (False, False, False),
    ],
)
def test_slow_step_is_named_with_its_lines_and_nothing_else(
    debug_loop, messages, slow_steps
):
    durations = [1.2 * SLOW_S if slow else 0 for slow in slow_steps]

    debug_loop.run_sync(lambda: _calls_working(durations))

    begin = f"{__file__}:{_works.__wrapped__.__code__.co_firstlineno}"
    ends = [_line("first step ends"), _line("second step ends"), "its end"]
    expected = [
        f"from {start} to {end}"
        for slow, start, end in zip(slow_steps, [begin, *ends], ends)
        if slow
    ]
    call = f"_works(), called at {_line('call of the worker')}, kept the loop for 0."
    assert len(messages()) == len(expected)
    for message, lines in zip(messages(), expected):
        assert message.startswith(call)
        assert message.endswith(lines)


# Coroutines that are not awaited.


@gen.coroutine
def _naps():
    yield gen.sleep(0.001)  # dropped here
    yield gen.sleep(0.001)


@gen.coroutine
def _forgets_to_yield():
    _naps()  # the forgotten yield
    yield gen.sleep(0.005)


def test_dropped_result_is_reported_once_with_the_line_of_the_call(
    debug_loop, messages
):
    debug_loop.run_sync(_forgets_to_yield)

    [message] = messages()
    assert message.startswith(f"_naps(), called at {_line('the forgotten yield')}, ")
    assert f"suspended at {_line('dropped here')}" in message
    assert "yield the call" in message


def _yield_it():
    yield _naps()


def _yield_it_later():
    future = _naps()
    yield gen.sleep(0.003)
    yield future


def _yield_a_list():
    yield [_naps(), {"nested": _naps()}]


def _spawn():
    IOLoop.current().spawn_callback(_naps)
    yield gen.sleep(0.005)


def _hang_a_callback_on_it():
    _naps().add_done_callback(lambda done: done.result())
    yield gen.sleep(0.005)


def _wait_with_asyncio():
    yield asyncio.wait_for(_naps(), 1)
    yield asyncio.gather(_naps(), _naps())
    yield gen.with_timeout(IOLoop.current().time() + 1, _naps())
    yield gen.WaitIterator(_naps()).next()


@pytest.mark.parametrize(
    "body",
    [
        _yield_it,
        _yield_it_later,
        _yield_a_list,
        _spawn,
        _hang_a_callback_on_it,
        _wait_with_asyncio,
    ],
)
def test_retrieved_result_is_not_reported(debug_loop, messages, body):
    debug_loop.run_sync(gen.coroutine(body))

    assert messages() == []


def test_coroutine_that_can_never_go_on_is_reported(debug_loop, messages):
    @gen.coroutine
    def stuck():
        yield asyncio.Future()  # stuck here

    @gen.coroutine
    def main():
        stuck()  # the call of the stuck one
        yield gen.moment
        gc.collect()

    debug_loop.run_sync(main)

    [message] = messages()
    assert f"stuck(), called at {_line('the call of the stuck one')}, was ga" in message
    assert f"suspended at {_line('stuck here')}: what it waited for no" in message


# Unretrieved errors.


def _unseen(caplog):
    # From Python 3.12 on the frames of an error hold those that ran them, which may hold
    # the error's Future.
    gc.collect()
    [record] = [r for r in caplog.records if r.name == "asyncio"]
    return record


@gen.coroutine
def _fails(waits):
    if waits:
        yield gen.moment
    raise Failure("unseen")


@gen.coroutine
def _drops_a_failure(waits):
    future = _fails(waits)  # the call that fails
    yield gen.sleep(0.001)
    assert future.done()


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("waits", [True, False])
def test_unretrieved_error_is_logged_once_with_its_coroutine(
    loop, caplog, waits, debug
):
    loop.asyncio_loop.set_debug(debug)
    loop.run_sync(lambda: _drops_a_failure(waits))

    record = _unseen(caplog)
    call = f" called at {_line('the call that fails')}," if debug else ""
    assert "never retrieved" in record.message
    assert (
        f"<CoroutineFuture of _fails(){call} finished exception=Failure('unseen')"
        in record.message
    )
    traceback = record.exc_info[1].__traceback__
    assert traceback.tb_frame.f_code.co_name == "_fails"
    assert traceback.tb_next is None


def test_name_is_not_that_of_who_took_the_error(loop):
    @gen.coroutine
    def main():
        future = _fails(True)
        try:
            yield future
        except Failure:
            return repr(future)

    assert "of _fails() finished" in loop.run_sync(main)


# The same behavior as without it.


def test_traceback_shows_no_frame_of_ours_in_debug_mode(debug_loop):
    with pytest.raises(Failure) as caught:
        debug_loop.run_sync(lambda: _yield_twice(_fails))

    names = [entry.name for entry in caught.traceback]
    assert names[-2:] == ["_yield_twice", "_fails"]


@gen.coroutine
def _yield_twice(function):
    yield gen.moment
    yield function(True)


# When it is on.

SCRIPT = """
    import logging, time
    from gencoro import debugging, gen
    from gencoro.ioloop import IOLoop

    logging.basicConfig(format="%(message)s")

    @gen.coroutine
    def slow():
        time.sleep(0.11)
        yield gen.moment

    @gen.coroutine
    def main():
        future = slow()
        yield future

    IOLoop.current().run_sync(main)
    """


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ([], {"GENCORO_DEBUG": "1"}),
        ([], {"PYTHONASYNCIODEBUG": "1"}),
        (["-X", "dev", "-W", "ignore"], {}),
    ],
)
def test_debug_mode_is_on(options, environment):
    assert "slow(), called at <string>:15, kept the loop" in _run(
        SCRIPT, *options, **environment
    )


@pytest.mark.parametrize("value", ["", "0"])
def test_debug_mode_is_off(value):
    assert _run(SCRIPT, GENCORO_DEBUG=value) == ""


def test_debug_mode_of_ours_leaves_that_of_asyncio_off():
    assert "Executing" not in _run(SCRIPT, GENCORO_DEBUG="1")


def test_coroutine_that_is_called_by_python_itself_has_no_line():
    source = (
        SCRIPT
        + """
    import atexit
    atexit.register(slow)
    """
    )

    assert "slow(), called at an unknown place, kept the loop" in _run(
        source, GENCORO_DEBUG="1"
    )


# Tests that unittest does not wait for.

# From Python 3.12 on, it makes an async function of a coroutine.
PATCH = '@unittest.mock.patch.dict("os.environ")' if sys.version_info < (3, 12) else ""

TESTS = f"""
    import asyncio, contextlib, unittest, unittest.mock
    from gencoro import gen
    from gencoro.testing import gen_test

    @contextlib.contextmanager
    def nothing():
        yield

    class Dropped(unittest.{{case}}):
        @gen.coroutine
        def setUp(self):
            yield gen.sleep(0.01)

        @gen.coroutine
        def test_plain(self):
            yield gen.sleep(0.01)
            self.fail()

        {PATCH}
        @nothing()
        @gen.coroutine
        def test_decorated(self):
            yield gen.sleep(0.01)
            self.fail()

    class WaitedFor(unittest.{{case}}):
        @gen_test
        @gen.coroutine
        def test_plain(self):
            yield gen.moment

        @gen_test
        def test_that_calls(self):
            yield self.called()

        @gen.coroutine
        def called(self):
            yield gen.moment

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    unittest.main(exit=False, argv=["tests"])
    loop.close()
"""


# The runner of an IsolatedAsyncioTestCase refuses a Future since Python 3.12, and waits for it
# since 3.14.
OF_ISOLATED = (
    "OK"
    if sys.version_info < (3, 12)
    else "FAILED (errors=2)"
    if sys.version_info < (3, 14)
    else "FAILED (failures=2)"
)


@pytest.mark.parametrize(
    ("case", "environment", "reports"),
    [
        ("TestCase", {"GENCORO_DEBUG": "1"}, True),
        ("IsolatedAsyncioTestCase", {}, True),
        ("TestCase", {}, False),
    ],
)
def test_test_that_unittest_does_not_wait_for_is_reported(case, environment, reports):
    source = TESTS.replace("{case}", case)

    written = _run(source, "-W", "ignore", **environment)

    assert ("OK" if case == "TestCase" else OF_ISOLATED) in written
    reported = re.findall(
        r"unittest called (\w+\.\w+)\(\), a coroutine, and does not wait for it: none "
        r"of its errors fails the test; decorate it with gencoro\.testing\.gen_test$",
        written,
        re.MULTILINE,
    )
    tests = ["Dropped.test_decorated", "Dropped.test_plain"]
    if case != "TestCase" and sys.version_info >= (3, 14):
        tests = []
    assert sorted(reported) == (["Dropped.setUp"] * 2 + tests if reports else [])


def test_warning_of_unittest_can_make_such_tests_fail():
    source = TESTS.replace("{case}", "IsolatedAsyncioTestCase")

    written = _run(source, "-W", "error:It is deprecated:DeprecationWarning")

    assert OF_ISOLATED.replace("OK", "FAILED (errors=2)") in written
