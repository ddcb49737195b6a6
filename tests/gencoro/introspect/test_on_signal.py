"""The report on a signal, in this process and in stuck ones."""

import concurrent.futures
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gencoro import gen
from gencoro.introspect import install_signal, on_signal

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGUSR1"), reason="signals as POSIX has them"
)


@pytest.fixture
def dumps():
    """Have SIGUSR1 write to a text, and return that."""
    file = io.StringIO()
    uninstall = install_signal(file=file)
    yield file
    uninstall()


def test_signal_writes_what_runs_and_who_waits_for_whom(dumps, loop):
    @gen.coroutine
    def nap():
        yield gen.sleep(60)

    @gen.coroutine
    def main():
        held = nap()
        yield gen.moment
        signal.raise_signal(signal.SIGUSR1)
        del held

    loop.run_sync(main)

    # What other tests have left may be in the tree too.
    head, steps, tree = dumps.getvalue().split("\n\n", 2)
    assert head.startswith(f"Process {os.getpid()} at ")
    assert steps.startswith("MainThread runs:\nmain() at ")
    assert re.search(
        r"^main\(\) at .*: running\nnap\(\) at .*: sleep, ", tree, re.MULTILINE
    )


def test_uninstalling_puts_back_what_was_before():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append("before"))
    try:
        file = io.StringIO()
        install_signal(file=file)()
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert heard == ["before"]
    assert file.getvalue() == ""


def test_uninstalling_leaves_the_signal_to_who_took_it_over():
    def taken_over(_signum, _frame):
        pass

    uninstall = install_signal(file=io.StringIO())
    before = signal.signal(signal.SIGUSR1, taken_over)
    uninstall()
    after = signal.signal(signal.SIGUSR1, signal.SIG_DFL)

    assert before != after
    assert after is taken_over


def test_other_thread_is_refused():
    with (
        concurrent.futures.ThreadPoolExecutor(1, "helper") as thread,
        pytest.raises(RuntimeError, match="was called on helper.*main thread"),
    ):
        thread.submit(install_signal).result()


def test_system_without_the_signal_is_told(monkeypatch):
    monkeypatch.delattr(signal, "SIGUSR1")

    with pytest.raises(RuntimeError, match="found no SIGUSR1"):
        install_signal()


def test_file_that_cannot_be_written_does_not_strike_the_program(tmp_path):
    class Broken(io.StringIO):
        def write(self, _text):
            raise RuntimeError

    closed = (tmp_path / "closed").open("w")
    closed.close()
    for file in [Broken(), closed]:
        uninstall = install_signal(file=file)
        signal.raise_signal(signal.SIGUSR1)
        uninstall()


def test_error_in_the_report_is_reported_and_not_raised(dumps, monkeypatch):
    monkeypatch.setattr(on_signal, "take_snapshot", None)

    signal.raise_signal(signal.SIGUSR1)

    assert "TypeError: 'NoneType' object is not callable" in dumps.getvalue()


def test_signal_that_comes_while_it_is_answered_is_dropped(monkeypatch):
    class Impatient(io.StringIO):
        def write(self, text):
            signal.raise_signal(signal.SIGUSR1)
            return super().write(text)

    file = Impatient()
    uninstall = install_signal(file=file)
    signal.raise_signal(signal.SIGUSR1)
    uninstall()

    assert file.getvalue().count("Process ") == 1


def test_other_signal_and_file_bypassing_its_buffer(
    tmp_path,
):
    with (tmp_path / "dump").open("w+", encoding="ascii") as file:
        uninstall = install_signal(signal.SIGUSR2, file)
        signal.raise_signal(signal.SIGUSR2)
        uninstall()

        assert "MainThread runs" in (tmp_path / "dump").read_text()
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL


HEAD = """
import asyncio, functools, itertools, sys, threading, time
from gencoro import gen
from gencoro.introspect import install_signal, on_signal
from gencoro.ioloop import IOLoop

install_signal()
loop = IOLoop.current()

# Without a frame of its own, which the signal might find.
ready = functools.partial(print, "ready", flush=True)

@gen.coroutine
def wait_for(yielded):
    yield yielded
"""


class Stuck:
    """A process that runs a script until it is stuck."""

    def __init__(self, script):
        self.script = HEAD + textwrap.dedent(script)
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def wait_until_it_sleeps(self):
        """Wait until the main thread waits: without the GIL, it spins for a lock at first.

        On Python 3.13, a signal that comes then does not end the wait for the lock.
        """
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.exists() and " R " in stat.read_text():
            pass

    def at(self, code):
        """Return a line of the script as reports name it."""
        lines = [line.strip() for line in self.script.splitlines()]
        return f"at <string>:{lines.index(code) + 1}"

    def asked(self, threads=1):
        """Send the signal; return what is said of the threads, and the tree."""
        self.process.send_signal(signal.SIGUSR1)
        paragraphs = [[]]
        while len(paragraphs) < threads + 3:
            line = self.process.stderr.readline()
            assert line, "the process has ended"
            if line == "\n":
                paragraphs.append([])
            else:
                paragraphs[-1].append(line)
        return ["".join(paragraph) for paragraph in paragraphs[1:-1]]


@pytest.fixture
def stuck():
    """Start a script that prints "ready" when it is about to be stuck."""
    started = []

    def start(script):
        started.append(Stuck(script))
        return started[-1]

    yield start
    for one in started:
        with one.process as process:
            process.kill()


def test_process_that_waits_for_events_answers_and_goes_on(stuck):
    process = stuck("""
        future = asyncio.Future(loop=loop.asyncio_loop)

        def read():
            future.set_result(sys.stdin.readline())

        loop.add_handler(sys.stdin, lambda *_: read(), IOLoop.READ)
        loop.call_later(0, ready)
        loop.run_sync(lambda: wait_for([wait_for(future)]))
        print("done", flush=True)
    """)

    _, tree = process.asked()
    process.process.stdin.write("go on\n")
    process.process.stdin.close()

    each = f"wait_for() {process.at('yield yielded')}"
    assert tree == f"{each}: list, 0 of 1 done\n'-- [0] {each}: a Future\n"
    assert process.process.stdout.readline() == "done\n"
    assert process.process.wait() == 0


@pytest.mark.parametrize(
    "step",
    [
        "for _ in itertools.cycle([ready()]): pass",
        "ready(); time.sleep(3600)",
        "ready(); sys.stdin.read()",
        "ready(); lock.acquire()",
    ],
)
def test_process_in_a_long_step_names_its_line(stuck, step):
    process = stuck(f"""
        lock = threading.Lock()
        lock.acquire()

        def crunch():
            {step}

        @gen.coroutine
        def main():
            yield gen.moment
            crunch()

        loop.run_sync(main)
    """)

    if "lock" in step:
        process.wait_until_it_sleeps()
    told, tree = process.asked()

    main, crunch = process.at("crunch()"), process.at(step)
    assert told == f"MainThread runs:\nmain() {main}\n-> crunch() {crunch}\n"
    assert tree == f"main() {main}: running\n"


def test_process_whose_loop_is_on_another_thread(stuck):
    process = stuck("""
        async def main():
            asyncio.get_running_loop().call_soon(ready)
            await wait_for(asyncio.Future())

        thread = threading.Thread(target=asyncio.run, args=[main()], name="other")
        thread.start()
        thread.join()
    """)

    main_step, other_step, tree = process.asked(threads=2)

    assert main_step.startswith("MainThread runs no coroutine: ")
    assert other_step.startswith("other runs")
    main, inner = (
        process.at("await wait_for(asyncio.Future())"),
        process.at("yield yielded"),
    )
    assert tree == f"main() {main} (Task-1)\n-> wait_for() {inner}: a Future\n"
