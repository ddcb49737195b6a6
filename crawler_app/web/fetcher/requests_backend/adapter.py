"""The `requests` transport adapter: checks addresses, records heads, can be aborted.

A thread makes one exchange at a time, and its connection is represented by a `Wire`, which
the classes below look up by the current thread.  Rule: a thread has a wire before it sends,
and only `Wire.cut` may be called from other threads.
"""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from crawler_app.base.urls import target_of
from crawler_app.web.httpclient.dialing import AddressCheck, allowed_addresses
from crawler_app.web.httpclient.request import Proxy

__all__ = ["CrawlAdapter", "Wire", "wire_of_this_thread"]

# As for the other clients; http.client only limits a line and the number of lines.
MAX_HEAD_BYTES = 256 * 1024

# Interim responses before the final one; the limit of our own client too.
MAX_INTERIM = 10

# If the caller sets no connect timeout: effectively none.
NO_LIMIT_S = 24 * 3600.0

_of_this_thread = threading.local()


class Wire:
    """The connection of one exchange.

    Args:
        url: The canonical URL.
        check_address: Called with a host and each of its addresses before connecting;
            raises FetchError to refuse.  None for no check, as of the address of a proxy.

    Attributes:
        request_head: The head of the request, as sent.
        raw_head: The head of the response, as received.
        peer: The server's address, without its port.
        is_cut: Whether the exchange was aborted.
    """

    def __init__(self, url: str, check_address: AddressCheck | None) -> None:
        self.url = url
        self.check_address = check_address
        self.request_head = b""
        self.raw_head = b""
        self.peer = ""
        self.is_cut = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def use(self, connected: socket.socket) -> None:
        """Set the socket of the exchange."""
        with contextlib.suppress(OSError):  # the server has closed the connection
            self.peer = str(connected.getpeername()[0])
        with self._lock:
            self._socket = connected
            if self.is_cut:
                _shut_down(connected)

    def cut(self) -> None:
        """Abort the exchange from another thread, which wakes the one that reads."""
        with self._lock:
            self.is_cut = True
            if self._socket is not None:
                _shut_down(self._socket)

    def release(self) -> None:
        """Forget the socket, which may be reused for another exchange."""
        with self._lock:
            self._socket = None


def _shut_down(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has been closed already
        # Not SSLSocket.shutdown, which would drop TLS and continue in plain text.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


@contextlib.contextmanager
def wire_of_this_thread(wire: Wire) -> Iterator[None]:
    """Use a wire for the connections of this thread."""
    _of_this_thread.wire = wire
    try:
        yield
    finally:
        _of_this_thread.wire = None
        wire.release()


def _wire() -> Wire:
    wire: Wire | None = getattr(_of_this_thread, "wire", None)
    return Wire("", None) if wire is None else wire


class CrawlAdapter(HTTPAdapter):
    """A transport adapter with the connections of this module."""

    def __init__(self, proxy: Proxy | None = None) -> None:
        self._proxy = proxy
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Create the pools; called by the base class."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOL_BY_SCHEME

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """Return the pools of a proxy; called by the base class."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOL_BY_SCHEME
        return manager

    def proxy_headers(self, proxy: str) -> dict[str, str]:
        """Return the headers for the proxy; in UTF-8, whereas requests uses latin-1."""
        if self._proxy is None or not self._proxy.authorization:
            return {}
        return {"Proxy-Authorization": self._proxy.authorization}


class _RecordingFile:
    """Reads the lines of response heads, and keeps those of the last head.

    Attributes:
        lines: The lines, up to and including the blank one.
    """

    def __init__(self, file: Any) -> None:
        self.lines: list[bytes] = []
        self._file = file
        self._seen_bytes = 0

    def readline(self, limit: int) -> bytes:
        if self.is_whole:
            self.lines.clear()  # that was an interim response
        line: bytes = self._file.readline(limit)
        self._seen_bytes += len(line)
        if self._seen_bytes > MAX_HEAD_BYTES:
            raise http.client.LineTooLong(f"a head of more than {MAX_HEAD_BYTES} bytes")
        self.lines.append(line)
        return line

    @property
    def is_whole(self) -> bool:
        return bool(self.lines) and self.lines[-1] in (b"\r\n", b"\n")

    def close(self) -> None:
        self._file.close()


class _Response(http.client.HTTPResponse):
    """Skips all interim responses; its base class takes a 103 as final."""

    def begin(self) -> None:
        if self.headers is not None:
            return
        for _ in range(1 + MAX_INTERIM):
            self._read_head()
            if self.status >= 200 or self.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                return
            self.headers = self.msg = None  # the initial values of the base class
        raise http.client.BadStatusLine("too many 1xx responses")

    def _read_head(self) -> None:
        recorder: Any = _RecordingFile(self.fp)
        file, self.fp = self.fp, recorder
        try:
            super().begin()
        finally:
            if self.fp is recorder:  # not so after an error
                self.fp = file
        if not recorder.is_whole:
            raise http.client.RemoteDisconnected("closed within the head")
        _wire().raw_head = b"".join(recorder.lines)


class _Connection(HTTPConnection):
    """A connection that checks the address before it connects."""

    response_class = _Response

    # urllib3 calls it for a new socket, without a public hook for that.  `_dns_host` is the
    # host with its trailing dot, as it is to be resolved.
    def _new_conn(self) -> socket.socket:
        wire = _wire()
        connected = _connect(self, self._dns_host, wire.check_address)
        wire.use(connected)  # before TLS, so that the handshake can be aborted
        return connected

    def connect(self) -> None:
        super().connect()
        _wire().use(self.sock)

    def request(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            _wire().use(self.sock)
        super().request(*args, **kwargs)

    def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
        """Undo the normalization of requests and urllib3."""
        if wanted := _wire().url:
            url = target_of(wanted) if url.startswith("/") else wanted
        _wire().request_head = b""
        super().putrequest(method, url, *args, **kwargs)

    def send(self, data: Any) -> None:
        # Afterwards, because it may first connect, and send the request for a tunnel.
        super().send(data)
        sent = _wire().request_head
        if not sent or sent.startswith(b"CONNECT "):  # otherwise this is the body
            _wire().request_head = bytes(data)


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOL_BY_SCHEME = {"http": _Pool, "https": _SecurePool}


def _connect(
    connection: HTTPConnection, host: str, check_address: AddressCheck | None
) -> socket.socket:
    """Return a socket connected to the first address that accepts.

    Raises:
        FetchError: every address is refused.
        OSError: no address accepts a connection.
    """
    end_at = time.monotonic() + (connection.timeout or NO_LIMIT_S)
    found = socket.getaddrinfo(
        host.strip("[]"), connection.port, type=socket.SOCK_STREAM
    )
    addresses: list[tuple[int, Any]] = [(each[0], each[4]) for each in found]
    error = OSError(f"{host} has no address")
    for family, address in allowed_addresses(host, addresses, check_address):
        try:
            opened = socket.socket(family, socket.SOCK_STREAM)
            return _connected(opened, address, end_at, connection)
        except OSError as exc:
            error = exc
    try:
        raise error
    finally:
        del error  # its traceback refers to this frame


def _connected(
    opened: socket.socket, address: Any, end_at: float, connection: HTTPConnection
) -> socket.socket:
    try:
        # A timeout of 0 would make the socket non-blocking.
        opened.settimeout(max(end_at - time.monotonic(), 0.001))
        for option in connection.socket_options or ():
            opened.setsockopt(*option)
        opened.connect(address)
        opened.settimeout(connection.timeout)
    except BaseException:
        opened.close()
        raise
    return opened
