"""Fixtures: gencoro.compat installed, and a real IOLoop."""

from collections.abc import Iterator

import pytest

import gencoro.compat
from gencoro.ioloop import IOLoop


@pytest.fixture
def compat() -> Iterator[None]:
    """Have legacy Tornado code run until the test has ended, or its module if that does."""
    was_installed = gencoro.compat.installed()
    gencoro.compat.install()
    yield
    if not was_installed:
        gencoro.compat.uninstall()


@pytest.fixture
def loop(compat: None, io_loop: IOLoop) -> IOLoop:
    """Return the test's loop, with compat installed."""
    return io_loop


@pytest.fixture
def other_loop(loop: IOLoop) -> Iterator[IOLoop]:
    """Make a loop that is not the current one."""
    other = IOLoop(make_current=False)
    yield other
    other.close()
