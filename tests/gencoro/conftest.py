"""Where coroutines are run in these tests: in virtual time, or on a real IOLoop."""

import asyncio
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

# The helpers beside the tests (virtual_time, programs, playing) are plain modules.
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from virtual_time import VirtualLoop

from gencoro.ioloop import IOLoop


@pytest.fixture(autouse=True)
def no_current_loop() -> None:
    """Have no current loop; asyncio would make one, which nobody closes."""
    asyncio.set_event_loop(None)


@pytest.fixture
def run() -> Callable[..., Any]:
    """Call a function on an asyncio loop with virtual time; wait for its result."""

    def run(function: Callable[..., Any], *args: Any) -> Any:
        async def main() -> Any:
            return await function(*args)

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(main())

    return run


@pytest.fixture
def loop() -> Iterator[IOLoop]:
    """Make an IOLoop, current for the time of a test."""
    loop = IOLoop()
    yield loop
    loop.close()
