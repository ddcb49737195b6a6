"""gencoro.virtual_clock: jumping time, real I/O before each jump, deadlocks."""

import asyncio
import concurrent.futures
import datetime
import math
import subprocess
import sys
import threading
import time

import pytest
import tornado.ioloop
import tornado.process

from gencoro import gen
from gencoro.errors import DeadlockError
from gencoro.ioloop import IOLoop
from gencoro.testing import new_io_loop
from gencoro.virtual_clock import VirtualClock


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def run(clock):
    """Run an asynchronous function on the clock, and return its result."""

    def run(function, *, debug=None):
        factory = clock.new_event_loop
        with asyncio.Runner(loop_factory=factory, debug=debug) as runner:
            return runner.run(function())

    return run


# Time.


@pytest.mark.parametrize("seconds", [3600, 3600.1 + 0.2, 1e9])
@pytest.mark.parametrize("debug", [False, True])
def test_sleep_takes_no_time_and_ends_at_its_very_moment(clock, run, seconds, debug):
    async def main():
        await asyncio.sleep(seconds)
        return clock.time(), asyncio.get_running_loop().time()

    began_at = time.monotonic()

    assert run(main, debug=debug) == (seconds, seconds)
    assert time.monotonic() - began_at < 60


def test_timers_of_one_moment_fire_in_the_order_of_their_making(run):
    async def main():
        loop, fired = asyncio.get_running_loop(), []
        for number in range(20):
            loop.call_at(3, fired.append, number)
        loop.call_at(1, loop.call_later, 2, fired.append, "made later")
        await asyncio.sleep(4)
        return fired

    assert run(main) == [*range(20), "made later"]


def test_timers_that_are_nearly_of_one_moment_have_a_moment_each(clock, run):
    async def main():
        loop, fired = asyncio.get_running_loop(), []
        for when in [1.0, math.nextafter(1.0, 2.0)]:
            loop.call_at(when, lambda: fired.append(clock.time()))
        await asyncio.sleep(2)
        return fired

    assert run(main) == [1.0, math.nextafter(1.0, 2.0)]


def test_timer_that_was_taken_back_is_no_moment(clock, run):
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(300):
            loop.call_later(1, pytest.fail).cancel()
        await asyncio.sleep(2)
        loop.call_later(100, pytest.fail).cancel()
        return clock.time()

    assert run(main) == 2
    # The next loop goes on where the one before has ended.
    assert run(main) == clock.time() == 4


def test_timer_in_the_past_does_not_turn_time_back(clock, run):
    async def main():
        await asyncio.sleep(5)
        fired = asyncio.Event()
        asyncio.get_running_loop().call_at(1, fired.set)
        await fired.wait()
        return clock.time()

    assert run(main) == 5


def test_time_stands_still_while_anything_can_run(clock, run):
    async def main():
        seen = set()
        later = asyncio.create_task(asyncio.sleep(0.001))
        for _ in range(100):
            await asyncio.sleep(0)
            seen.add(clock.time())
        await later
        return seen

    assert run(main) == {0.0}


def test_closed_loop_takes_no_timer(clock):
    loop = clock.new_event_loop()
    loop.close()

    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1, print)


def test_debug_mode_tells_of_timers_made_on_another_thread(run):
    async def main():
        loop = asyncio.get_running_loop()
        with pytest.raises(RuntimeError, match="Non-thread-safe"):
            await asyncio.to_thread(loop.call_later, 1, print)
        with pytest.raises(TypeError, match="coroutines cannot be used"):
            loop.call_later(1, main)

    run(main, debug=True)


def test_call_later_really_is_called_after_real_time(clock, run):
    async def main():
        loop = asyncio.get_running_loop()
        ended, began_at = asyncio.Event(), time.monotonic()
        loop.call_later_really(0.02, ended.set)
        loop.call_later_really(0.01, pytest.fail).cancel()
        while not ended.is_set():
            await asyncio.sleep(3600)
        return time.monotonic() - began_at

    assert 0.02 <= run(main) < 60
    assert clock.time() > 3600


# advance().


def test_advance_ends_after_all_that_is_due_by_then(clock, run):
    async def tick(ticks):
        while True:
            await asyncio.sleep(1)
            await asyncio.sleep(0)
            ticks.append(clock.time())

    async def main():
        ticks = []
        ticking = asyncio.create_task(tick(ticks))
        await clock.advance(3)
        seen = [list(ticks)]
        await clock.advance(0.5)
        seen.append(clock.time())
        ticking.cancel()
        return seen

    assert run(main) == [[1, 2, 3], 3.5]


def test_advance_by_nothing_lets_everything_run_that_can(clock, run):
    async def main():
        event, steps = asyncio.Event(), []
        event.set()

        @gen.coroutine
        def busy():
            for step in range(5):
                yield gen.moment
                steps.append(step)
            yield gen.sleep(1)
            steps.append("later")

        busy()
        await clock.advance(0)
        return steps, clock.time()

    assert run(main) == ([0, 1, 2, 3, 4], 0)


def test_advance_can_be_cancelled(clock, run):
    async def main():
        clock.advance(1).cancel()
        await clock.advance(2)
        return clock.time()

    assert run(main) == 2


@pytest.mark.parametrize("seconds", [-1, math.nan])
def test_advance_backwards_is_refused(clock, run, seconds):
    async def main():
        clock.advance(seconds)

    with pytest.raises(ValueError, match="time cannot go back"):
        run(main)


def test_advance_on_a_loop_in_real_time_is_refused(clock):
    async def main():
        clock.advance(1)

    with pytest.raises(RuntimeError, match=r"clock's new_event_loop\(\)"):
        asyncio.run(main())


# Deadlocks.


def test_deadlock_is_found_and_shown(run):
    @gen.coroutine
    def wait_for_ever():
        yield asyncio.Future()

    async def main():
        await asyncio.gather(wait_for_ever(), asyncio.sleep(1))

    with pytest.raises(DeadlockError) as caught:
        run(main)

    text = str(caught.value)
    assert "Everything waits, and forever" in text
    assert "main() at" in text
    assert "wait_for_ever() at" in text
    assert "sleep" not in text


def test_waiting_until_the_end_of_time_is_a_deadlock(run):
    with pytest.raises(DeadlockError):
        run(lambda: asyncio.sleep(math.inf))


def test_loop_can_go_on_after_a_deadlock(clock):
    loop = clock.new_event_loop()
    stuck = loop.create_future()
    with pytest.raises(DeadlockError):
        loop.run_until_complete(stuck)
    loop.call_soon(stuck.set_result, "rescued")

    assert loop.run_until_complete(stuck) == "rescued"
    loop.close()


def test_threads_of_a_pool_that_have_nothing_to_do_are_no_hope(run):
    async def main():
        await asyncio.to_thread(len, "job")
        await asyncio.Future()

    with pytest.raises(DeadlockError):
        run(main)


# Threads.


def _job():
    time.sleep(0.1)
    return "done"


@gen.coroutine
def _yield_a_job():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return (yield pool.submit(_job))


@pytest.mark.parametrize(
    "begin",
    [
        lambda: asyncio.to_thread(_job),
        lambda: asyncio.get_running_loop().run_in_executor(None, _job),
        _yield_a_job,
    ],
    ids=["to_thread", "run_in_executor", "yielded"],
)
def test_time_stands_still_while_a_thread_owes_a_result(clock, run, begin):
    async def main():
        # One second is less than the job takes, if time were allowed to jump.
        result = await gen.with_timeout(datetime.timedelta(seconds=1), begin())
        return result, clock.time()

    assert run(main) == ("done", 0)


def test_status_tells_why_time_stands_still(clock, run):
    async def main():
        loop, gate = asyncio.get_running_loop(), threading.Event()
        job = loop.run_in_executor(None, gate.wait)
        told = loop.status()
        gate.set()
        await job
        await asyncio.sleep(0)
        return told, loop.status()

    assert run(main) == (
        "virtual time is 0.0 s, and stands still: waiting for 1 result of threads",
        "virtual time is 0.0 s",
    )


def test_abandoned_job_does_not_block_virtual_time(clock, run):
    gate = threading.Event()

    async def main():
        asyncio.get_running_loop().run_in_executor(None, gate.wait).cancel()
        await asyncio.sleep(3600)
        gate.set()
        return clock.time()

    assert run(main) == 3600


def test_thread_at_work_gets_its_chance_to_call_us(run):
    async def main():
        loop, called = asyncio.get_running_loop(), asyncio.Event()
        caller = threading.Thread(
            target=lambda: (time.sleep(0.1), loop.call_soon_threadsafe(called.set))
        )
        caller.start()
        await called.wait()
        caller.join()

    run(main)


def test_thread_that_never_ends_stops_no_jump(clock, run):
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)

    async def main():
        thread.start()
        await asyncio.sleep(3600)
        return clock.time()

    assert run(main) == 3600
    gate.set()
    thread.join()


def test_closing_waits_for_the_threads_in_real_time(run):
    ended = []

    def job():
        time.sleep(0.05)
        ended.append("job")

    async def main():
        asyncio.get_running_loop().run_in_executor(None, job)

    # From Python 3.12 on a warning would tell that the threads were given up.
    run(main)

    assert ended == ["job"]


# Sockets and processes.


has_processes = pytest.mark.skipif(
    sys.platform == "win32", reason="a selector loop of Windows starts no processes"
)
SLOW = [sys.executable, "-c", "import time; time.sleep(0.3); print('done')"]


@has_processes
def test_process_is_waited_for_in_real_time(clock, run):
    async def main():
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*SLOW, stdout=pipe)
        told = asyncio.get_running_loop().status()
        output, _ = await asyncio.wait_for(process.communicate(), 5)
        other = await asyncio.create_subprocess_exec(*SLOW, stdout=pipe)
        await asyncio.wait_for(other.wait(), 5)
        return told, output.strip(), process.returncode, clock.time()

    told = "virtual time is 0.0 s, and stands still: waiting for 1 process"
    assert run(main) == (told, b"done", 0, 0)


@has_processes
def test_process_of_tornado_is_waited_for_in_real_time(clock, virtual_io_loop):
    @gen.coroutine
    def main():
        process = tornado.process.Subprocess(SLOW, stdout=subprocess.DEVNULL)
        yield gen.with_timeout(
            datetime.timedelta(seconds=5), process.wait_for_exit(raise_error=False)
        )
        return clock.time()

    try:
        assert virtual_io_loop.run_sync(main) == 0
    finally:
        tornado.process.Subprocess.uninitialize()


def test_open_sockets_get_their_grace_before_each_jump():
    clock = VirtualClock(grace_s=0.05)

    async def main():
        server = await asyncio.start_server(print, "127.0.0.1", 0)
        began_at = time.monotonic()
        await asyncio.sleep(10)
        await asyncio.sleep(10)
        server.close()
        return time.monotonic() - began_at

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        assert 0.1 <= runner.run(main()) < 20


# Tornado's IOLoop on top.


@pytest.fixture
def virtual_io_loop(clock):
    with new_io_loop(clock.new_event_loop()) as io_loop:
        yield io_loop


def test_time_and_deadlines_of_the_io_loop_are_virtual(virtual_io_loop):
    @gen.coroutine
    def main():
        io_loop = IOLoop.current()
        before = io_loop.time()
        yield gen.sleep(3600)
        with pytest.raises(TimeoutError):
            yield gen.with_timeout(io_loop.time() + 5, gen.sleep(60))
        is_one = tornado.ioloop.IOLoop.current() is io_loop
        return before, io_loop.time() - before, is_one

    before, took, is_one = virtual_io_loop.run_sync(main)

    assert before == pytest.approx(time.time(), abs=60)
    assert took == 3605
    assert is_one
