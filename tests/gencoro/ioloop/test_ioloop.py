"""gencoro.ioloop: current(), run_sync, close."""

import asyncio
import contextlib
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


def _in_thread(function):
    """Call a function on a thread of its own; return its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


# current()


@pytest.mark.parametrize("first", [IOLoop, tornado.ioloop.IOLoop])
def test_current_is_one_object_whoever_is_asked_first(first):
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

    assert _in_thread(in_thread) == (42, True, IOLoop)


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


def test_run_sync_refuses_a_timeout_that_is_no_number(loop):
    with pytest.raises(TypeError, match="give a number of seconds"):
        loop.run_sync(answer, timeout="3")


def test_run_sync_on_a_loop_that_runs_elsewhere_is_refused_before_it_begins():
    loop, running, release = IOLoop(make_current=False), threading.Event(), []
    thread = threading.Thread(target=loop.start)
    loop.add_callback(running.set)
    thread.start()
    assert running.wait(10)

    with pytest.raises(RuntimeError, match="on a loop that is running elsewhere"):
        loop.run_sync(lambda: release.append("called"))
    loop.add_callback(loop.stop)
    thread.join()
    loop.close()

    assert release == []


def test_run_sync_inside_a_running_loop_is_refused_and_names_the_cure(loop):
    @gen.coroutine
    def main():
        loop.run_sync(answer)
        yield

    with pytest.raises(RuntimeError, match=r"inside a running event loop.*yield \(or"):
        loop.run_sync(main)


def test_run_sync_says_so_when_somebody_stops_the_loop(loop):
    @gen.coroutine
    def main():
        loop.stop()
        yield gen.sleep(60)

    with pytest.raises(RuntimeError, match=r"by a call of stop\(\)") as caught:
        loop.run_sync(main)

    # Who is unfinished, and where.
    assert "main() at tests/gencoro/ioloop/test_ioloop.py:" in str(caught.value)


def test_stopped_coroutine_outlives_whoever_clears_the_error(loop):
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("method", ["add_callback", "add_timeout"])
def test_what_a_signal_handler_schedules_is_done_at_once(loop, method):
    def handle(signum, frame):
        if method == "add_callback":
            loop.add_callback(loop.stop)
        else:
            loop.add_timeout(loop.time(), loop.stop)

    before = signal.signal(signal.SIGALRM, handle)
    wakeup_fd = signal.set_wakeup_fd(-1)
    late = []
    loop.call_later(30, lambda: (late.append(1), loop.stop()))
    try:
        loop.add_callback(signal.setitimer, signal.ITIMER_REAL, 0.01)
        loop.start()
    finally:
        signal.signal(signal.SIGALRM, before)

    assert not late
    assert signal.set_wakeup_fd(wakeup_fd) == -1


# close()


def test_close_gives_up_on_native_coroutines_that_refuse(monkeypatch):
    monkeypatch.setattr("gencoro.ioloop.run_sync.CLEAN_UP_S", 0.01)

    async def native():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.get_running_loop().create_future()

    @gen.coroutine
    def main():
        gen.convert_yielded(native())
        yield gen.moment

    loop = IOLoop()
    loop.run_sync(main)
    loop.asyncio_loop.set_exception_handler(lambda _loop, _context: None)
    loop.close()

    assert loop.asyncio_loop.is_closed()
