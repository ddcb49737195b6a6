"""Tornado 4's IOLoop API: IOLoop.instance, timers, and io_loop= arguments."""

import concurrent.futures
import sys
import threading

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.gencoro.outcomes import Failure

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* is legacy. :DeprecationWarning",
    "ignore:(make|clear)_current is deprecated:DeprecationWarning",
)


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


@pytest.mark.parametrize("ask", [IOLoop.instance, IOLoop.current])
@pytest.mark.parametrize("count", [1, 4])
def test_instance_created_on_a_thread_is_that_of_the_main_thread(count, ask):
    """As in Tornado 4, whose threads shared one loop, which the first of them created."""
    IOLoop.clear_current()
    begin, found, called = threading.Barrier(count), [], []

    def work():
        begin.wait()
        found.append(IOLoop.instance())
        found[-1].add_callback(called.append, True)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    loop = ask()
    loop.run_sync(lambda: gen.moment)
    loop.close()

    assert set(found) == {loop}
    assert called == [True] * count


def test_instance_created_on_the_main_thread_is_that_of_other_threads():
    IOLoop.clear_current()
    loop = IOLoop.current()

    found = _in_thread(IOLoop.instance)
    loop.close()

    assert found is loop


def test_loop_that_another_thread_runs_stays_its_own():
    IOLoop.clear_current()
    running = concurrent.futures.Future()

    def work():
        loop = IOLoop.instance()
        loop.add_callback(running.set_result, loop)
        loop.start()
        loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    other = running.result()
    own = IOLoop.current()
    is_shared = IOLoop.instance() is own
    other.add_callback(other.stop)
    thread.join()
    own.close()

    assert own is not other
    assert is_shared


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


def test_instance_is_the_running_loop_inside_of_it(loop):
    other = IOLoop(make_current=False)
    other.install()

    inside = loop.run_sync(lambda: gen.maybe_future(IOLoop.instance()))
    other.close()

    assert inside is loop


@pytest.fixture
def virtual_loop(virtual_clock, io_loop):
    """An IOLoop whose sleeps take no time."""
    return io_loop


# Arguments io_loop=.


@pytest.mark.parametrize(
    ("limited", "is_quiet"),
    [
        (lambda wait, loop: gen.with_timeout(*wait, loop, Failure), True),
        (lambda wait, loop: gen.with_timeout(*wait, loop, (KeyError, Failure)), True),
        (lambda wait, _: gen.with_timeout(*wait, None, Failure), True),
        (lambda wait, _: gen.with_timeout(*wait, Failure), True),
        (
            lambda wait, loop: gen.with_timeout(*wait, loop, quiet_exceptions=Failure),
            True,
        ),
        (lambda wait, loop: gen.with_timeout(*wait, loop, KeyError), False),
        (lambda wait, loop: gen.with_timeout(*wait, loop), False),
        (lambda wait, loop: gen.with_timeout(*wait, loop, ()), False),
    ],
)
def test_quiet_exceptions_are_quiet_in_both_places(
    virtual_loop, limited, is_quiet, caplog
):
    loop = virtual_loop

    @gen.coroutine
    def work():
        yield gen.sleep(2)
        raise Failure("late")

    @gen.coroutine
    def main():
        with pytest.raises(gen.TimeoutError):
            yield limited((loop.time() + 1, work()), loop)
        yield gen.sleep(2)

    loop.run_sync(main)

    assert [record.exc_info[0] for record in caplog.records] == (
        [] if is_quiet else [Failure]
    )


def test_with_timeout_refuses_more_than_it_takes(virtual_loop):
    @gen.coroutine
    def main():
        with pytest.raises(TypeError, match="unexpected arguments"):
            gen.with_timeout(0, gen.sleep(0), virtual_loop, (), "more")
        yield gen.moment

    virtual_loop.run_sync(main)


# The program's end.


@pytest.mark.parametrize("run", ["IOLoop", "asyncio"])
def test_program_that_watches_its_loop_ends_well(script, run):
    """Python gives signals back at its end, and the timer's would be fatal then."""
    output = script(f"""
    import sys, time
    from gencoro.ioloop import IOLoop

    async def main():
        # The timer is due in 250 ms, and the program has ended by then.
        loop.set_blocking_log_threshold(1.0)

    class Slow:
        def __del__(self):
            sleep(0.5)

    sleep = time.sleep
    sys.kept = Slow()  # Until nearly nothing is left.
    loop = IOLoop(make_current=False)
    if "{run}" == "IOLoop":
        loop.run_sync(main)
    else:
        loop.asyncio_loop.run_until_complete(main())
    """)

    assert output == ""
