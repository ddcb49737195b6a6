"""The report on a signal, in this process; `remote.test_stuck` has stuck ones."""

import concurrent.futures
import io
import os
import re
import signal

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
