"""Runs coroutines of commands; Ctrl-C stops them without losing data."""

import asyncio
import contextlib
import shlex
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from crawler_app.commands.exit_status import INTERRUPTED
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["how_to_resume", "run", "run_interruptible"]

# Two SIGINT within this time count as one: a parent process such as ``timeout`` forwards
# the signal that the terminal has sent to both.
SAME_SIGNAL_S = 0.5


def run(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a coroutine on a loop of its own; return its result."""
    loop = IOLoop(make_current=False)
    try:
        return loop.run_sync(partial(function, *args, **options))
    finally:
        loop.close()


def run_interruptible(
    main: Callable[[], "gen.Future[int]"], directory: Path | str | None = None
) -> int:
    """Return the status of a command; on SIGINT and SIGTERM it saves its state first.

    Args:
        directory: The directory of the crawl, if it can be resumed after that.
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
    """Cancel on SIGINT or SIGTERM; a later SIGINT interrupts immediately."""
    loop = asyncio.get_running_loop()
    cancelled_at: float | None = None

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal cancelled_at
        now = time.monotonic()
        if cancelled_at is None:
            cancelled_at = now
            running.cancel()
            loop.call_soon_threadsafe(bool)  # wake up the loop, which may be idle
        elif now - cancelled_at > SAME_SIGNAL_S:
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
    """Return a message with the command that resumes a crawl.

    >>> print(how_to_resume("docs crawl"))
    Everything found so far is kept; continue with:
      gencrawl resume 'docs crawl'
    """
    return (
        "Everything found so far is kept; continue with:\n"
        f"  gencrawl resume {shlex.quote(str(directory))}"
    )
