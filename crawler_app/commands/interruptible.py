"""Runs a command's coroutine so that it can be stopped, and loses nothing."""

import asyncio
import contextlib
import shlex
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from crawler_app.commands.exit_status import INTERRUPTED
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["how_to_resume", "run_interruptible"]

# Two Ctrl-C so near to each other are one: a program that has started us, such as
# ``timeout``, passes on to us what the terminal has sent to both.
TOGETHER_S = 0.5


def run_interruptible(
    main: Callable[[], "gen.Future[int]"], directory: Path | str | None = None
) -> int:
    """Return the status of a command; Ctrl-C and a polite kill let it save its state.

    Args:
        directory: Of the crawl that can be resumed after that; None for none.
    """

    @gen.coroutine
    def until_cancelled() -> Generator[Any, Any, int]:
        running = main()
        with _cancelled_by_signals(running):
            status: int = yield running
            return status

    try:
        ended: int = IOLoop.current().run_sync(until_cancelled)
        return ended
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("Stopped.", file=sys.stderr)
        if directory is not None:
            print(how_to_resume(directory), file=sys.stderr)
        return INTERRUPTED


@contextlib.contextmanager
def _cancelled_by_signals(running: "gen.Future[int]") -> Iterator[None]:
    """Cancel at Ctrl-C or a polite kill; a later Ctrl-C ends us wherever we are."""
    loop = asyncio.get_running_loop()
    cancelled_at: float | None = None

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal cancelled_at
        now = time.monotonic()
        if cancelled_at is None:
            cancelled_at = now
            running.cancel()
            loop.call_soon_threadsafe(bool)  # it may sleep, and has to be woken up
        elif now - cancelled_at > TOGETHER_S:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, running.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGINT, before)


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
