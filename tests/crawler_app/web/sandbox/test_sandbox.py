"""Calls in other processes: their results, their limits, and what ends them."""

import asyncio
import os
import pickle
import socket
import subprocess
import sys
import time

import pytest

from crawler_app.web import sandbox as sandbox_module
from crawler_app.web.sandbox import LimitExceeded, Sandbox, worker
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.memory import peak_below
from tests.helpers.scripts import is_running, wait_until

PAST_EVERY_LIMIT = {
    "Python code": "exec('while True: pass')",
    "C code": "__import__('re').match('(a+)+$', 'a' * 50 + 'b')",
    "memory": "bytes(300_000_000)",
    "crash": "__import__('os').abort()",
    "end": "__import__('os')._exit(75)",
}


@pytest.fixture
def sandbox():
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


@pytest.fixture
def call(sandbox):
    """Call a function in a sandbox."""
    loop = IOLoop(make_current=False)

    @gen.coroutine
    def call(function, *args):
        return (yield from sandbox.call(function, *args))

    yield lambda *args: loop.run_sync(lambda: call(*args))
    sandbox.close()
    loop.close()


def wait_for_end(pid):
    wait_until(lambda: not is_running(pid))


def test_calls_return_their_results_one_after_the_other(call):
    assert call(sum, [1, 2]) == 3
    assert call(bytes, 5_000_000) == bytes(5_000_000)
    assert call(len, bytes(5_000_000)) == 5_000_000
    assert call(os.getpid) == call(os.getpid) != os.getpid()


@pytest.mark.parametrize("source", PAST_EVERY_LIMIT.values(), ids=PAST_EVERY_LIMIT)
def test_call_that_goes_over_a_limit_ends_its_process_and_nothing_else(call, source):
    pid = call(os.getpid)

    with pytest.raises(LimitExceeded):
        call(eval, source)

    assert not is_running(pid)
    assert call(sum, [1, 2]) == 3


def test_limit_is_that_of_one_call_and_not_of_all(call):
    work = "exec('import time\\nwhile time.process_time() < {}: pass')"
    for until_s in (0.4, 0.7, 1.0, 1.3):
        call(eval, work.format(until_s))


def test_large_argument_is_copied_once(call):
    argument = bytes(20_000_000)

    # The buffer of pickle is half as large again.
    with peak_below(1.75 * len(argument)):
        assert call(len, argument) == len(argument)


def test_error_in_a_call_is_told_with_its_traceback(call):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call(divmod, 1, 0)

    assert call(sum, [1, 2]) == 3


def test_process_that_parses_imports_no_event_loop(call):
    parsers = "__import__('crawler_app.web.documents.html')"
    modules = call(eval, f"[{parsers}, list(__import__('sys').modules)][1]")

    assert "crawler_app.web.documents.html" in modules
    assert not set(modules) & {
        "asyncio",
        "tornado",
        "gencoro",
        "crawler_app.base.config",
    }


def short(text):
    return pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode()


def call_of(module, name, argument):
    """Return the pickle of a result that calls a function."""
    function = short(module) + short(name) + pickle.STACK_GLOBAL
    result = function + short(argument) + pickle.TUPLE1 + pickle.REDUCE
    return pickle.PROTO + b"\x04" + result + short("") + pickle.TUPLE2 + pickle.STOP


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("crawler_app.web.documents.reader", "contextlib.os.system"),
        ("crawler_app.web.documents.html", "Page"),
        ("builtins", "getattr"),
        ("builtins", "list"),
    ],
)
def test_process_that_was_taken_over_cannot_have_this_one_call_anything(
    call, tmp_path, module, name
):
    proof = tmp_path / "proof"
    sent = call_of(module, name, f"touch {proof}")
    # What runs in the process replaces what makes its replies.
    worker = "__import__('sys').modules['__main__']"
    call(eval, f"setattr({worker}, '_reply', lambda *_: {sent!r})")

    with pytest.raises(pickle.UnpicklingError, match="may not contain"):
        call(sum, [1, 2])

    assert not proof.exists()


def test_process_that_cannot_be_started_is_an_error(call, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(RuntimeError, match="exit status 1"):
        call(sum, [1])


def test_idle_process_that_was_killed_is_replaced(call):
    pid = call(os.getpid)
    os.kill(pid, 9)
    wait_for_end(pid)

    assert call(sum, [1, 2]) == 3


def test_calls_at_once_have_several_processes_but_not_more_than_a_few(
    sandbox, monkeypatch
):
    monkeypatch.setattr(sandbox_module, "MAX_PROCESSES", 2)

    @gen.coroutine
    def call():
        yield from sandbox.call(time.sleep, 0.05)
        return (yield from sandbox.call(os.getpid))

    @gen.coroutine
    def main():
        return (yield [call() for _ in range(6)])

    loop = IOLoop(make_current=False)
    assert len(set(loop.run_sync(main))) == 2
    sandbox.close()
    loop.close()


def test_cancelled_call_ends_its_process(sandbox):
    @gen.coroutine
    def call(function, *args):
        return (yield from sandbox.call(function, *args))

    async def main():
        pid = await call(os.getpid)
        sleeping = call(time.sleep, 60)
        await asyncio.sleep(0)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        assert not is_running(pid)
        next_pid = await call(os.getpid)
        sandbox.close()
        return next_pid

    assert not is_running(asyncio.run(main()))


REQUEST = pickle.dumps((bytes, (9,)))


@pytest.mark.parametrize("cut", [0, 1, 8, -1, None])
def test_process_whose_other_end_has_died_ends_without_a_word(cut):
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", worker.__file__],
            stdin=theirs,
            stderr=subprocess.PIPE,
        )
    ours.sendall((worker.LENGTH.pack(len(REQUEST)) + REQUEST)[:cut])
    ours.close()

    assert process.communicate() == (None, b"") and process.returncode == 0


def test_no_process_outlives_the_crawl_however_it_ends():
    program = (
        "import os; from gencoro import gen; from gencoro.ioloop import IOLoop\n"
        "from crawler_app.web.sandbox import Sandbox\n"
        "@gen.coroutine\n"
        "def main(): return (yield from Sandbox().call(os.getpid))\n"
        "print(IOLoop().run_sync(main), flush=True); os.kill(os.getpid(), 9)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    ).stdout

    wait_for_end(int(printed))
