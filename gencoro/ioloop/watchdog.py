"""A watchdog for blocked loops, based on a timer signal.

The signal interrupts the running code, and asks the loop to answer in its next turn.  If the
loop has not answered for a while, it is blocked by what is on the stack.
"""

import asyncio
import atexit
import math
import signal
import sys
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

__all__ = ["Action", "Watch"]

Action: TypeAlias = Callable[[int, FrameType | None], Any] | signal.Handlers | None

# How often the loop is asked within the threshold.  The more often, the sooner after the
# threshold a block is noticed; but each time costs a turn of the loop.
ASKED_TIMES = 4


class Watch:
    """Runs an action when a loop has been blocked for ``seconds``, once per blocked turn.

    Uses SIGALRM and its timer, of which a process has one: so only one loop is watched, the
    one of the last `begin`.

    Args:
        loop: A loop that runs on the main thread.
        seconds: The threshold.
        action: Called with the number of the signal and the running frame;
            ``signal.SIG_DFL`` or None ends the process, ``signal.SIG_IGN`` has no effect.

    Raises:
        RuntimeError: this is not the main thread, the loop runs on another thread, or the
            system has no timer signals.
        ValueError: seconds is not a positive finite number.
    """

    def __init__(self, loop: AbstractEventLoop, seconds: float, action: Action) -> None:
        if not hasattr(signal, "setitimer"):
            raise RuntimeError(
                f"{sys.platform} has no signal.setitimer to watch a loop with"
            )
        if threading.current_thread() is not threading.main_thread() or (
            loop.is_running() and asyncio._get_running_loop() is not loop
        ):
            raise RuntimeError(
                "only the main thread receives signals: watch a loop of the main thread, "
                "and call this there"
            )
        if not 0 < seconds < math.inf:
            raise ValueError(
                f"threshold of {seconds!r} s: give a positive number, or None"
            )
        self.loop = loop
        self.seconds = seconds
        self.action = action
        self._asked_at: float | None = None
        self._has_acted = False

    def begin(self) -> None:
        """Start the timer."""
        self._answer()
        signal.signal(signal.SIGALRM, self._on_signal)
        interval = self.seconds / ASKED_TIMES
        signal.setitimer(signal.ITIMER_REAL, interval, interval)

    def end(self) -> None:
        """Stop the timer, if it is ours.

        Raises:
            RuntimeError: this is not the main thread.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("only the main thread may stop the watchdog of a loop")
        if signal.getsignal(signal.SIGALRM) == self._on_signal:
            _stop_timer()

    def _answer(self) -> None:
        self._asked_at = None
        self._has_acted = False

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        if not self.loop.is_running():
            _stop_timer()
        elif self._asked_at is None:
            self._asked_at = time.monotonic()
            self.loop.call_soon_threadsafe(self._answer)
        elif not self._has_acted and time.monotonic() - self._asked_at >= self.seconds:
            self._has_acted = True
            self._act(signum, frame)

    def _act(self, signum: int, frame: FrameType | None) -> None:
        if callable(self.action):
            self.action(signum, frame)
        elif self.action is not signal.SIG_IGN:
            # The default action of the signal: end the process.
            signal.signal(signum, signal.SIG_DFL)
            signal.raise_signal(signum)


def _stop_timer() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _stop_timer_at_exit() -> None:
    # Python removes its handlers at exit, and the next signal would kill the process.
    if isinstance(getattr(signal.getsignal(signal.SIGALRM), "__self__", None), Watch):
        _stop_timer()


if hasattr(signal, "setitimer"):
    atexit.register(_stop_timer_at_exit)
