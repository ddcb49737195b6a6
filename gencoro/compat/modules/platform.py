"""Legacy `tornado.platform`: file descriptors, and wakers for pollers."""

import contextlib
import os
import socket
from typing import Any

__all__ = ["Waker", "set_close_exec", "set_nonblocking", "try_close"]


def set_close_exec(fd: int) -> None:
    """Close a descriptor in programs that this one starts."""
    os.set_inheritable(fd, False)


def set_nonblocking(fd: int) -> None:
    """Make reads and writes of a descriptor non-blocking."""
    os.set_blocking(fd, False)


def try_close(f: Any) -> None:
    """Close a file or a similar object, and ignore an OSError."""
    with contextlib.suppress(OSError):
        f.close()


class Waker:
    """A descriptor that becomes readable when ``wake`` is called.

    >>> waker = Waker()
    >>> waker.wake()
    >>> waker.consume()
    >>> waker.close()
    """

    def __init__(self) -> None:
        self.reader, self.writer = socket.socketpair()
        self.reader.setblocking(False)
        self.writer.setblocking(False)

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self.reader.fileno()

    def write_fileno(self) -> int:
        """Return the descriptor that ``wake`` writes to."""
        return self.writer.fileno()

    def wake(self) -> None:
        """Make it readable; can be called on any thread."""
        with contextlib.suppress(OSError):  # it is full, and so readable
            self.writer.send(b"x")

    def consume(self) -> None:
        """Make it unreadable again."""
        with contextlib.suppress(BlockingIOError):
            while self.reader.recv(1024):
                pass

    def close(self) -> None:
        """Close both ends."""
        self.reader.close()
        self.writer.close()
