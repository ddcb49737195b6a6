"""Signal handlers that do not disturb the program.

Rule: a signal interrupts the program at any line, so its handler must not raise an error,
wait for a lock, or use a buffer that is half written.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from traceback import format_exc
from types import FrameType
from typing import TextIO

__all__ = ["Answer", "woken_by_signals"]


class Answer:
    """A signal handler that writes a text, until `uninstall`.

    Args:
        signum: The signal.
        tell: Called with the interrupted frame; returns the text.
        file: Where to write; None for the current ``sys.stderr``.

    >>> answer = Answer(signal.SIGUSR2, lambda frame: "here I am\\n", sys.stdout)
    >>> signal.raise_signal(signal.SIGUSR2)
    here I am
    >>> answer.uninstall()
    """

    def __init__(
        self, signum: int, tell: Callable[[FrameType], str], file: TextIO | None
    ) -> None:
        self._signum = signum
        self._tell = tell
        self._file = file
        self._is_answering = False
        self._before = signal.signal(signum, self._answer)

    def uninstall(self) -> None:
        """Restore the previous handler, unless the signal has a new one by now."""
        if signal.getsignal(self._signum) == self._answer:
            signal.signal(self._signum, self._before or signal.SIG_DFL)

    def _answer(self, _signum: int, frame: FrameType | None) -> None:
        if self._is_answering:  # the signal came again meanwhile
            return
        self._is_answering = True
        try:
            text = self._tell(frame or sys._getframe())
        except Exception:  # a bug of ours: write it instead of raising it
            text = format_exc()
        try:
            _write(self._file or sys.stderr, text)
        finally:
            self._is_answering = False


def _write(file: TextIO, text: str) -> None:
    """Write bypassing the file's buffer; ignore errors."""
    try:
        descriptor = file.fileno()
        encoding = file.encoding or "utf-8"
    except (AttributeError, OSError, ValueError):  # it has no file descriptor
        with contextlib.suppress(Exception):  # such a file may raise anything
            file.write(text)
        return
    rest = text.encode(encoding, "backslashreplace")
    with contextlib.suppress(OSError):  # a closed pipe, or a full disk
        while rest:
            rest = rest[os.write(descriptor, rest) :]


@contextlib.contextmanager
def woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake up a waiting loop when a signal arrives; on the main thread only.

    A handler of `signal.signal` runs while the loop waits.  What it schedules would not run
    until the next event; asyncio wakes up for its own signal handlers only.
    """
    waker = getattr(loop, "_csock", None)  # the socket by which it wakes itself up
    if waker is None:  # not asyncio's own loop
        yield
        return
    before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
