"""Fixtures: gencoro.compat installed, a real IOLoop, and a site that is served on it."""

import contextlib
from collections.abc import Iterator

import pytest

import gencoro.compat
from gencoro.ioloop import IOLoop
from tests.helpers.compat.serving import Site


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


@pytest.fixture
def site(loop: IOLoop) -> Iterator[Site]:
    """Serve one thing on the test's loop, and close it in the end."""
    with contextlib.closing(Site(loop)) as site:
        yield site
