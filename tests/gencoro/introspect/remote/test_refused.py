"""Error messages for processes that cannot be examined."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gencoro.introspect.remote import attach
from gencoro.introspect.remote.decoding import decoded
from gencoro.introspect.remote.process import Process, RemoteError
from tests.helpers.fuzzing import examples

from .conftest import PREPARED, needs_scripts, on_linux

pytestmark = on_linux

WAITS = "ready(); time.sleep(3600)"

# It becomes another user after the imports, which that user may not be allowed to read.
LOOK_AS_ANOTHER_USER = """
import os, sys
from gencoro.introspect.remote import attach
from gencoro.introspect.remote.process import RemoteError

os.setgid(65534)
os.setuid(65534)
try:
    attach.look_at(int(sys.argv[1]), 10, 2.0)
except RemoteError as exc:
    print(exc)
"""


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "3600"]) as process:
        yield process
        process.kill()


def refusal(gencoro, pid):
    ended = gencoro("pstree", pid)
    assert ended.status == 1
    assert ended.out == ""
    return ended.err


def test_number_without_a_process(gencoro, sleeper):
    sleeper.kill()
    sleeper.wait()

    assert f"there is no process {sleeper.pid}" in refusal(gencoro, sleeper.pid)
    assert "there is no process 99999999999" in refusal(gencoro, 99999999999)


def test_process_that_does_not_run_python(gencoro, sleeper):
    assert f"process {sleeper.pid} does not run CPython" in refusal(
        gencoro, sleeper.pid
    )


def test_process_that_has_ended_but_was_not_waited_for(gencoro, sleeper):
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)

    assert f"process {sleeper.pid} has ended" in refusal(gencoro, sleeper.pid)


def test_process_that_is_stopped(gencoro, start):
    target = start(WAITS)
    target.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)

    assert f"`kill -CONT {target.pid}`" in refusal(gencoro, target.pid)


def test_thread_is_not_a_process(gencoro):
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)
    thread.start()

    told = refusal(gencoro, thread.native_id)

    ends.set()
    thread.join()
    assert f"{thread.native_id} is a thread of process {os.getpid()}" in told


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("heads", [[], [PREPARED]], ids=["unprepared", "prepared"])
def test_process_of_another_user(start, heads):
    target = start(WAITS, *heads)
    ended = subprocess.run(
        [sys.executable, "-c", LOOK_AS_ANOTHER_USER, str(target.pid)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "belongs to the user root; run this as" in ended.stdout, ended.stderr


@pytest.mark.skipif(hasattr(sys, "remote_exec"), reason="needs no preparation")
def test_process_that_is_not_prepared_is_told_how(gencoro, start):
    target = start(WAITS)

    told = refusal(gencoro, target.pid)

    assert "has not called install_signal(); call gencoro.introspect." in told
    assert f"`py-spy dump --pid {target.pid}`" in told


@needs_scripts
def test_process_that_forbids_scripts_is_told(gencoro, start):
    target = start(WAITS, PYTHON_DISABLE_REMOTE_DEBUG="1")

    assert f"cannot run a script in process {target.pid}: " in refusal(
        gencoro, target.pid
    )


@needs_scripts
def test_process_that_sees_other_files_is_told(start, monkeypatch):
    target = start(WAITS)
    monkeypatch.setattr(Process, "sees", lambda _self, _path: False)

    with pytest.raises(RemoteError, match="run this in the same container"):
        attach.look_at(target.pid, 10, 2.0)


def test_process_of_another_python_is_told_which(start, monkeypatch):
    target = start(WAITS)
    monkeypatch.setattr(attach, "OWN_PYTHON", "3.99")
    monkeypatch.setattr(attach, "FIRST_WITH_SCRIPTS", (3, 11))

    with pytest.raises(RemoteError, match=r"run this command with Python 3\.1\d"):
        attach.look_at(target.pid, 10, 2.0)


def test_signal_that_would_end_the_process_is_not_sent(gencoro, start):
    target = start("signal.signal(signal.SIGUSR1, signal.SIG_DFL); " + WAITS, PREPARED)

    assert "the signal would end the process" in refusal(gencoro, target.pid)
    assert target.process.poll() is None


@pytest.mark.parametrize("option", [["--limit", "0"], ["--timeout", "nan"], ["x"]])
def test_option_that_makes_no_sense(gencoro, option):
    ended = gencoro("ps", 1, *option)

    assert ended.status == 2
    assert "--help`" in ended.err


TOP = ("nodes", "threads", "loops", "process", "not_examined")
FIELDS = (
    "id",
    "kind",
    "calls",
    "text",
    "waits_for",
    "name",
    "runs",
    "at",
    "title",
    "nodes",
)
PARTS = st.recursive(
    st.none() | st.integers(-2, 3) | st.just(float("inf")) | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=5) | st.dictionaries(st.sampled_from(FIELDS), part)
    ),
    max_leaves=20,
)
ANSWERS = st.fixed_dictionaries({name: PARTS for name in TOP})


@settings(max_examples=examples(30))
@given(st.text() | (ANSWERS | PARTS).map(json.dumps))
def test_answer_that_makes_no_sense_raises_one_error(text):
    try:
        decoded(text)
    except RemoteError:
        pass
