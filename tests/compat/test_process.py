"""tornado.process and tornado.autoreload as code of Tornado 2 to 5 uses them."""

import os
import signal
import socket
import subprocess
import sys
import textwrap

import pytest
from tornado.ioloop import IOLoop
from tornado.process import Subprocess

from gencoro.legacy.contexts import ExceptionStackContext, StackContext
from gencoro.legacy.stack_context import _state
from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import called_back

PREFORKING = """
    import gencoro.compat
    gencoro.compat.install()
    import os, signal, sys
    from tornado.ioloop import IOLoop
    from tornado.netutil import TCPServer
    from tornado.process import task_id

    class WhoAmI(TCPServer):
        def handle_stream(self, stream, address):
            # One connection each, so that both are asked.
            self.stop()
            stream.write(str(task_id()).encode())
            stream.close()

    signal.alarm(120)
    if "early" in sys.argv:
        IOLoop.instance()
    server = WhoAmI()
    server.bind(0, "127.0.0.1")
    print(server._pending_sockets[0].getsockname()[1], flush=True)
    server.start(2)
    IOLoop.instance().start()
"""


@pytest.fixture
def uninitialized(loop):
    """Take the signal handler away."""
    yield
    Subprocess.uninitialize()


@uses("tornado.process.fork_processes")
@pytest.mark.parametrize("args", [[], ["early"]])
def test_preforking_server(args):
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PREFORKING), *args],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    answers = set()
    try:
        port = int(program.stdout.readline())
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port), 60) as client:
                client.settimeout(60)
                answers.add(client.recv(10))
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()

    assert answers == {b"0", b"1"}


@uses("tornado.process.Subprocess.__init__")
def test_subprocess_on_another_loop(loop, other_loop, uninitialized):
    process = Subprocess(
        [sys.executable, "-c", "print(1)"],
        stdout=Subprocess.STREAM,
        io_loop=other_loop,
    )

    assert process.io_loop is process.stdout.io_loop is other_loop
    assert other_loop.run_sync(process.stdout.read_until_close).strip() == b"1"
    process.proc.wait()


@uses(
    "tornado.process.Subprocess.initialize",
    "tornado.process.Subprocess.set_exit_callback",
    "tornado.process.Subprocess.uninitialize",
)
def test_exit_callback_on_another_loop(loop, other_loop):
    Subprocess.initialize(io_loop=other_loop)
    process = Subprocess([sys.executable, "-c", "exit(3)"], io_loop=other_loop)

    assert called_back(other_loop, process.set_exit_callback) == 3
    assert IOLoop.current() is loop
    Subprocess.uninitialize()
    assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL


@pytest.mark.parametrize("given", [False, True])
def test_initialize_by_position(loop, uninitialized, given):
    Subprocess.initialize(loop if given else None)
    process = Subprocess([sys.executable, "-c", ""])

    assert called_back(loop, process.set_exit_callback) == 0


def test_exit_callback_within_the_callers_contexts(loop, uninitialized):
    seen = []

    class Named:
        def __enter__(self):
            seen.append("enter")

        def __exit__(self, *exc_info):
            seen.append("leave")

    def handle(_type, error, _traceback):
        seen.append(repr(error))
        loop.stop()
        return True

    with ExceptionStackContext(handle), StackContext(Named):
        process = Subprocess([sys.executable, "-c", "exit(3)"])
        process.set_exit_callback(lambda code: 1 / (code - 3))
    seen.clear()
    timeout = loop.call_later(60, loop.stop)
    loop.start()
    loop.remove_timeout(timeout)

    assert seen == ["enter", "leave", "ZeroDivisionError('division by zero')"]


def test_signal_handler_runs_outside_of_all_contexts(loop, uninitialized, monkeypatch):
    seen = []
    monkeypatch.setattr(Subprocess, "_cleanup", lambda: seen.append(_state.contexts))
    with ExceptionStackContext(lambda *exc_info: True):
        Subprocess.initialize()
    os.kill(os.getpid(), signal.SIGCHLD)
    loop.call_later(60, loop.stop)
    while not seen:
        loop.add_callback(loop.stop)
        loop.start()

    assert seen == [((), None)]


@uses("tornado.autoreload.start")
@pytest.mark.parametrize("by_name", [False, True])
def test_autoreload_on_another_loop(loop, other_loop, by_name, tmp_path, monkeypatch):
    from tornado import autoreload

    monkeypatch.setattr(autoreload, "_watched_files", {str(tmp_path / "watched")})
    monkeypatch.setattr(autoreload, "_io_loops", {})
    (tmp_path / "watched").write_text("1")
    seen = []

    def check(modify_times):
        seen.append(IOLoop.current())
        IOLoop.current().stop()

    monkeypatch.setattr(autoreload, "_reload_on_update", check)
    if by_name:
        autoreload.start(io_loop=other_loop, check_time=1)
    else:
        autoreload.start(other_loop, 1)
    other_loop.start()

    assert seen == [other_loop]
    assert list(autoreload._io_loops) == [other_loop]


def test_autoreload_on_the_current_loop(loop, monkeypatch):
    from tornado import autoreload

    monkeypatch.setattr(autoreload, "_io_loops", {})
    monkeypatch.setattr(autoreload, "_reload_on_update", lambda _times: loop.stop())
    autoreload.start(None, 1)
    loop.start()
    autoreload.start(1)

    assert list(autoreload._io_loops) == [loop]
