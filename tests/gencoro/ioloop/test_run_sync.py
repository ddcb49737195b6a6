"""`IOLoop.run_sync` that ends early: timeouts, Ctrl-C, SystemExit."""

import asyncio
import signal
import subprocess
import sys
import time
import traceback

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def answer():
    yield gen.moment
    return 42


# Time-outs


@gen.coroutine
def stuck():
    yield gen.sleep(60)


@gen.coroutine
def waits_for_stuck():
    yield stuck()


@pytest.mark.parametrize("timeout", [0.01, 0, -1])
def test_time_out_lets_the_coroutine_clean_up(loop, timeout):
    steps = []

    @gen.coroutine
    def main():
        try:
            yield gen.sleep(60)
        finally:
            yield gen.sleep(0.001)
            steps.append("cleaned up")

    with pytest.raises(TimeoutError, match=rf"timed out after {timeout} seconds"):
        loop.run_sync(main, timeout=timeout)

    assert steps == ["cleaned up"]


@pytest.mark.parametrize(
    "error", [GeneratorExit, type("Skipped", (BaseException,), {})]
)
def test_odd_error_before_the_first_yield_is_raised(loop, error):
    @gen.coroutine
    def main():
        raise error("odd")
        yield

    with pytest.raises(error, match="odd"):
        loop.run_sync(main, timeout=5)


@pytest.fixture
def little_patience(monkeypatch):
    """Wait but a moment for what was cancelled."""
    monkeypatch.setattr("gencoro.closing.CLEAN_UP_S", 0.01)


def test_timeout_ends_although_the_future_fails_to_cancel(
    little_patience, loop, caplog
):
    class Stubborn(gen.Future):
        def cancel(self, msg=None):
            raise ValueError("never")

    with pytest.raises(TimeoutError):
        loop.run_sync(Stubborn, timeout=0.01)

    assert "never" in caplog.text


def test_closed_loop_says_so():
    loop = IOLoop(make_current=False)
    loop.close()

    with pytest.raises(RuntimeError, match="on a loop that is closed"):
        loop.run_sync(answer)


@gen.coroutine
def waits_for_a_list():
    yield [answer(), waits_for_stuck(), gen.sleep(60)]


async def native():
    await waits_for_stuck()


def helper():
    yield native()


@gen.coroutine
def calls_a_helper():
    yield from helper()


@pytest.mark.parametrize(
    ("inner", "functions"),
    [
        (waits_for_a_list, ["waits_for_a_list"]),
        (calls_a_helper, ["calls_a_helper", "helper", "native"]),
    ],
)
def test_time_out_shows_native_coroutines_and_helpers_too(loop, inner, functions):
    @gen.coroutine
    def main():
        yield from inner()

    with pytest.raises(TimeoutError) as caught:
        loop.run_sync(main, timeout=0.01)

    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[names.index("main") + 1 :] == [*functions, "waits_for_stuck", "stuck"]


def test_coroutine_that_refuses_the_time_out_keeps_its_result(loop):
    @gen.coroutine
    def stubborn():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            return 42

    assert loop.run_sync(stubborn, timeout=0.01) == 42


@gen.coroutine
def refuses_for_ever():
    while True:
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            pass


def test_coroutine_that_refuses_the_time_out_for_ever_is_given_up(
    little_patience, loop, caplog
):
    with pytest.raises(TimeoutError, match=r"did not end when it was cance") as caught:
        loop.run_sync(refuses_for_ever, timeout=0.01)

    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == (
        "yield gen.sleep(60)"
    )
    assert "refuses_for_ever() pending" in str(caught.value)
    assert loop.run_sync(answer) == 42


def test_time_is_over_before_the_function_returns(loop):
    # It cannot be interrupted; what it returns is cancelled at once.
    def slow():
        time.sleep(0.05)
        return gen.sleep(60)

    with pytest.raises(TimeoutError):
        loop.run_sync(slow, timeout=0.01)


def test_plain_future_that_times_out_is_cancelled(loop):
    future = loop.asyncio_loop.create_future()

    with pytest.raises(TimeoutError):
        loop.run_sync(lambda: future, timeout=0.01)

    assert future.cancelled()


def test_time_out_is_forgotten_after_the_result(virtual_clock, loop):
    loop.run_sync(answer, timeout=0.01)

    assert loop.run_sync(lambda: gen.sleep(0.03)) is None


# Interrupts


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupt_waits_for_no_coroutine_that_refuses(
    little_patience, loop, interrupt
):
    def exits():
        raise interrupt

    @gen.coroutine
    def main():
        # Raised once only, and so in the loop's first run.
        loop.asyncio_loop.call_later(0.001, exits)
        yield refuses_for_ever()

    with pytest.raises(interrupt):
        loop.run_sync(main)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupt_raised_in_a_helper_coroutine_lets_main_clean_up(loop, interrupt):
    steps = []

    @gen.coroutine
    def helper():
        yield gen.moment
        raise interrupt

    @gen.coroutine
    def main():
        helper()
        try:
            yield gen.sleep(60)
        finally:
            steps.append("cleaned up")

    with pytest.raises(interrupt):
        loop.run_sync(main)

    assert steps == ["cleaned up"]


SCRIPT = """
import asyncio, os, signal, sys, time
from gencoro import gen
from gencoro.ioloop import IOLoop

def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)

@gen.coroutine
def main():
    IOLoop.current().call_later(0.01, ctrl_c)
    try:
        yield gen.sleep(60)
    finally:
        print("cleaning up", flush=True)
        try:
            {clean_up}
        except asyncio.CancelledError:
            print("cancelled again", flush=True)
        print("cleaned up", flush=True)

try:
    IOLoop.current().run_sync(main)
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.parametrize(
    ("clean_up", "cleaned_up"),
    [
        ("yield gen.sleep(0.01)", ["cleaned up"]),
        ("ctrl_c(); time.sleep(0.01)", []),
        ("IOLoop.current().call_later(0.05, ctrl_c); yield gen.sleep(60)", []),
    ],
    ids=["once", "twice", "twice, the loop sleeps"],
)
def test_ctrl_c_lets_main_clean_up_and_a_second_one_stops_at_once(clean_up, cleaned_up):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(clean_up=clean_up)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.stdout.splitlines() == ["cleaning up", *cleaned_up, "interrupted"]
    assert done.stderr == ""


@pytest.mark.parametrize("ended", [False, True])
def test_ctrl_c_in_the_last_step_or_after_it_is_not_lost(loop, ended):
    @gen.coroutine
    def main():
        yield gen.moment
        if ended:
            loop.add_callback(signal.raise_signal, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        loop.run_sync(main)


@pytest.mark.parametrize("refuses", [False, True])
def test_ctrl_c_after_the_time_out_is_not_taken_for_the_time_out(
    little_patience, loop, refuses
):
    @gen.coroutine
    def main():
        try:
            yield gen.sleep(60)
        finally:
            loop.add_callback(signal.raise_signal, signal.SIGINT)
            yield refuses_for_ever() if refuses else gen.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        loop.run_sync(main, timeout=0.01)


def test_ctrl_c_before_the_function_is_called_is_not_forgotten(loop, monkeypatch):
    # The signal arrives after the handler was installed and before the loop runs.
    run_forever = loop.asyncio_loop.run_forever
    reached = []

    def interrupted_run_forever():
        signal.raise_signal(signal.SIGINT)
        run_forever()

    @gen.coroutine
    def main():
        yield gen.sleep(0.01)
        reached.append("the end")

    monkeypatch.setattr(loop.asyncio_loop, "run_forever", interrupted_run_forever)
    with pytest.raises(KeyboardInterrupt):
        loop.run_sync(main)

    assert reached == []
