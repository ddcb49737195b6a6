"""Wakes up a waiting loop when a signal arrives."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator

__all__ = ["woken_by_signals"]


@contextlib.contextmanager
def woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake up a waiting loop when a signal arrives; on the main thread only.

    A handler of `signal.signal` runs while the loop waits.  What it schedules would not run
    until the next event; asyncio wakes up for its own signal handlers only.
    """
    # The socket by which asyncio's own loops wake themselves up.  The public way would be
    # loop.add_signal_handler(), which replaces the handler of `signal.signal`.
    waker = getattr(loop, "_csock", None)
    if waker is None:
        yield
        return
    before = None
    with contextlib.suppress(ValueError):  # a subinterpreter gets no signals
        before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
