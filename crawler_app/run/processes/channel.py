"""Sends and receives values over a socket.

Rule: both ends are processes of one crawl, so what comes is trusted, and is unpickled.
"""

import contextlib
import pickle
import socket
import struct
from collections.abc import Callable, Generator
from typing import Any

from tornado.iostream import IOStream, StreamClosedError

from gencoro import gen

__all__ = ["Channel"]

# The size of a pickled value, before it.
_SIZE = struct.Struct("!I")


class Channel:
    """One end of a connection; the other end is in another process.

    Args:
        connection: A connected socket; this class closes it.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._stream = IOStream(connection)

    def send(self, message: object) -> None:
        """Send a message; if the other process has ended, it is dropped."""
        pickled = pickle.dumps(message)
        with contextlib.suppress(StreamClosedError):
            self._stream.write(_SIZE.pack(len(pickled)) + pickled)

    @gen.coroutine
    def receive(self, handle: Callable[[Any], None]) -> Generator[Any, Any, None]:
        """Pass each message to a function, until the other process closes its end."""
        with contextlib.suppress(StreamClosedError):
            while True:
                (size,) = _SIZE.unpack((yield self._stream.read_bytes(_SIZE.size)))
                handle(pickle.loads((yield self._stream.read_bytes(size))))
                yield gen.moment  # many messages in a row must not block the loop

    @gen.coroutine
    def flush(self) -> Generator[Any, Any, None]:
        """Wait until everything is in the socket's buffer."""
        with contextlib.suppress(StreamClosedError):
            yield self._stream.write(b"")

    def close(self) -> None:
        """Close the connection; unsent messages are lost."""
        self._stream.close()
