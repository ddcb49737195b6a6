"""The shared memory file through which another process requests a snapshot.

The mailbox is a file in memory (``memfd``) of the process that is examined.  Another
process finds it by its name in ``/proc/PID/fd``, which only its owner and root may read; so
its presence tells that the signal has a handler of ours, and it disappears with the process.

To ask, the other process takes the lock of the file, writes a request and sends the signal.
The signal of a person finds no request, or one without a lock.  Linux only.

Rule: used by a signal handler, so nothing here waits.
"""

import os
import sys
from typing import NamedTuple

if sys.platform == "linux":
    import fcntl

__all__ = ["ASKED", "BUSY", "NAME", "TOLD", "WITHDRAWN", "Mailbox", "Request"]

# The file's name; the number of the signal follows.
NAME = "gencoro-signal-"

# The first word of the file: a request (with the process, and a `Request`), that it is being
# answered, an answer, or that the next signal is to be ignored, because the process that sent
# it has stopped waiting.
ASKED, BUSY, TOLD, WITHDRAWN = b"ask?", b"busy", b"told", b"drop"

# The maximum size of a request.
REQUEST_BYTES = 200


class Request(NamedTuple):
    """What is asked for.

    Attributes:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        budget_s: Stop after this many seconds.
    """

    limit: int
    budget_s: float


class Mailbox:
    """The mailbox of this process, for one signal.

    Attributes:
        users: The handlers that share it.

    >>> mailbox = Mailbox(10)
    >>> mailbox.request()
    >>> mailbox.close()
    """

    def __init__(self, signum: int) -> None:
        self.users: set[int] = set()
        self._file: int | None = None
        if sys.platform == "linux":
            try:
                self._file = os.memfd_create(f"{NAME}{signum}")
                self._identity = _identity(self._file)
            except OSError:  # too many open files, or forbidden: the signal still works
                pass

    def request(self) -> Request | None:
        """Return the request that the current signal belongs to, if any."""
        words = self._content().split()
        if words[:2] != [ASKED, b"%d" % os.getpid()] or not self._is_locked():
            return None
        self._write(BUSY, 0)
        return Request(int(words[2]), float(words[3]))

    def is_withdrawn(self) -> bool:
        """Return True if the current signal is to be ignored; only once for each."""
        if self._content().split()[:2] != [WITHDRAWN, b"%d" % os.getpid()]:
            return False
        self._empty()
        return True

    def answer(self, text: str) -> None:
        """Store an answer, unless the asking process has stopped waiting."""
        self._empty()
        self._write(text.encode(), len(TOLD))
        self._write(TOLD, 0)
        if not self._is_locked():
            self._empty()

    def close(self) -> None:
        """Remove the mailbox."""
        if self._is_open() and self._file is not None:
            os.close(self._file)
        self._file = None

    def _is_locked(self) -> bool:
        """Return True if another process is waiting for an answer."""
        if self._file is None or not self._is_open():
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.flock(self._file, fcntl.LOCK_UN)
        return False

    def _is_open(self) -> bool:
        # A daemon may have closed all its files, and have opened another by this number.
        return self._file is not None and _identity(self._file) == self._identity

    def _content(self) -> bytes:
        if self._file is None or not self._is_open():
            return b""
        return os.pread(self._file, REQUEST_BYTES, 0)

    def _empty(self) -> None:
        if self._file is not None and self._is_open():
            os.ftruncate(self._file, 0)

    def _write(self, content: bytes, offset: int) -> None:
        if self._file is not None and self._is_open():
            os.pwrite(self._file, content, offset)


def _identity(file: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(file)
    except OSError:  # it is closed
        return None
    return status.st_dev, status.st_ino
