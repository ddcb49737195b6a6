"""The process that forks workers: how they end, and how it does."""

import contextlib
import os
import signal
import socket

import pytest

from crawler_app.run.processes import fork_server
from crawler_app.run.processes.fork_server import ForkServer
from gencoro import gen
from tests.crawler_app.run.processes.conftest import children_of
from tests.helpers.scripts import is_running


class Started:
    """A worker that waits for its task, on the connection that it has."""

    def __init__(self, server):
        self.connection, theirs = socket.socketpair()
        with theirs:
            self.process = server.fork(theirs)

    def ended(self):
        while self.process.status is None:
            yield gen.sleep(0.005)
        return self.process.status


def until(condition):
    while not (found := condition()):
        yield gen.sleep(0.005)
    return found


@pytest.fixture
def with_server(run_sync):
    """Run a generator function with a server, its process, and two workers that have begun."""

    def run(function):
        @gen.coroutine
        def main():
            others = children_of(os.getpid())
            with contextlib.closing(ForkServer()) as server:
                started = [Started(server) for _ in range(2)]
                (pid,) = {*children_of(os.getpid())} - {*others}
                yield from until(lambda: len(children_of(pid)) == 2)
                yield from function(server, pid, *started)
                for each in started:
                    each.connection.close()
            assert not os.path.exists(f"/proc/{pid}")

        run_sync(main)

    return run


def test_each_process_ends_with_its_status(with_server):
    def main(server, pid, first, second):
        os.kill(children_of(pid)[1], signal.SIGKILL)
        assert (yield from second.ended()) == -signal.SIGKILL
        first.connection.close()
        assert (yield from first.ended()) == 0

    with_server(main)


def test_server_that_is_killed_is_started_again(with_server):
    def main(server, pid, first, second):
        orphans = children_of(pid)
        os.kill(pid, signal.SIGKILL)
        assert (yield from first.ended()) == (yield from second.ended()) == -9
        third = Started(server)
        third.connection.close()
        assert (yield from third.ended()) == 0
        for each in (first, second):
            each.connection.close()
        yield from until(lambda: not any(map(is_running, orphans)))

    with_server(main)


def test_processes_that_hang_end_with_the_server(with_server):
    hanging = []

    def main(server, pid, first, second):
        hanging.extend(children_of(pid))
        os.kill(hanging[0], signal.SIGSTOP)
        yield gen.moment

    with_server(main)

    assert not any(os.path.exists(f"/proc/{pid}") for pid in hanging)


def test_server_that_hangs_is_killed(with_server, monkeypatch):
    monkeypatch.setattr(fork_server, "PATIENCE_S", 0.1)

    def main(server, pid, first, second):
        os.kill(pid, signal.SIGSTOP)
        yield gen.moment

    with_server(main)
