"""gencoro.ioloop: current(), run_sync, waking up a waiting loop."""

import asyncio
import concurrent.futures
import signal
import threading
import traceback

import pytest
import tornado.ioloop
from tornado.platform.asyncio import AsyncIOMainLoop

from gencoro import gen
from gencoro.errors import BadYieldError
from gencoro.ioloop import IOLoop
from tests.helpers.gencoro.outcomes import Failure


@gen.coroutine
def answer():
    yield gen.moment
    return 42


# current()


@pytest.mark.parametrize("first", [IOLoop, tornado.ioloop.IOLoop])
def test_current_is_one_object_whichever_package_is_asked_first(first):
    async def main():
        asked = first.current()
        both = IOLoop.current(), tornado.ioloop.IOLoop.current()
        return [loop is asked for loop in both], asked

    same, loop = asyncio.run(main())

    assert same == [True, True]
    assert isinstance(loop, IOLoop)
    # By this Tornado's test cases tell that it is not theirs to close.
    assert isinstance(loop, AsyncIOMainLoop)


def test_loop_that_tornado_made_for_a_thread_is_adopted():
    def in_thread():
        theirs = tornado.ioloop.IOLoop()
        ours = IOLoop.current()
        result = theirs.run_sync(answer), ours is theirs, type(theirs)
        theirs.close()
        return result

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        assert thread.submit(in_thread).result() == (42, True, IOLoop)


# run_sync


@pytest.mark.parametrize("error", [Failure, asyncio.CancelledError])
def test_run_sync_raises_the_error_of_a_plain_function(loop, error):
    def fails():
        raise error

    with pytest.raises(error):
        loop.run_sync(fails)


def _generator_function():
    yield gen.sleep(60)


@pytest.mark.parametrize(
    ("main", "told"),
    [
        (lambda: 42, "yielded 42"),
        (_generator_function, r"_function.*decorate .* with @gen\.coroutine"),
    ],
)
def test_run_sync_refuses_what_cannot_be_waited_for(loop, main, told):
    with pytest.raises(BadYieldError, match=told):
        loop.run_sync(main)


def test_run_sync_refuses_a_future_of_another_loop(loop):
    other = asyncio.new_event_loop()

    with pytest.raises(BadYieldError, match="belongs to another event loop"):
        loop.run_sync(other.create_future)
    other.close()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda loop: loop.run_sync(answer, timeout="3"), "give a number of seconds"),
        (lambda loop: loop.run_sync(answer()), r"write run_sync\(main\) in place of"),
    ],
)
def test_run_sync_refuses_other_arguments(loop, call, told):
    with pytest.raises(TypeError, match=told):
        call(loop)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda loop: loop.run_sync(pytest.fail), "on a loop that is running elsewhe"),
        (lambda loop: loop.close(), "close.. was called on a running loop"),
        (
            lambda loop: loop.set_blocking_signal_threshold(1, print),
            "only the main thread receives signals",
        ),
    ],
    ids=["run_sync", "close", "watchdog"],
)
def test_loop_that_runs_on_another_thread_is_left_alone(call, told):
    loop, running = IOLoop(make_current=False), threading.Event()
    gate = loop.asyncio_loop.create_future()

    @gen.coroutine
    def main():
        running.set()
        yield gate
        return "not disturbed"

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        result = thread.submit(loop.run_sync, main)
        try:
            assert running.wait(10)
            with pytest.raises(RuntimeError, match=told):
                call(loop)
        finally:
            loop.add_callback(gate.set_result, None)
    loop.close()

    assert result.result() == "not disturbed"


def test_run_sync_inside_a_running_loop_names_the_cure(loop):
    @gen.coroutine
    def main():
        loop.run_sync(answer)
        yield

    with pytest.raises(RuntimeError, match=r"inside a running event loop.*yield \(or"):
        loop.run_sync(main)


def test_run_sync_reports_that_the_loop_was_stopped(loop):
    @gen.coroutine
    def main():
        loop.stop()
        yield gen.sleep(60)

    with pytest.raises(RuntimeError, match=r"by a call of stop\(\)") as caught:
        loop.run_sync(main)

    # Who is unfinished, and where.
    assert "main() at tests/gencoro/ioloop/test_ioloop.py:" in str(caught.value)


def test_stopped_coroutine_survives_clearing_the_errors_frames(loop):
    """Unittest's assertRaises clears the frames of an error, and with one a coroutine."""
    cleaned_up = []

    @gen.coroutine
    def main():
        try:
            yield gen.sleep(60)
        finally:
            yield gen.moment
            cleaned_up.append("main")

    loop.add_callback(loop.stop)
    with pytest.raises(RuntimeError, match=r"by a call of stop\(\)") as caught:
        loop.run_sync(main)
    traceback.clear_frames(caught.tb)
    loop.close()

    assert cleaned_up == ["main"]


@pytest.fixture
def falling_asleep(loop):
    """Have a function called when the loop is just about to sleep.

    Whatever wakes it then has to reach into the system's call; if it fails to, the loop
    sleeps until the alarm.  Returns what is called, and whether that was necessary.
    """
    selector = loop.asyncio_loop._selector
    select, slept = selector.select, []

    def falling_asleep(function):
        def select_after(timeout):
            if (timeout is None or timeout > 1) and not slept:
                slept.append("slept")
                function()
            return select(timeout)

        selector.select = select_after
        alarmed = []
        alarm = loop.call_later(5, lambda: (alarmed.append("alarm"), loop.stop()))
        loop.start()
        loop.remove_timeout(alarm)
        assert slept == ["slept"]
        return alarmed

    yield falling_asleep
    selector.select = select


def test_stop_by_another_thread_wakes_a_loop_that_sleeps(loop, falling_asleep):
    def stop():
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            thread.submit(loop.stop)

    assert falling_asleep(stop) == []


@pytest.mark.filterwarnings("ignore:.* is legacy. :DeprecationWarning")
@pytest.mark.parametrize(
    "wake",
    [
        lambda loop: loop.stop(),
        lambda loop: loop.add_callback(loop.stop),
        lambda loop: loop.add_timeout(loop.time(), loop.stop),
        lambda loop: loop.add_callback_from_signal(lambda stop: stop(), loop.stop),
    ],
    ids=["stop", "add_callback", "add_timeout", "from_signal"],
)
def test_what_a_signal_handler_schedules_is_done_at_once(loop, falling_asleep, wake):
    before = signal.signal(signal.SIGINT, lambda *_: wake(loop))
    wakeup_fd = signal.set_wakeup_fd(-1)
    try:
        alarmed = falling_asleep(lambda: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)

    assert alarmed == []
    assert signal.set_wakeup_fd(wakeup_fd) == -1
