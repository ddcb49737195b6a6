"""tornado.ioloop and tornado.platform as code of Tornado 2 to 5 uses them."""

import os
import select
import socket
import subprocess
import sys
import threading

import pytest
from tornado.ioloop import IOLoop as EarlyIOLoop

import gencoro.ioloop
from tests.helpers.compat.rows import uses


@pytest.fixture
def program_loop(loop):
    """A loop of the program, forgotten at the end."""
    from tornado.ioloop import IOLoop

    IOLoop.clear_instance()
    yield loop
    IOLoop.clear_instance()


@uses(
    "tornado.ioloop.IOLoop.instance",
    "tornado.ioloop.IOLoop.initialized",
    "tornado.ioloop.IOLoop.install",
    "tornado.ioloop.IOLoop.clear_instance",
    "tornado.ioloop.IOLoop.current",
)
def test_the_loop_of_the_program(program_loop):
    from tornado.ioloop import IOLoop

    assert not IOLoop.initialized()
    program_loop.install()
    assert IOLoop.initialized()
    assert IOLoop.instance() is program_loop
    assert IOLoop.current() is program_loop

    seen = []
    thread = threading.Thread(target=lambda: seen.append(IOLoop.instance()))
    thread.start()
    thread.join()
    assert seen == [program_loop]
    IOLoop.clear_instance()
    assert not IOLoop.initialized()


def test_thread_with_a_loop_of_its_own_gets_the_programs(program_loop):
    """So it brings its results home."""
    from tornado.ioloop import IOLoop

    seen = []

    def work():
        own = IOLoop()
        own.make_current()
        own.run_sync(lambda: seen.append(IOLoop.current() is own))
        IOLoop.instance().add_callback(program_loop.stop)
        IOLoop.clear_current()
        own.close()

    program_loop.install()
    thread = threading.Thread(target=work)
    program_loop.add_callback(thread.start)
    program_loop.start()
    thread.join()

    assert seen == [True]


@uses("tornado.ioloop.IOLoop.make_current", "tornado.ioloop.IOLoop.clear_current")
@pytest.mark.filterwarnings("error")
def test_current_loop_is_chosen_without_a_warning(loop):
    from tornado.ioloop import IOLoop

    other = IOLoop(make_current=False)
    other.make_current()
    assert IOLoop.current() is other
    IOLoop.clear_current()
    assert IOLoop.current() is loop
    other.close()


def test_tornados_class_stays(loop):
    from tornado.ioloop import IOLoop

    assert IOLoop is EarlyIOLoop
    assert EarlyIOLoop.instance() is loop
    assert isinstance(loop, EarlyIOLoop)


@uses("tornado.platform.asyncio.BaseAsyncIOLoop.initialize")
def test_every_loop_that_is_made_is_ours(compat):
    from tornado.ioloop import IOLoop
    from tornado.platform.asyncio import AsyncIOLoop

    for cls in (IOLoop, AsyncIOLoop):
        loop = cls(make_current=False)
        assert isinstance(loop, gencoro.ioloop.IOLoop)
        loop.close()


@uses(
    "tornado.ioloop.PollIOLoop",
    "tornado.platform.epoll.EPollIOLoop",
    "tornado.platform.kqueue",
    "tornado.platform.kqueue.KQueueIOLoop",
    "tornado.platform.select",
    "tornado.platform.select.SelectIOLoop",
)
def test_loops_of_other_names(compat):
    from tornado.ioloop import IOLoop, PollIOLoop
    from tornado.platform.epoll import EPollIOLoop
    from tornado.platform.kqueue import KQueueIOLoop
    from tornado.platform.select import SelectIOLoop

    for cls in (PollIOLoop, EPollIOLoop, KQueueIOLoop, SelectIOLoop):
        loop = cls(make_current=False)
        assert loop.run_sync(lambda: None) is None
        loop.close()
    fixed = PollIOLoop(time_func=lambda: 42.0, make_current=False)
    assert fixed.time() == 42.0
    fixed.close()

    IOLoop.configure("tornado.platform.epoll.EPollIOLoop")
    try:
        loop = IOLoop(make_current=False)
        assert isinstance(loop, EPollIOLoop)
        loop.close()
    finally:
        IOLoop.configure(None)


@uses("tornado.ioloop.IOLoop.handle_callback_exception")
def test_who_hears_of_errors_can_be_replaced(loop):
    heard = []
    loop.handle_callback_exception = lambda callback: heard.append(sys.exc_info()[0])

    loop.add_callback(lambda: 1 / 0)
    loop.add_callback(loop.stop)
    loop.start()

    assert heard == [ZeroDivisionError]


@uses("tornado.ioloop.IOLoop.running")
def test_running(loop):
    assert not loop.running()
    assert loop.run_sync(_started(loop.running))


def _started(function):
    async def main():
        return function()

    return main


@uses(
    "tornado.ioloop.IOLoop.set_blocking_log_threshold",
    "tornado.ioloop.IOLoop.set_blocking_signal_threshold",
    "tornado.ioloop.IOLoop.log_stack",
)
def test_a_loop_that_is_blocked_is_told(loop, caplog):
    frames = []

    def block():
        released = threading.Event()

        def act(signum, frame):
            frames.append(frame)
            loop.log_stack(signum, frame)
            released.set()

        loop.set_blocking_signal_threshold(0.05, act)
        while not released.is_set():
            pass
        loop.set_blocking_log_threshold(None)
        loop.stop()

    loop.set_blocking_log_threshold(10)
    loop.add_callback(block)
    loop.start()

    assert frames
    assert any("IOLoop blocked for" in r.getMessage() for r in caplog.records)


@uses("tornado.ioloop.PeriodicCallback")
def test_periodic_callback_takes_a_loop(loop):
    from tornado.ioloop import PeriodicCallback

    calls = []

    def call():
        calls.append(1)
        if len(calls) == 2:
            loop.stop()

    for args, kwargs in [((loop,), {}), ((), {"io_loop": loop})]:
        del calls[:]
        periodic = PeriodicCallback(call, 1, *args, **kwargs)
        periodic.start()
        loop.start()
        periodic.stop()
        assert periodic.io_loop is loop
    assert PeriodicCallback(call, 1, 0.5).jitter == 0.5


@uses(
    "tornado.ioloop.IOLoop._EPOLLIN",
    "tornado.ioloop.IOLoop._EPOLLPRI",
    "tornado.ioloop.IOLoop._EPOLLOUT",
    "tornado.ioloop.IOLoop._EPOLLERR",
    "tornado.ioloop.IOLoop._EPOLLHUP",
    "tornado.ioloop.IOLoop._EPOLLRDHUP",
    "tornado.ioloop.IOLoop._EPOLLONESHOT",
    "tornado.ioloop.IOLoop._EPOLLET",
)
@pytest.mark.skipif(not hasattr(select, "epoll"), reason="the system has no epoll")
def test_constants_of_epoll(compat):
    from tornado.ioloop import IOLoop

    for name in ("IN", "PRI", "OUT", "ERR", "HUP", "RDHUP", "ONESHOT", "ET"):
        ours = getattr(IOLoop, f"_EPOLL{name}")
        assert ours == getattr(select, f"EPOLL{name}") & 0xFFFFFFFF
    assert IOLoop.READ == IOLoop._EPOLLIN
    assert IOLoop.ERROR == IOLoop._EPOLLERR | IOLoop._EPOLLHUP


@uses("tornado.ioloop._POLL_TIMEOUT")
def test_poll_timeout(compat):
    from tornado import ioloop

    assert ioloop._POLL_TIMEOUT == 3600.0


@uses(
    "tornado.platform.auto",
    "tornado.platform.auto.monotonic_time",
    "tornado.platform.auto.set_close_exec",
    "tornado.platform.common",
    "tornado.platform.common.Waker",
    "tornado.platform.common.try_close",
    "tornado.platform.interface",
    "tornado.platform.interface.Waker",
    "tornado.platform.interface.monotonic_time",
    "tornado.platform.interface.set_close_exec",
    "tornado.platform.posix",
    "tornado.platform.posix.Waker",
    "tornado.platform.posix._set_nonblocking",
    "tornado.platform.posix.set_close_exec",
    "tornado.platform.windows",
    "tornado.platform.windows.set_close_exec",
    "tornado.ioloop.Waker",
)
def test_platforms(compat):
    from tornado import ioloop
    from tornado.platform import interface, posix, windows
    from tornado.platform.auto import Waker, monotonic_time, set_close_exec
    from tornado.platform.common import Waker as CommonWaker
    from tornado.platform.common import try_close

    assert CommonWaker is Waker is interface.Waker is posix.Waker is ioloop.Waker
    waker = Waker()
    waker.wake()
    assert select.select([waker], [], [], 5)[0] == [waker]
    waker.consume()
    assert select.select([waker], [], [], 0)[0] == []
    try_close(waker)

    left, right = socket.socketpair()
    with left, right:
        os.set_inheritable(left.fileno(), True)
        set_close_exec(left.fileno())
        assert not left.get_inheritable()
        posix._set_nonblocking(left.fileno())
        assert not os.get_blocking(left.fileno())
    assert posix.set_close_exec is windows.set_close_exec is interface.set_close_exec
    assert interface.monotonic_time() <= monotonic_time()


@uses(
    "tornado.util.PY3",
    "tornado.util.b",
    "tornado.util.cast",
    "tornado.util.is_finalizing",
    "tornado.util.u",
    "tornado.util.xrange",
    "tornado.escape.unichr",
)
def test_names_for_two_pythons(compat):
    from tornado.escape import unichr
    from tornado.util import PY3, b, cast, is_finalizing, u, xrange

    assert PY3
    assert (b("caf\xe9"), u("caf\xe9"), unichr(233)) == (b"caf\xe9", "café", "é")
    assert list(xrange(2)) == [0, 1]
    assert cast(int, "x") == "x"
    assert not is_finalizing()


def test_import_at_the_top_of_a_program_needs_no_loop():
    """Legacy modules make Futures and callbacks while they are imported."""
    source = """
import gencoro.compat; gencoro.compat.install()
from tornado import concurrent, ioloop
ready = concurrent.Future()
beat = ioloop.PeriodicCallback(lambda: ioloop.IOLoop.instance().stop(), 1)
loop = ioloop.IOLoop.instance()
beat.start()
ready.add_done_callback(lambda f: print("ready", f.result()))
loop.add_callback(ready.set_result, 42)
loop.start()
"""
    done = subprocess.run(
        [sys.executable, "-c", source],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ready 42\n", "")
