"""Sends and receives frames over a socket."""

import contextlib
import socket
from collections.abc import Callable, Generator
from typing import Any

from tornado.iostream import IOStream, StreamClosedError

from crawler_app.run.processes.process_messages import HEAD, Frame, MessageType
from gencoro import gen

__all__ = ["Channel"]


class Channel:
    """One end of a connection; the other end is in another process.

    Args:
        connection: A connected socket; this class closes it.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._stream = IOStream(connection)

    def send(self, frame: Frame) -> None:
        """Send a frame; if the other process has ended, it is dropped."""
        with contextlib.suppress(StreamClosedError):
            self._stream.write(frame.encode())

    @gen.coroutine
    def receive(self, handle: Callable[[Frame], None]) -> Generator[Any, Any, None]:
        """Pass each frame to a function, until the other process closes its end."""
        with contextlib.suppress(StreamClosedError):
            while True:
                head = yield self._stream.read_bytes(HEAD.size)
                kind, size = HEAD.unpack(head)
                payload = (yield self._stream.read_bytes(size)) if size else b""
                handle(Frame(MessageType(kind), payload))
                yield gen.moment  # many frames in a row must not block the loop

    @gen.coroutine
    def flush(self) -> Generator[Any, Any, None]:
        """Wait until everything is in the socket's buffer."""
        with contextlib.suppress(StreamClosedError):
            yield self._stream.write(b"")

    def close(self) -> None:
        """Close the connection; unsent frames are lost."""
        self._stream.close()
