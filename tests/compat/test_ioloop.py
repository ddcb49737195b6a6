"""tornado.ioloop and tornado.platform as code of Tornado 2 to 5 uses them."""

import asyncio
import functools
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


@uses("tornado.ioloop.IOLoop.install")
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


def test_loop_that_runs_on_a_thread_is_its_current_one(program_loop):
    """Also if Tornado has not met it yet: `asyncio.run` has made it."""
    from tornado.ioloop import IOLoop

    seen = []

    async def main():
        seen.append(IOLoop.current().asyncio_loop is asyncio.get_running_loop())

    program_loop.install()
    thread = threading.Thread(target=asyncio.run, args=[main()])
    thread.start()
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


@uses("tornado.platform.asyncio.BaseAsyncIOLoop.initialize")
@pytest.mark.parametrize("name", ["IOLoop", "PollIOLoop", "poller"])
def test_second_loop_does_not_become_current(loop, name):
    from tornado import ioloop

    poller = ioloop._Select() if name == "poller" else None
    new = functools.partial(
        ioloop.IOLoop if name == "IOLoop" else ioloop.PollIOLoop,
        **({} if poller is None else {"impl": poller}),
    )
    for make_current in (None, False):
        other = new(make_current=make_current)
        assert ioloop.IOLoop.current() is loop
        other.close()
    with pytest.raises(RuntimeError, match="which is current"):
        new(make_current=True)
    assert ioloop.IOLoop.current() is loop
    for make_current in (None, True):
        asyncio.set_event_loop(None)
        first = new(make_current=make_current)
        assert ioloop.IOLoop.current() is first
        first.close()
    asyncio.set_event_loop(loop.asyncio_loop)


def test_second_loop_of_gencoro_becomes_current(loop):
    """Modern code, which Tornado's table does not concern."""
    other = gencoro.ioloop.IOLoop()
    assert gencoro.ioloop.IOLoop.current() is other
    other.close()


@uses("tornado.ioloop.PollIOLoop")
def test_loops_of_other_names(compat):
    from tornado.ioloop import IOLoop, PollIOLoop
    from tornado.platform.epoll import EPollIOLoop

    for loop in (EPollIOLoop(make_current=False), IOLoop(make_current=False)):
        assert isinstance(loop, EPollIOLoop)
        assert loop.run_sync(lambda: None) is None
        loop.close()
    assert isinstance(IOLoop.current(), EPollIOLoop)
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


@uses(
    "tornado.ioloop.IOLoop._EPOLLIN",
    "tornado.ioloop.IOLoop._EPOLLPRI",
    "tornado.ioloop.IOLoop._EPOLLOUT",
    "tornado.ioloop.IOLoop._EPOLLERR",
    "tornado.ioloop.IOLoop._EPOLLHUP",
    "tornado.ioloop.IOLoop._EPOLLRDHUP",
    "tornado.ioloop.IOLoop._EPOLLONESHOT",
    "tornado.ioloop.IOLoop._EPOLLET",
    "tornado.ioloop._POLL_TIMEOUT",
)
@pytest.mark.skipif(not hasattr(select, "epoll"), reason="the system has no epoll")
def test_constants_of_epoll(compat):
    from tornado.ioloop import _POLL_TIMEOUT, IOLoop

    for name in ("IN", "PRI", "OUT", "ERR", "HUP", "RDHUP", "ONESHOT", "ET"):
        ours = getattr(IOLoop, f"_EPOLL{name}")
        assert ours == getattr(select, f"EPOLL{name}") & 0xFFFFFFFF
    assert IOLoop.READ == IOLoop._EPOLLIN
    assert IOLoop.ERROR == IOLoop._EPOLLERR | IOLoop._EPOLLHUP
    assert _POLL_TIMEOUT == 3600.0


def test_platforms(compat):
    from tornado.platform import posix
    from tornado.platform.auto import Waker, set_close_exec
    from tornado.platform.common import try_close

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


@uses("tornado.util.PY3", "tornado.util.b", "tornado.util.u")
def test_names_for_two_pythons(compat):
    from tornado.util import PY3, b, u

    assert PY3
    assert (b("caf\xe9"), u("caf\xe9")) == (b"caf\xe9", "café")


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


@uses("tornado.platform.asyncio.BaseAsyncIOLoop._make_current")
@pytest.mark.parametrize("is_subclass", [False, True])
@pytest.mark.parametrize("more", [(), (False,)])
def test_loop_on_a_programs_own_asyncio_loop(compat, is_subclass, more):
    from tornado.ioloop import IOLoop
    from tornado.platform.asyncio import BaseAsyncIOLoop

    class OwnLoop(BaseAsyncIOLoop):
        def initialize(self, asyncio_loop, *more, **kwargs):
            super().initialize(asyncio_loop, *more, **kwargs)

    asyncio_loop = asyncio.new_event_loop()
    asyncio.set_event_loop(asyncio_loop)
    loop = (OwnLoop if is_subclass else BaseAsyncIOLoop)(asyncio_loop, *more)
    try:
        assert IOLoop.current() is loop
        loop.add_callback(loop.stop)
        asyncio_loop.run_forever()
        assert loop.run_sync(lambda: asyncio.sleep(0, 42)) == 42
        assert isinstance(loop, gencoro.ioloop.IOLoop) == (not is_subclass)
    finally:
        loop.close()
        asyncio.set_event_loop(None)


@uses("tornado.ioloop.IOLoop.handle_callback_exception")
def test_handler_of_errors_that_is_set_on_the_class_gets_them(loop, monkeypatch):
    from tornado.ioloop import IOLoop

    seen = []

    def handle(self, callback):
        seen.append((self, sys.exc_info()[0]))
        self.stop()

    monkeypatch.setattr(IOLoop, "handle_callback_exception", handle)
    loop.add_callback(int, "no number")
    loop.start()

    assert seen == [(loop, ValueError)]
