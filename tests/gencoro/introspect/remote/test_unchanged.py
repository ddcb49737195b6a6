"""Examining a process does not change it."""

import asyncio
import os
import signal
import sys

import pytest

from gencoro.introspect import install_signal, snapshot
from gencoro.introspect.mailbox import NAME
from gencoro.introspect.remote import script
from gencoro.introspect.remote.attach import look_at
from gencoro.introspect.remote.process import Process, RemoteError

from .conftest import GENCORO, PREPARED, needs_scripts, on_linux

pytestmark = on_linux

# Prints its threads, files, signal handlers and so on when it reads a line.
MIRROR = """
def told():
    asyncio.get_running_loop().call_later(0.001, lambda: None)
    files = [os.readlink(f"/dev/fd/{name}") for name in sorted(os.listdir("/dev/fd"))[:-1]]
    handlers = [signal.getsignal(one) for one in signal.valid_signals()]
    return [threading.enumerate(), files, handlers, gc.isenabled(),
        signal.pthread_sigmask(signal.SIG_BLOCK, []), sys.gettrace(), sys.path]

def read():
    if sys.stdin.readline() == "end\\n":
        future.set_result(None)
    print(told(), flush=True)

async def main():
    global future
    future = asyncio.Future()
    loop = asyncio.get_running_loop()
    loop.add_reader(0, read)
    loop.call_soon(ready)
    await future

import gc
asyncio.run(main())
"""


@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_process_goes_on_unchanged(start_each_way, gencoro, tmp_path, command):
    target = start_each_way(MIRROR)
    target.write("tell")
    before = target.read()

    for _ in range(2):
        ended = gencoro(command, target.pid, env={"TMPDIR": str(tmp_path)})
        assert ended.status == 0, ended.err
    target.write("tell")
    after = target.read()
    target.write("end")

    assert after == before
    assert os.listdir(tmp_path) == []
    assert target.process.wait() == 0
    assert target.process.stderr.read() == ""


# Does not handle what comes until it has read a line.
DEAF = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
ready()
sys.stdin.readline()
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
ready()
sys.stdin.readline()
ready()
sys.stdin.readline()
"""


def test_late_request_is_withdrawn(start, gencoro):
    target = start(DEAF, PREPARED)

    ended = gencoro("pstree", target.pid, "--timeout", 0.2)
    target.write("listen")
    assert target.read() == "ready"
    target.process.send_signal(signal.SIGUSR1)
    report = target.process.stderr.readline()
    target.process.kill()

    assert ended.status == 1
    assert "did not handle signal" in ended.err
    assert "in state S (sleeping)" in ended.err
    assert report.startswith(f"Process {target.pid} at ")
    assert target.process.stderr.read().count("Process ") == 0


@needs_scripts
def test_script_that_was_not_run_in_time_is_withdrawn(start, gencoro, tmp_path):
    target = start("""
        def read():
            sys.stdin.readline()
            lock.release()

        async def main():
            lock.acquire()
            threading.Thread(target=read).start()
            ready()
            lock.acquire()

        lock = threading.Lock()
        asyncio.run(main())
    """)

    ended = gencoro("ps", target.pid, "--timeout", 0.3, env={"TMPDIR": str(tmp_path)})
    target.write("go on")

    assert ended.status == 1
    assert os.listdir(tmp_path) == []
    assert target.process.wait() == 0
    assert target.process.stderr.read() == ""


@pytest.mark.parametrize("uninstalled", [[], [0], [1], [0, 1]])
def test_handlers_of_one_signal_share_the_mailbox(start, gencoro, uninstalled):
    target = start(
        f"""
        uninstall = [install_signal(), install_signal()]
        for number in {uninstalled}:
            uninstall[number]()
        ready()
        time.sleep(3600)
        """,
        PREPARED,
    )

    assert gencoro("pstree", target.pid).tree() == "no coroutine is suspended"


def test_signal_without_a_request_writes_the_report_as_before(start, gencoro):
    target = start(MIRROR, GENCORO, PREPARED)

    assert gencoro("pstree", target.pid).status == 0
    target.process.send_signal(signal.SIGUSR1)

    assert target.process.stderr.readline().startswith(f"Process {target.pid} at ")


def test_child_that_shares_the_mailbox_answers_for_itself(start, gencoro):
    target = start(
        """
        # Until a child says so itself, it may lose a signal: fork() forgets those that wait.
        if os.fork() == 0:
            print("ready", os.getpid(), flush=True)
        signal.pause()
        """,
        PREPARED,
        base="import os, signal, functools\nprint('ready', flush=True)\n",
    )
    child = int(target.read().split()[1])
    try:
        for pid in [child, target.pid]:
            document = gencoro("ps", pid, "--json").json()
            assert document["process"]["pid"] == pid
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("closes", [True, False])
def test_file_that_took_the_number_of_the_mailbox_is_left_alone(tmp_path, closes):
    report, other = (tmp_path / "report").open("w"), (tmp_path / "other").open("w+")
    with report, other:
        uninstall = install_signal(file=report)
        [number] = [
            int(name)
            for name in os.listdir("/dev/fd")
            if NAME in os.path.realpath(f"/dev/fd/{name}")
        ]
        other.write("ask? 1")
        other.flush()
        if closes:
            os.close(number)
        else:
            os.dup2(other.fileno(), number)
        signal.raise_signal(signal.SIGUSR1)
        uninstall()

    assert (tmp_path / "other").read_text() == "ask? 1"
    assert "MainThread runs" in (tmp_path / "report").read_text()
    if not closes:
        os.close(number)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_error_of_a_signal_handler_is_raised_after_the_script(
    tmp_path, monkeypatch, raised
):
    def interrupted(*_arguments):
        raise raised

    async def main():
        script.answer(str(tmp_path / "answer"), 1, 1.0, sys._getframe())
        await asyncio.sleep(60)

    (tmp_path / "answer").touch()
    monkeypatch.setattr(snapshot, "answer_to", interrupted)

    with pytest.raises(raised):
        asyncio.run(main())


def test_script_creates_no_file(tmp_path):
    script.answer(str(tmp_path / "answer"), 1, 1.0, sys._getframe())

    assert os.listdir(tmp_path) == []


def test_process_that_ends_meanwhile_is_told(start, monkeypatch):
    target = start(DEAF, PREPARED)
    wait = Process.wait

    def wait_for_the_end(self, seconds):
        target.process.kill()
        wait(self, 60)

    monkeypatch.setattr(Process, "wait", wait_for_the_end)

    with pytest.raises(RemoteError, match="ended while it was examined"):
        look_at(target.pid, 10, 60)
