"""Fixtures that run coroutines, in virtual time or on a real IOLoop."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock


@pytest.fixture
def run() -> Callable[..., Any]:
    """Call a function on an asyncio loop with virtual time; wait for its result."""

    def run(function: Callable[..., Any], *args: Any) -> Any:
        async def main() -> Any:
            return await function(*args)

        with asyncio.Runner(loop_factory=VirtualClock().new_event_loop) as runner:
            return runner.run(main())

    return run


@pytest.fixture
def loop(io_loop: IOLoop) -> IOLoop:
    """Return the plugin's IOLoop by a shorter name."""
    return io_loop
