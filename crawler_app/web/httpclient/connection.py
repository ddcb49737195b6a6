"""One connection to a server.

Rule: it carries one exchange at a time, without pipelining; data received between two
exchanges closes it.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Any, Protocol, cast

from crawler_app.web.httpclient.request import ConnectionKey

__all__ = ["Connection", "ConnectionUser", "read_buffer"]

# The amount that asyncio reads at a time.
READ_BYTES = 256 * 1024


def read_buffer() -> memoryview:
    """Return the read buffer that the connections of one loop share.

    Without it each read would allocate and free that much, which takes a third of the time
    of a small fetch.
    """
    return memoryview(bytearray(READ_BYTES))


class ConnectionUser(Protocol):
    """The current user of a connection: an exchange."""

    def receive(self, data: bytes) -> None: ...

    def lose_connection(self, error: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class Connection(asyncio.BufferedProtocol):
    """The asyncio protocol of a connection.

    Args:
        on_idle_close: Called with the connection if it is closed while idle.
        buffer: From `read_buffer`, shared by all connections of a loop.

    Attributes:
        key: The requests that it can carry.
        transport: Set by ``connection_made``.
        peer_address: As returned by `socket.getpeername`.
        is_closed: Whether either side has closed it.
        error: Why it was lost; None if there was no error.
        is_reused: Whether it has carried an earlier exchange.
        idle_at: When it became idle, on the loop's clock.
        expires_at: When its idle timeout ends, on the loop's clock.
    """

    def __init__(
        self,
        key: ConnectionKey,
        on_idle_close: Callable[["Connection"], None],
        buffer: memoryview,
    ) -> None:
        self.key = key
        self.transport: asyncio.Transport
        self.peer_address: Any = None
        self.is_reused = False
        self.is_closed = False
        self.error: Exception | None = None
        self._is_made = False
        self._poll: select.poll | None = None
        self.idle_at = 0.0
        self.expires_at = 0.0
        self._on_idle_close = on_idle_close
        self._buffer = buffer
        self._user: ConnectionUser | None = None

    def begin(self, user: ConnectionUser) -> None:
        """Start an exchange; received data goes to its user."""
        assert self._user is None
        self._user = user

    def end(self) -> None:
        """End the exchange; the connection becomes idle."""
        self._user = None
        self.is_reused = True

    def abort(self) -> None:
        """Close immediately, without a TLS shutdown, which would take a round trip."""
        self._user = None
        if not self.is_closed:
            self.is_closed = True
            if self._is_made:
                self.transport.abort()

    def is_quiet(self) -> bool:
        """Return whether the socket has no unread data.

        Data received before a request would be taken for its response.
        """
        return self._poll is None or not self._poll.poll(0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._is_made = True
        if self.is_closed:  # aborted in the meantime
            self.transport.abort()
            return
        self.peer_address = transport.get_extra_info("peername")
        if hasattr(select, "poll"):  # not on Windows
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket"), select.POLLIN)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._user is not None:
            self._user.receive(bytes(self._buffer[:nbytes]))
        else:
            # Unsolicited data: there is no request that it belongs to.
            self._close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.is_closed:
            return
        self.is_closed, self.error = True, exc
        user, self._user = self._user, None
        if user is not None:
            user.lose_connection(exc)
        else:
            self._on_idle_close(self)

    def eof_received(self) -> None:
        user = self._user
        if user is None:
            self._close_idle()
        else:
            # Immediately: asyncio would first wait until everything is written, which a
            # server that has gone may never read.
            self.abort()
            user.lose_connection(None)

    def pause_writing(self) -> None:
        if self._user is not None:
            self._user.pause_writing()

    def resume_writing(self) -> None:
        if self._user is not None:
            self._user.resume_writing()

    def _close_idle(self) -> None:
        self.abort()
        self._on_idle_close(self)
