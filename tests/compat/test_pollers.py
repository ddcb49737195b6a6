"""Loops with a custom poller, as in Tornado 3 to 5."""

import select
import socket

import pytest

from gencoro.compat.modules.pollers import Select
from tests.helpers.compat.rows import uses


class FakeTime:
    """A poller that does not wait, and moves its clock instead."""

    def __init__(self, poller):
        self._poller = poller
        self.now = 1000

    def __getattr__(self, name):
        return getattr(self._poller, name)

    def time(self):
        return self.now

    def poll(self, timeout):
        events = self._poller.poll(0)
        if not events:
            self.now += timeout
        return events


@pytest.fixture
def make_loop(compat):
    """Make loops that are closed at the end."""
    from tornado.ioloop import PollIOLoop

    loops = []

    def make(impl, **kwargs):
        loops.append(PollIOLoop(impl=impl, **kwargs))
        return loops[-1]

    yield make
    for loop in loops:
        loop.close()


@uses(
    "tornado.platform.select._Select",
    "tornado.ioloop._Select",
    "tornado.ioloop.PollIOLoop",
)
def test_time_passes_as_the_poller_says(make_loop):
    from tornado.ioloop import PeriodicCallback, _Select

    fake = FakeTime(_Select())
    loop = make_loop(fake, time_func=fake.time)
    calls = []
    PeriodicCallback(lambda: calls.append(loop.time()), 10000, loop).start()
    loop.call_later(35, loop.stop)

    loop.start()

    assert calls == [1010, 1020, 1030]


POLLERS = [Select, *([select.epoll] if hasattr(select, "epoll") else [])]


@pytest.mark.parametrize("poller", POLLERS)
def test_files_that_are_ready_are_handled(make_loop, poller):
    loop = make_loop(poller())
    here, there = socket.socketpair()
    seen = []

    def handle(fd, events):
        seen.append(events)
        if events & loop.READ:
            assert here.recv(1) == b"x"
            loop.stop()
        else:
            loop.update_handler(fd, loop.READ)
            there.send(b"x")

    with here, there:
        loop.add_handler(here, handle, loop.WRITE)
        loop.start()
        loop.remove_handler(here)

    assert seen == [loop.WRITE, loop.READ]


@pytest.mark.parametrize("poller", POLLERS)
def test_loop_is_woken_by_another_thread(make_loop, poller):
    loop = make_loop(poller())

    assert loop.run_sync(lambda: loop.run_in_executor(None, lambda: 42)) == 42


@pytest.mark.parametrize("poller", POLLERS)
def test_reader_hears_that_the_other_end_is_closed(make_loop, poller):
    loop = make_loop(poller())
    here, there = socket.socketpair()
    there.close()

    with here:
        loop.add_handler(here, lambda fd, events: loop.stop(), loop.READ)
        loop.start()
        loop.remove_handler(here)


def test_file_is_registered_once(compat):
    from tornado.platform.select import _Select

    poller = _Select()
    poller.register(0, 1)
    with pytest.raises(OSError, match=r"use modify\(\)"):
        poller.register(0, 1)
    poller.modify(0, 4)
    poller.unregister(0)
    poller.unregister(0)
    poller.register(0, 1)
    poller.close()
