"""One connection to a server.

Rule: it carries one exchange at a time, and what comes in between belongs to nobody and
closes it.  Pipelining never.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Any, Protocol, cast

from crawler_app.httpclient.request import ConnectionKey

__all__ = ["Connection", "ConnectionUser", "read_buffer"]

# As much as asyncio reads at once.
READ_BYTES = 256 * 1024


def read_buffer() -> memoryview:
    """Return what the connections of one loop can read into, by turns.

    Without it each reading would allocate, and give back, that much: a third of a small
    fetch's time.
    """
    return memoryview(bytearray(READ_BYTES))


class ConnectionUser(Protocol):
    """Who has a connection for an exchange."""

    def receive(self, data: bytes) -> None: ...

    def lose_connection(self, error: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class Connection(asyncio.BufferedProtocol):
    """The protocol of a transport.

    Args:
        buffer: From `read_buffer`, the same for all connections of a loop.

        on_idle_close: Called with it if it ends while nobody uses it.

    Attributes:
        key: What it can be used for.
        transport: From ``connection_made`` on.
        peer_address: As of `socket.getpeername`.
        is_closed: By either side.
        is_reused: Whether it has carried an exchange before this one.
        idle_at: On the loop's clock.
        expires_at: When it has been idle for too long.
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
        self._is_made = False
        self._poll: select.poll | None = None
        self.idle_at = 0.0
        self.expires_at = 0.0
        self._on_idle_close = on_idle_close
        self._buffer = buffer
        self._user: ConnectionUser | None = None

    def begin(self, user: ConnectionUser) -> None:
        """Carry an exchange; whatever comes in is for its user."""
        assert self._user is None
        self._user = user

    def end(self) -> None:
        """Be free for another exchange."""
        self._user = None
        self.is_reused = True

    def abort(self) -> None:
        """Close at once.

        What TLS would still have to say is left out: it would take a round trip.
        """
        self._user = None
        if not self.is_closed:
            self.is_closed = True
            if self._is_made:
                self.transport.abort()

    def is_quiet(self) -> bool:
        """Return whether nothing has come in that the loop has not seen yet.

        An answer before its request would be taken for the answer to the next one.
        """
        return self._poll is None or not self._poll.poll(0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._is_made = True
        if self.is_closed:  # given up meanwhile
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
            # Nobody asked for it: whose answer it is cannot be known.
            self._close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.is_closed:
            return
        self.is_closed = True
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
            # At once: asyncio's own way is to wait until all is written, which a server
            # that has gone may never read.
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
