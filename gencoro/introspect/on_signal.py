"""A signal handler that does not disturb the program.

Rule: a signal interrupts the program at any line, so its handler must not raise an error,
wait for a lock, or use a buffer that is half written.
"""

import contextlib
import os
import signal
import sys
from traceback import format_exc
from types import FrameType
from typing import TextIO

from gencoro.introspect.mailbox import Mailbox
from gencoro.introspect.snapshot import answer_to, take_snapshot

__all__ = ["Answer"]


class Answer:
    """A signal handler that reports what the process runs and waits for, until `uninstall`.

    A person who sends the signal finds the report in a file; another process that has asked
    through the `Mailbox` gets the answer there.

    Args:
        signum: The signal.
        file: Where to write; None for the current ``sys.stderr``.

    >>> answer = Answer(signal.SIGUSR2, sys.stdout)
    >>> signal.raise_signal(signal.SIGUSR2)  # doctest: +ELLIPSIS
    Process ...
    >>> answer.uninstall()
    """

    _mailbox: Mailbox

    def __init__(self, signum: int, file: TextIO | None) -> None:
        self._signum = signum
        self._file = file
        self._is_answering = False
        # One mailbox for each signal, or another process would not know which to use.
        other = getattr(signal.getsignal(signum), "__self__", None)
        shared = other._mailbox if isinstance(other, Answer) else None
        self._mailbox = shared if shared and shared.users else Mailbox(signum)
        self._mailbox.users.add(id(self))
        try:
            self._before = signal.signal(signum, self._answer)
        except OSError:  # a signal that cannot be handled
            self._leave_mailbox()
            raise

    def uninstall(self) -> None:
        """Restore the previous handler, unless the signal has a new one by now."""
        if signal.getsignal(self._signum) == self._answer:
            signal.signal(self._signum, self._before or signal.SIG_DFL)
        self._leave_mailbox()

    def _leave_mailbox(self) -> None:
        self._mailbox.users.discard(id(self))
        if not self._mailbox.users:
            self._mailbox.close()

    def _answer(self, _signum: int, frame: FrameType | None) -> None:
        if self._is_answering:  # the signal came again meanwhile
            return
        self._is_answering = True
        try:
            self._tell(frame or sys._getframe())
        finally:
            self._is_answering = False

    def _tell(self, frame: FrameType) -> None:
        with contextlib.suppress(OSError, ValueError):  # no memory is left, say
            request = self._mailbox.request()
            if request is not None:
                self._mailbox.answer(answer_to(*request, frame))
                return
            if self._mailbox.is_withdrawn():
                return
        try:
            snapshot = take_snapshot(frame)
            text = "\n\n".join([*snapshot.heading(), snapshot.tree(), ""])
        except Exception:  # a bug of ours: write it instead of raising it
            text = format_exc()
        _write(self._file or sys.stderr, text)


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
