"""gencoro.ioloop.periodic: the schedule of a PeriodicCallback, in virtual time."""

import asyncio
import datetime

import pytest
import tornado.ioloop

from gencoro import gen
from gencoro.ioloop import PeriodicCallback
from tests.helpers.gencoro.outcomes import Failure

legacy = pytest.mark.filterwarnings("ignore:.* is legacy. :DeprecationWarning")


@pytest.fixture
def loop(virtual_clock, io_loop):
    """An IOLoop whose sleeps take no time."""
    return io_loop


@pytest.fixture
def times(loop):
    """Return a function that runs the loop for some seconds, with a callback that ticks.

    It gives the seconds at which that was called.
    """

    def times(duration, callback_time, callback=None, **kwargs):
        began_at, seen = loop.time(), []

        def tick():
            seen.append(round(loop.time() - began_at, 3))
            return callback() if callback else None

        periodic = PeriodicCallback(tick, callback_time, **kwargs)
        loop.add_callback(periodic.start)
        loop.call_later(duration, loop.stop)
        loop.start()
        periodic.stop()
        return seen

    return times


@pytest.mark.parametrize("time", [1000, 1000.0, datetime.timedelta(seconds=1)])
def test_it_calls_each_period_and_first_after_one(times, time):
    assert times(3.5, time) == [1, 2, 3]


@pytest.mark.parametrize("kind", ["ours", "native", "list"])
def test_coroutine_is_not_called_again_before_it_has_ended(times, kind):
    running = []

    async def native():
        running.append("begun")
        assert running.count("begun") - running.count("ended") == 1
        await gen.sleep(1.5)
        running.append("ended")

    @gen.coroutine
    def ours():
        yield native()

    callback = {"ours": ours, "native": native, "list": lambda: [ours()]}[kind]

    assert times(6.4, 1000, callback) == [1, 3, 5]


@pytest.mark.parametrize("result", [42, "text", (), {}, object()])
def test_other_results_are_left_alone(times, caplog, result):
    assert times(2.5, 1000, lambda: result) == [1, 2]
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["plain", "ours", "native"])
def test_error_is_heard_of_and_it_goes_on(times, loop, kind):
    heard = []

    def fail():
        raise Failure

    @gen.coroutine
    def ours():
        yield gen.moment
        fail()

    async def native():
        await asyncio.sleep(0)
        fail()

    loop.handle_callback_exception = heard.append
    callback = {"plain": fail, "ours": ours, "native": native}[kind]

    assert times(3.5, 1000, callback) == [1, 2, 3]
    assert len(heard) == 3
    assert all(callable(callback) for callback in heard)


def test_cancelled_coroutine_is_no_error_and_it_goes_on(times, loop, caplog):
    def cancelled():
        future = loop.asyncio_loop.create_future()
        future.cancel()
        return future

    assert times(2.5, 1000, cancelled) == [1, 2]
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_callback_may_start_it_anew_and_does_not_double_it(times, loop, kind):
    def restart():
        if not seen:
            periodic.start()
        seen.append(round(loop.time() - began_at, 3))

    @gen.coroutine
    def coroutine():
        restart()
        yield gen.sleep(0.5)

    began_at, seen = loop.time(), []
    periodic = PeriodicCallback(restart if kind == "plain" else coroutine, 1000)
    loop.add_callback(periodic.start)
    loop.call_later(5.4, loop.stop)
    loop.start()
    periodic.stop()

    assert seen == [1, 2, 3, 4, 5]


def test_on_a_loop_of_tornados_own_errors_are_logged(caplog):
    class Theirs(tornado.platform.asyncio.AsyncIOLoop):
        """Not adopted, since it is somebody's subclass."""

    def fail():
        periodic.stop()
        theirs.add_callback(theirs.stop)
        raise Failure

    theirs = Theirs(make_current=False)
    periodic = PeriodicCallback(fail, 1)
    theirs.add_callback(periodic.start)
    theirs.start()
    theirs.close()

    [record] = caplog.records
    assert (record.name, record.exc_info[0]) == ("tornado.application", Failure)
