"""What tests of the crawler share: no socket is left behind, and no process."""

import contextlib
import gc
import os
import pathlib

import pytest

from gencoro.ioloop import IOLoop
from tests.helpers.command_line import CommandLine
from tests.helpers.scripts import start_python
from tests.helpers.site import Site


@pytest.fixture
def sockets():
    """Return a function that lists the open sockets, by what the kernel calls them."""

    def look():
        links = pathlib.Path("/proc/self/fd").iterdir()
        with contextlib.suppress(FileNotFoundError):
            return sorted(
                target
                for link in links
                if os.path.lexists(link)
                and (target := os.readlink(link)).startswith("socket:")
            )
        return look()  # one was closed meanwhile

    return look


@pytest.fixture
def no_socket_is_left(sockets):
    before = sockets()
    yield
    if sockets() != before:
        gc.collect()  # only what refers to itself may need it
    assert sockets() == before


@pytest.fixture
def start_script():
    """Start scripts in processes of their own, which are killed at the end."""
    with contextlib.ExitStack() as processes:

        def start(source, *arguments, **options):
            process = processes.enter_context(
                start_python("-c", source, *arguments, **options)
            )
            processes.callback(process.kill)
            return process

        yield start


@pytest.fixture
def gencrawl(capsys):
    """Run commands in this process; each gives its status and what it printed."""
    return CommandLine(capsys)


@pytest.fixture
def run_sync():
    """Run a coroutine function to its end, on a loop of its own; return what it does."""

    def run_sync(function):
        with contextlib.closing(IOLoop(make_current=False)) as loop:
            return loop.run_sync(function, timeout=60)

    return run_sync


class Clock:
    """Virtual seconds, which a test moves on."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def site():
    site = Site()
    yield site
    site.stop()
