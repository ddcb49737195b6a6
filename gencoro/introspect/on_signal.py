"""What is done about signals, without harm to the program that they come to.

Rule: a signal strikes in any line of the program, so nothing may come of it there: no
error, no wait for a lock, no use of a buffer that is half written.
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
    """What a signal does from now on, until `uninstall`.

    Args:
        signum: Which signal.
        tell: Returns the text, given the frame where the signal has struck.
        file: Where to write; None for what ``sys.stderr`` is by then.

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
        """Put back what was before, unless somebody else has taken the signal over."""
        if signal.getsignal(self._signum) == self._answer:
            signal.signal(self._signum, self._before or signal.SIG_DFL)

    def _answer(self, _signum: int, frame: FrameType | None) -> None:
        if self._is_answering:  # it came again meanwhile
            return
        self._is_answering = True
        try:
            text = self._tell(frame or sys._getframe())
        except Exception:  # a mistake of ours, to be told and not to be raised
            text = format_exc()
        try:
            _write(self._file or sys.stderr, text)
        finally:
            self._is_answering = False


def _write(file: TextIO, text: str) -> None:
    """Write past the file's buffer; what cannot be written is dropped."""
    try:
        descriptor = file.fileno()
        encoding = file.encoding or "utf-8"
    except (AttributeError, OSError, ValueError):  # It has no file below.
        with contextlib.suppress(Exception):  # whatever such a file may raise
            file.write(text)
        return
    rest = text.encode(encoding, "backslashreplace")
    with contextlib.suppress(OSError):  # nobody reads it, or its disk is full
        while rest:
            rest = rest[os.write(descriptor, rest) :]


@contextlib.contextmanager
def woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Have a loop that sleeps go on when a signal has come; on the main thread only.

    A handler of `signal.signal` runs while the loop waits.  What it schedules would stay
    unheard until something else happens; asyncio sees to its own handlers only.
    """
    waker = getattr(loop, "_csock", None)  # what it wakes itself with
    if waker is None:  # a loop of another make
        yield
        return
    before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
