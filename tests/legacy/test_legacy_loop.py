"""What Tornado 4's IOLoop could: the loop of the program, timers, and io_loop= arguments."""

import concurrent.futures
import contextlib
import datetime
import threading

import pytest

from gencoro import gen
from gencoro.concurrent import run_on_executor
from gencoro.ioloop import IOLoop, PeriodicCallback
from gencoro.legacy.futures import LegacyFuture
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    StackContext,
    _state,
    run_with_stack_context,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* is legacy. :DeprecationWarning",
    "ignore:(make|clear)_current is deprecated:DeprecationWarning",
)

NONE = ((), None)


class Failure(Exception):
    pass


@pytest.fixture(autouse=True)
def no_instance():
    """Have no loop of the program, and leave none."""
    IOLoop.clear_instance()
    yield
    IOLoop.clear_instance()


def _in_thread(function):
    """Call a function on a thread of its own; return its result."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


# The loop of the program.


def test_worker_thread_finds_the_loop_of_the_program(loop):
    results = []

    def work():
        instance = IOLoop.instance()
        instance.add_callback(
            lambda: (results.append(threading.current_thread()), loop.stop())
        )
        return instance, IOLoop.current(instance=False)

    assert IOLoop.instance() is loop
    instance, current = _in_thread(work)
    loop.start()

    assert instance is loop
    assert current is None
    assert results == [threading.current_thread()]


def test_worker_with_a_loop_of_its_own_gets_that_one(loop):
    def work():
        own = IOLoop()
        try:
            return IOLoop.instance() is own
        finally:
            own.close()

    IOLoop.instance()

    assert _in_thread(work)
    assert IOLoop.instance() is loop


def test_installed_loop_is_that_of_the_program_and_current():
    installed = IOLoop(make_current=False)
    assert not IOLoop.initialized()

    installed.install()
    found = [
        IOLoop.initialized(),
        IOLoop.instance() is installed,
        IOLoop.current() is installed,
        _in_thread(IOLoop.instance) is installed,
    ]
    installed.install()
    installed.close()

    assert found == [True] * 4


def test_second_loop_is_installed_only_when_the_first_is_gone():
    first, second = IOLoop(make_current=False), IOLoop(make_current=False)
    first.install()

    with pytest.raises(
        RuntimeError, match=r"is installed already; .*clear_instance\(\)"
    ):
        second.install()
    IOLoop.clear_instance()
    second.install()
    is_second = IOLoop.instance() is second
    second.close()
    third = IOLoop(make_current=False)
    third.install()
    is_third = IOLoop.instance() is third
    first.close()
    third.close()

    assert (is_second, is_third) == (True, True)


def test_closed_loop_is_not_that_of_the_program_any_more():
    first = IOLoop()
    before = IOLoop.instance(), IOLoop.initialized()
    first.close()
    after = IOLoop.initialized()
    first.clear_current()
    second = IOLoop.instance()
    second.close()

    assert before == (first, True)
    assert after is False
    assert second is not first


def test_cleared_instance_is_not_initialized_and_comes_again(loop):
    IOLoop.instance()
    IOLoop.clear_instance()
    cleared = IOLoop.initialized()

    assert cleared is False
    assert IOLoop.instance() is loop
    assert IOLoop.initialized()


def test_instance_is_the_running_loop_inside_of_it(loop):
    other = IOLoop(make_current=False)
    other.install()

    inside = loop.run_sync(lambda: gen.maybe_future(IOLoop.instance()))
    other.close()

    assert inside is loop


# Timers.


@pytest.fixture
def virtual_loop(virtual_clock, io_loop):
    """An IOLoop whose sleeps take no time."""
    return io_loop


TIMERS = {
    "timedelta": lambda loop, *args, **kwargs: loop.add_timeout(
        datetime.timedelta(hours=1), *args, **kwargs
    ),
    "absolute": lambda loop, *args, **kwargs: loop.add_timeout(
        loop.time() + 3600, *args, **kwargs
    ),
    "absolute integer": lambda loop, *args, **kwargs: loop.add_timeout(
        int(loop.time()) + 3601, *args, **kwargs
    ),
    "call_at": lambda loop, *args, **kwargs: loop.call_at(
        loop.time() + 3600, *args, **kwargs
    ),
    "call_later": lambda loop, *args, **kwargs: loop.call_later(3600, *args, **kwargs),
}
EACH_TIMER = pytest.mark.parametrize("add", TIMERS.values(), ids=TIMERS)


@EACH_TIMER
def test_timer_calls_at_its_time_with_its_arguments(virtual_loop, add):
    loop, seen = virtual_loop, []
    began_at = loop.time()

    def callback(*args, **kwargs):
        seen.append((round(loop.time() - began_at), args, kwargs))
        loop.stop()

    add(loop, callback, 1, two=2)
    loop.start()

    [(after, *arguments)] = seen
    assert after in (3600, 3601)
    assert arguments == [(1,), {"two": 2}]


@EACH_TIMER
def test_timer_that_is_removed_does_not_call(virtual_loop, add):
    loop, seen = virtual_loop, []

    loop.remove_timeout(add(loop, seen.append))
    loop.call_later(7200, loop.stop)
    loop.start()

    assert seen == []


@EACH_TIMER
def test_timer_calls_within_the_contexts_of_its_adding(virtual_loop, add):
    loop, seen, handled = virtual_loop, [], []

    def fail():
        seen.append(_state.contexts[1] is not None)
        raise Failure

    with ExceptionStackContext(lambda *error: (handled.append(error[0]), loop.stop())):
        add(loop, fail)
    loop.start()

    assert (seen, handled) == ([True], [Failure])


@pytest.mark.parametrize("deadline", [0, -1, datetime.timedelta(seconds=-1)])
def test_deadline_that_is_over_calls_in_the_next_turn(virtual_loop, deadline):
    loop, seen = virtual_loop, []
    began_at = loop.time()

    loop.add_timeout(deadline, lambda: (seen.append(loop.time()), loop.stop()))
    loop.start()

    assert seen == [pytest.approx(began_at, abs=0.1)]


# Futures of then.


def test_callback_of_a_future_of_then_waits_for_a_later_turn(loop):
    steps, future = [], LegacyFuture()
    future.set_result(None)
    context = StackContext(contextlib.nullcontext)

    def begin():
        with context:
            loop.add_future(future, called_back)
        steps.append("added")

    def called_back(done):
        steps.append((done is future, _state.contexts[1] is context))
        loop.stop()

    loop.add_callback(begin)
    loop.start()

    assert steps == ["added", (True, True)]


# Arguments io_loop=.


@pytest.mark.parametrize("outcome", ["result", "error", "time-out"])
@pytest.mark.parametrize(
    "wait",
    [
        lambda deadline, future, loop: gen.with_timeout(deadline, future, loop),
        lambda deadline, future, loop: gen.with_timeout(deadline, future, None),
        lambda deadline, future, loop: gen.with_timeout(
            deadline, future, loop, Failure
        ),
        lambda deadline, future, loop: gen.with_timeout(
            deadline, future, io_loop=loop, quiet_exceptions=Failure
        ),
        lambda deadline, future, loop: gen.with_timeout(
            deadline, future, loop, quiet_exceptions=(Failure,)
        ),
        lambda deadline, future, loop: gen.with_timeout(
            timeout=deadline, future=future, io_loop=None
        ),
    ],
)
def test_with_timeout_takes_a_loop_in_its_old_place(virtual_loop, wait, outcome):
    loop = virtual_loop

    @gen.coroutine
    def work():
        yield gen.sleep(60 if outcome == "time-out" else 1)
        if outcome == "error":
            raise Failure
        return 42

    @gen.coroutine
    def main():
        try:
            return (yield wait(loop.time() + 10, work(), loop))
        except (Failure, TimeoutError) as error:
            return type(error)

    expected = {"result": 42, "error": Failure, "time-out": gen.TimeoutError}
    assert loop.run_sync(main) == expected[outcome]


@pytest.mark.parametrize(
    ("arguments", "is_quiet"),
    [
        (lambda loop: (loop, Failure), True),
        (lambda loop: (loop, (KeyError, Failure)), True),
        (lambda loop: (None, Failure), True),
        (lambda loop: (Failure,), True),
        (lambda loop: (loop, KeyError), False),
        (lambda loop: (loop,), False),
        (lambda loop: (loop, ()), False),
    ],
)
def test_quiet_exceptions_are_quiet_in_both_places(
    virtual_loop, arguments, is_quiet, caplog
):
    loop = virtual_loop

    @gen.coroutine
    def work():
        yield gen.sleep(2)
        raise Failure("late")

    @gen.coroutine
    def main():
        with pytest.raises(gen.TimeoutError):
            yield gen.with_timeout(loop.time() + 1, work(), *arguments(loop))
        yield gen.sleep(2)

    loop.run_sync(main)

    assert [record.exc_info[0] for record in caplog.records] == (
        [] if is_quiet else [Failure]
    )


def test_with_timeout_refuses_more_than_it_takes(virtual_loop):
    @gen.coroutine
    def main():
        with pytest.raises(TypeError, match="beyond its arguments"):
            gen.with_timeout(0, gen.sleep(0), virtual_loop, (), "more")
        yield gen.moment

    virtual_loop.run_sync(main)


def test_periodic_callback_ticks_within_the_contexts_of_its_start(virtual_loop):
    loop, seen = virtual_loop, []

    class Request:
        entered = 0

        def __enter__(self):
            Request.entered += 1

        def __exit__(self, *_exc_info):
            Request.entered -= 1

    @gen.coroutine
    def tick():
        seen.append(Request.entered)
        yield gen.moment
        seen.append(Request.entered)

    periodic = PeriodicCallback(tick, 1000, loop)
    run_with_stack_context(StackContext(Request), periodic.start)
    loop.call_later(2.5, loop.stop)
    loop.start()
    periodic.stop()

    assert seen == [1] * 4
    assert (Request.entered, _state.contexts) == (0, NONE)


@pytest.fixture
def worker():
    """A worker with a thread of its own."""

    class Worker:
        @run_on_executor(io_loop="io_loop")
        def default(self, *args):
            return args, threading.current_thread()

        @run_on_executor(io_loop="other_loop", executor="pool")
        def named(self, *args):
            return args, threading.current_thread()

        @run_on_executor
        def fail(self):
            raise Failure("on the executor")

    worker = Worker()
    with concurrent.futures.ThreadPoolExecutor(1) as worker.executor:
        worker.pool = worker.executor
        yield worker


@pytest.mark.parametrize("name", ["default", "named"])
def test_run_on_executor_takes_the_name_of_a_loop_and_calls_back(loop, worker, name):
    calls = []

    def callback(result):
        calls.append((result, threading.current_thread()))
        loop.stop()

    @gen.coroutine
    def main():
        return (yield getattr(worker, name)(1, 2))

    args, thread = loop.run_sync(main)
    loop.add_callback(lambda: getattr(worker, name)(3, callback=callback) and None)
    loop.start()

    assert (args, thread is threading.current_thread()) == ((1, 2), False)
    [((called_args, called_thread), on_thread)] = calls
    assert (called_args, called_thread) == ((3,), thread)
    assert on_thread is threading.current_thread()


def test_callback_of_an_executor_fails_into_the_callers_context(loop, worker):
    called, handled = [], []

    @gen.coroutine
    def main():
        with ExceptionStackContext(
            lambda *error: (handled.append(error[1].args), loop.add_callback(loop.stop))
        ):
            worker.fail(callback=called.append)
        yield gen.sleep(60)

    with pytest.raises(RuntimeError, match="somebody called stop"):
        loop.run_sync(main)

    assert called == []
    assert handled == [("on the executor",)]


def test_callback_of_a_coroutine_fails_into_the_callers_context(loop):
    called, handled = [], []

    @gen.coroutine
    def work():
        yield gen.moment
        raise Failure("inside")

    @gen.coroutine
    def main():
        with ExceptionStackContext(
            lambda *error: handled.append(error[1].args) or True
        ):
            work(callback=called.append)
        for _ in range(4):
            yield gen.moment

    loop.run_sync(main)

    assert called == []
    assert handled == [("inside",)]


# The program's end.


@pytest.mark.parametrize("run", ["IOLoop", "asyncio"])
def test_program_that_watches_its_loop_ends_well(script, run):
    """Python gives signals back at its end, and the timer's would be fatal then."""
    output = script(f"""
    import sys, time
    from gencoro.ioloop import IOLoop

    async def main():
        # The timer is due in 25 ms, and the program has ended by then.
        loop.set_blocking_log_threshold(0.1)

    class Slow:
        def __del__(self):
            until = monotonic() + 0.2
            while monotonic() < until:
                pass

    monotonic = time.monotonic
    sys.kept = Slow()  # Until nearly nothing is left.
    loop = IOLoop(make_current=False)
    if "{run}" == "IOLoop":
        loop.run_sync(main)
    else:
        loop.asyncio_loop.run_until_complete(main())
    """)

    assert output == ""
