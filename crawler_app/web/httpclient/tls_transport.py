"""TLS over a connected transport.

Unlike asyncio's own, it shares one read buffer with the other connections of its loop, instead
of keeping a quarter of a megabyte for each idle one.

Sessions are not resumed: with TLS 1.3 the keys are exchanged anyway, and what is saved, checking
a chain of certificates, takes OpenSSL no longer than handling the session.
"""

import asyncio
import contextlib
import ssl
from typing import Any, cast

from crawler_app.web.httpclient.connection import Connection
from crawler_app.web.httpclient.tls_faults import NotTlsError, explain

__all__ = ["TlsTransport"]

# How a server begins that speaks plain HTTP.
# A status line, or a page without one, as Python's http.server and old servers send it.
HTTP_BEGINS = (b"HTTP/", b"<")


class TlsTransport(asyncio.Transport, asyncio.BufferedProtocol):
    """The transport of a `Connection`, and the protocol of the transport below.

    Args:
        connection: Called as soon as the handshake is complete.
        context: The TLS context.
        name: The name that the certificate must have.
        buffer: From `read_buffer`, shared by all connections of a loop.

    Attributes:
        secured: Is done after the handshake.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: Connection,
        context: ssl.SSLContext,
        name: str,
        buffer: memoryview,
    ) -> None:
        super().__init__()
        self.secured: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._connection = connection
        self._buffer = buffer
        self._received, self._encrypted = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._received, self._encrypted, server_hostname=name
        )
        self._name = name
        self._beginning = b""
        self._below: asyncio.Transport | None = None
        self._is_secured = self._is_paused = False
        self._unsent = bytearray()

    # The protocol of the transport below.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._below = cast(asyncio.Transport, transport)
        self._advance()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if not self._beginning:
            self._beginning = bytes(self._buffer[:5])
        self._received.write(self._buffer[:nbytes])
        self._advance()

    def eof_received(self) -> None:
        if self._is_secured:
            self._connection.eof_received()
        else:
            self._fail(ConnectionResetError("connection closed during the handshake"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_secured:
            self._connection.connection_lost(exc)
        else:
            self._fail(exc or ConnectionResetError("connection lost"))

    def pause_writing(self) -> None:
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        self._connection.resume_writing()

    def _advance(self) -> None:
        """Continue the handshake, or read."""
        if self.is_closing():
            return
        try:
            if not self._is_secured:
                self._tls.do_handshake()
                self._is_secured = True
                self._connection.connection_made(self)
                if not self.secured.done():
                    self.secured.set_result(None)
            while self._read():
                pass
            self._write()
        except ssl.SSLWantReadError:
            self._flush()
        except OSError as exc:  # ssl.SSLError is one
            self._flush()  # the alert
            self._fail(exc if self._is_secured else self._explained(exc))

    def _explained(self, error: OSError) -> OSError:
        """Return the error of a handshake, with its cause in words."""
        if isinstance(error, ssl.SSLCertVerificationError):
            error.strerror = explain(
                error.verify_code, error.verify_message, self._name, self._sent_chain()
            )
        elif self._beginning.startswith(HTTP_BEGINS):
            return NotTlsError(1, "the server speaks plain HTTP at this port")
        return error

    def _sent_chain(self) -> list[Any]:
        """Return the certificates of the server; empty if they cannot be read.

        `ssl` shows them only after verification, and decoded only below its public names.
        """
        try:
            chain: Any = self._tls._sslobj.get_unverified_chain()  # type: ignore[attr-defined]
            return [certificate.get_info() for certificate in chain or ()]
        except (AttributeError, ssl.SSLError, ValueError):
            return []

    def _read(self) -> bool:
        """Pass on what can be decrypted; return whether there may be more."""
        size, is_dry, is_over = 0, False, False
        while size < len(self._buffer) and not (is_dry or self._is_paused):
            room = cast(bytearray, self._buffer[size:])
            try:
                read = cast(int, self._tls.read(len(room), room))
            except ssl.SSLWantReadError:
                is_dry = True
            else:
                is_dry = is_over = not read  # the server has said that it closes
                size += read
        if size:
            self._connection.buffer_updated(size)
        if is_over:
            self._connection.eof_received()
        return not is_dry and not self._is_paused and not self.is_closing()

    def _fail(self, error: Exception) -> None:
        if self.secured.done():
            if self._is_secured:
                self._connection.connection_lost(error)
        else:
            self.secured.set_exception(error)
            self.secured.exception()  # in case nothing awaits it any more
        self.abort()

    # The transport of the connection.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._unsent += data
        try:
            self._write()
        except OSError as exc:
            self._fail(exc)

    def _write(self) -> None:
        with contextlib.suppress(ssl.SSLWantReadError):  # the server renegotiates
            while self._unsent:
                del self._unsent[: self._tls.write(self._unsent)]
        self._flush()

    def _flush(self) -> None:
        if self._encrypted.pending and self._below is not None:
            self._below.write(self._encrypted.read())

    def abort(self) -> None:
        if self._below is not None:
            self._below.abort()

    def is_closing(self) -> bool:
        return self._below is None or self._below.is_closing()

    def pause_reading(self) -> None:
        self._is_paused = True
        if self._below is not None:
            self._below.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        if self._below is not None:
            self._below.resume_reading()
        self._loop.call_soon(self._advance)

    def get_write_buffer_size(self) -> int:
        waiting = 0 if self._below is None else self._below.get_write_buffer_size()
        return waiting + len(self._unsent)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (
            default
            if self._below is None
            else self._below.get_extra_info(name, default)
        )
