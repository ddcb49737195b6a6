"""gencoro.ioloop.watchdog reports a blocked loop; the tests control the clock."""

import concurrent.futures
import signal
import subprocess
import sys
import textwrap
import types

import pytest

from gencoro.ioloop import watchdog
from gencoro.ioloop.watchdog import Watch

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="timer signals as POSIX has them"
)


class Clock:
    """Tells the time to the watch, and sends its signal."""

    now_s = 0.0

    def monotonic(self):
        return self.now_s

    def tick(self, passed_s=0.0):
        """Let some time pass, and then the timer be due, if it runs."""
        self.now_s += passed_s
        if is_timer_running():
            signal.raise_signal(signal.SIGALRM)


def is_timer_running():
    """Return whether there is one; a signal without a handler would be fatal."""
    interval_s = signal.getitimer(signal.ITIMER_REAL)[1]
    assert (interval_s > 0) == callable(signal.getsignal(signal.SIGALRM))
    return interval_s > 0


@pytest.fixture
def clock(monkeypatch):
    """The only clock, and the only timer: the real one never gets so far."""
    clock = Clock()
    monkeypatch.setattr(watchdog, "time", clock)
    before = signal.getsignal(signal.SIGALRM)
    yield clock
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# Seconds; no test takes so long.
THRESHOLD_S = 1000


@pytest.fixture
def block(clock):
    """Return a function that keeps the loop for as long as the threshold."""

    def block():
        clock.tick()
        clock.tick(THRESHOLD_S)

    return block


def _run(loop, *steps):
    """Make each step in a turn of its own."""
    for step in steps:
        loop.add_callback(step)
        loop.add_callback(loop.stop)
        loop.start()


@pytest.fixture
def told(loop, clock):
    """Watch the loop; return a list of the functions that blocked it."""
    told = []
    loop.set_blocking_signal_threshold(
        THRESHOLD_S, lambda _, frame: told.append(_name(frame))
    )
    return told


def _name(frame):
    while frame.f_code.co_name in ("tick", "raise_signal"):
        frame = frame.f_back
    return frame.f_code.co_name


def test_blocked_loop_is_told_of_once_with_what_blocks_it(loop, clock, told):
    def block():
        clock.tick()
        clock.tick(THRESHOLD_S - 1)
        assert told == []
        clock.tick(1)
        assert told == ["block"]
        clock.tick(THRESHOLD_S)

    _run(loop, block)

    assert told == ["block"]


def test_loop_that_turns_in_time_is_not_told_of(loop, clock, told):
    def short():
        clock.tick(THRESHOLD_S - 1)

    _run(loop, *[short] * 10)

    assert told == []


def test_each_time_that_it_blocks_is_told_of(loop, clock, told, block):
    _run(loop, block, clock.tick, block)

    assert told == ["block", "block"]


def test_loop_that_does_not_run_is_not_told_of(loop, clock, told):
    running = []

    def turn():
        clock.tick()
        running.append(is_timer_running())

    _run(loop, turn)
    running.append(is_timer_running())
    clock.tick(THRESHOLD_S)
    _run(loop, turn)

    assert (running, told) == ([True, False, True], [])


def test_loop_that_sleeps_is_woken_to_answer(loop, clock, told):
    """The signal comes when the loop is about to sleep for long."""
    selector = loop.asyncio_loop._selector
    select, asked, alarmed = selector.select, [], []

    def select_after_signal(timeout):
        if len(asked) == 5:
            loop.stop()
        elif timeout:
            asked.append("asked")
            clock.tick(THRESHOLD_S)
        return select(timeout)

    selector.select = select_after_signal
    alarm = loop.call_later(5, lambda: (alarmed.append("alarm"), loop.stop()))
    loop.start()
    loop.remove_timeout(alarm)
    selector.select = select

    assert (told, alarmed, len(asked)) == ([], [], 5)


def test_loop_that_runs_already_is_watched_at_once(loop, block):
    told, running = [], []

    def begin():
        loop.set_blocking_signal_threshold(
            THRESHOLD_S, lambda _, frame: told.append(_name(frame))
        )
        running.append(is_timer_running())

    def end():
        loop.set_blocking_signal_threshold(None, None)
        running.append(is_timer_running())

    _run(loop, lambda: (begin(), block(), end()))

    assert (told, running) == (["block"], [True, False])


def test_timer_stops_when_the_loop_is_run_by_others_and_ends(loop, clock):
    """asyncio's own run_until_complete ends without a word to us."""

    async def main():
        loop.set_blocking_signal_threshold(THRESHOLD_S, print)

    loop.asyncio_loop.run_until_complete(main())
    clock.tick()

    assert not is_timer_running()


def test_action_may_raise_into_what_blocks(loop, clock):
    class Enough(Exception):
        pass

    def interrupt(_signum, _frame):
        raise Enough

    def block():
        with pytest.raises(Enough):
            for _ in range(100):
                clock.tick(1)
        seen.append(clock.now_s)

    seen = []
    loop.set_blocking_signal_threshold(10, interrupt)
    _run(loop, block)

    assert seen == [11]


def test_last_threshold_counts(loop, clock, told):
    others = []
    loop.set_blocking_signal_threshold(
        2 * THRESHOLD_S, lambda *_: others.append("told")
    )

    def block():
        clock.tick()
        clock.tick(THRESHOLD_S)
        assert others == []
        clock.tick(THRESHOLD_S)

    _run(loop, block)

    assert (told, others) == ([], ["told"])


def test_nested_loop_takes_over_the_timer_and_gives_it_back(loop, clock):
    watches = [Watch(loop.asyncio_loop, THRESHOLD_S, print) for _ in range(2)]
    for watch in watches:
        watch.begin()

    watches[0].end()
    running = is_timer_running()
    watches[1].end()

    assert (running, is_timer_running()) == (True, False)


def test_timer_is_due_several_times_within_the_threshold(loop, clock):
    Watch(loop.asyncio_loop, 400, print).begin()

    left_s, interval_s = signal.getitimer(signal.ITIMER_REAL)

    assert interval_s == pytest.approx(100, rel=0.01)
    assert left_s <= interval_s + 0.01


def test_none_ends_it(loop, clock, told):
    def block():
        clock.tick()
        loop.set_blocking_signal_threshold(None, None)
        clock.tick(THRESHOLD_S)

    _run(loop, block, block)

    assert told == []
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_ignoring_action_does_nothing(loop, block):
    running = []
    loop.set_blocking_signal_threshold(THRESHOLD_S, signal.SIG_IGN)
    _run(loop, lambda: (block(), running.append(is_timer_running())))

    assert running == [True]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_threshold_that_is_not_positive_is_refused(loop, seconds):
    before = signal.getsignal(signal.SIGALRM)

    with pytest.raises(ValueError, match="give a positive number, or None"):
        loop.set_blocking_signal_threshold(seconds, print)
    loop.add_callback(loop.stop)
    loop.start()

    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_threads_are_refused(loop):
    with (
        concurrent.futures.ThreadPoolExecutor(1) as thread,
        pytest.raises(RuntimeError, match="only the main thread receives signals"),
    ):
        thread.submit(loop.set_blocking_signal_threshold, 1, print).result()


def test_system_without_timer_signals_is_refused(loop, monkeypatch):
    monkeypatch.setattr(watchdog, "signal", types.SimpleNamespace())

    with pytest.raises(RuntimeError, match=rf"{sys.platform} has no signal\.setitimer"):
        Watch(loop.asyncio_loop, 1, print)


def test_threshold_is_logged_with_the_stack(loop, block, caplog):
    loop.set_blocking_log_threshold(THRESHOLD_S)
    _run(loop, block)
    loop.set_blocking_log_threshold(None)

    [record] = caplog.records
    assert (record.name, record.levelname) == ("tornado.general", "WARNING")
    first, *stack = record.getMessage().splitlines()
    assert first == f"IOLoop blocked for {THRESHOLD_S:.6f} seconds in"
    assert any(line.endswith(", in block") for line in stack)


def test_overridden_log_stack_is_called(loop, block):
    stacks = []
    loop.log_stack = lambda signum, frame: stacks.append((signum, _name(frame)))
    loop.set_blocking_log_threshold(THRESHOLD_S)
    _run(loop, block)

    assert stacks == [(signal.SIGALRM, "block")]


# With the system's timer, in processes of their own, which end by themselves.


def _script(source):
    head = """
        import logging, signal, time
        from gencoro.ioloop import IOLoop
        loop = IOLoop(make_current=False)
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(source)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("wait", ["time.sleep(0.3)", "pass"])
def test_timer_finds_who_blocks(wait):
    # A busy machine may keep the loop too; so it is blocked again and again.
    done = _script(f"""
        def block(tries):
            until = time.monotonic() + 1
            while "block" not in seen and time.monotonic() < until:
                {wait}
            if "block" in seen or not tries:
                loop.stop()
            else:
                loop.add_callback(block, tries - 1)

        seen = []
        loop.set_blocking_signal_threshold(
            0.05, lambda signum, frame: seen.append(frame.f_code.co_name)
        )
        loop.add_callback(block, 20)
        loop.start()
        loop.close()
        print(seen[-1])
    """)

    assert (done.returncode, done.stdout, done.stderr) == (0, "block\n", "")


@pytest.mark.parametrize("action", ["None", "signal.SIG_DFL"])
def test_default_action_ends_the_process(action):
    done = _script(f"""
        loop.set_blocking_signal_threshold(0.05, {action})
        loop.add_callback(time.sleep, 50)
        loop.start()
    """)

    assert done.returncode == -signal.SIGALRM
