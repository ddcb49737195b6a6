"""Runs a command's coroutine so that it can be stopped, and loses nothing."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from crawler_app.commands.exit_status import INTERRUPTED
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["how_to_resume", "run_interruptible"]


def run_interruptible(
    main: Callable[[], "gen.Future[int]"], directory: Path | str | None = None
) -> int:
    """Return the status of a command; Ctrl-C and a polite kill let it save its state.

    Args:
        directory: Of the crawl that can be resumed after that; None for none.
    """

    @gen.coroutine
    def until_terminated() -> Generator[Any, Any, int]:
        running = main()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, running.cancel)
        try:
            status: int = yield running
            return status
        finally:
            loop.remove_signal_handler(signal.SIGTERM)

    try:
        ended: int = IOLoop.current().run_sync(until_terminated)
        return ended
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("Stopped.", file=sys.stderr)
        if directory is not None:
            print(how_to_resume(directory), file=sys.stderr)
        return INTERRUPTED


def how_to_resume(directory: Path | str) -> str:
    """Return what to type to go on with a crawl.

    >>> print(how_to_resume("docs crawl"))
    Everything found so far is kept; go on with:
      gencrawl resume 'docs crawl'
    """
    return (
        "Everything found so far is kept; go on with:\n"
        f"  gencrawl resume {shlex.quote(str(directory))}"
    )
