"""A process that is woken up loses nothing."""

import os
import signal

import pytest

from gencoro.introspect.remote.waking import Waker

from .conftest import on_linux

pytestmark = on_linux

ROUNDS = 100


def test_signal_that_comes_while_a_process_is_woken_up_reaches_it(start):
    target = start("""
        signal.signal(signal.SIGUSR2, lambda *_: ready())
        ready()
        while True:
            time.sleep(3600)
    """)
    waker = Waker(target.pid)

    for _ in range(ROUNDS):
        target.process.send_signal(signal.SIGUSR2)
        waker.wake_up()
        assert target.read() == "ready"


@pytest.mark.parametrize(
    "waiting", ["sys.stdin.readline()", "select.select([0], [], [])", "lock.acquire()"]
)
def test_process_that_is_woken_up_goes_on_waiting(start, waiting):
    target = start(f"""
        lock = threading.Lock()
        lock.acquire()
        signal.signal(signal.SIGUSR2, lambda *_: lock.release())
        ready()
        {waiting}
        print("over", flush=True)
    """)
    waker = Waker(target.pid)
    for _ in range(ROUNDS):
        waker.wake_up()

    target.process.send_signal(signal.SIGUSR2)
    target.write("go on")

    assert target.read() == "over"


def test_process_that_has_ended_is_not_woken_up(start):
    target = start("ready()")
    target.process.wait()

    Waker(target.pid).wake_up()


def test_process_that_ends_meanwhile_is_left(start):
    target = start("ready(); sys.stdin.readline()")
    waker = Waker(target.pid)
    waker._attach()

    # Not Popen.kill(), which would take the stop for the end of the process.
    os.kill(target.pid, signal.SIGKILL)
    waker.wake_up()

    assert target.read() == ""
