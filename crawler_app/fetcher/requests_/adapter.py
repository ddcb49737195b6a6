"""How `requests` reaches a server here: checked addresses, exact heads, a way to stop.

A thread carries one exchange at a time, and what that goes over is its `Wire`: the
connections below find it by the thread that they run in.  Rule: a thread has a wire
before it sends, and only `Wire.cut` is for other threads.
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

from crawler_app.errors import FetchError
from crawler_app.httpclient.dialing import AddressCheck
from crawler_app.httpclient.request import Proxy

__all__ = ["CrawlAdapter", "Wire", "wire_of_this_thread"]

# As our own client's; http.client has limits for a line and for the number of lines.
MAX_HEAD_BYTES = 64 * 1024

# Interim responses before the final one; the same as our own client's.
MAX_INTERIM = 10

# The caller's own time limits are there for that.
NO_LIMIT_S = 24 * 3600.0

_of_this_thread = threading.local()


class Wire:
    """What one exchange goes over.

    Args:
        check_address: Called with a host and each address of it before that is connected
            to; raises FetchError to refuse.  None for no check.

    Attributes:
        request_head: As sent.
        raw_head: As received.
        peer: The address at the other end, without its port.
        is_cut: Nobody wants the response any more.
    """

    def __init__(self, check_address: AddressCheck | None) -> None:
        self.check_address = check_address
        self.request_head = b""
        self.raw_head = b""
        self.peer = ""
        self.is_cut = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def use(self, connected: socket.socket) -> None:
        """Go over this socket from now on."""
        with contextlib.suppress(OSError):  # the server has left
            self.peer = str(connected.getpeername()[0])
        with self._lock:
            self._socket = connected
            if self.is_cut:
                _shut_down(connected)

    def cut(self) -> None:
        """End the exchange from another thread: whoever waits for the socket wakes up."""
        with self._lock:
            self.is_cut = True
            if self._socket is not None:
                _shut_down(self._socket)

    def release(self) -> None:
        """The exchange is over; its socket may be for another one."""
        with self._lock:
            self._socket = None


def _shut_down(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has been closed meanwhile
        # Not by way of an SSLSocket, which would go on in plain text.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


@contextlib.contextmanager
def wire_of_this_thread(wire: Wire) -> Iterator[None]:
    """Have the connections of this thread go over a wire."""
    _of_this_thread.wire = wire
    try:
        yield
    finally:
        _of_this_thread.wire = None
        wire.release()


def _wire() -> Wire:
    wire: Wire | None = getattr(_of_this_thread, "wire", None)
    return Wire(None) if wire is None else wire


class CrawlAdapter(HTTPAdapter):
    """A transport adapter whose connections are as the head of this module says."""

    def __init__(self, proxy: Proxy | None = None) -> None:
        self._proxy = proxy
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools; called by the base class."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOL_BY_SCHEME

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """Return the pools of a proxy; called by the base class."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOL_BY_SCHEME
        return manager

    def proxy_headers(self, proxy: str) -> dict[str, str]:
        """Return what the proxy gets; in UTF-8, where requests has latin-1."""
        if self._proxy is None or not self._proxy.authorization:
            return {}
        return {"Proxy-Authorization": self._proxy.authorization}


class _RecordingFile:
    """Reads the lines of a head, and keeps those of the last one.

    Attributes:
        lines: Up to the blank one.
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
    """Skips all interim responses, where its base takes 103 for the answer."""

    def begin(self) -> None:
        if self.headers is not None:
            return
        for _ in range(1 + MAX_INTERIM):
            self._read_head()
            if self.status >= 200 or self.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                return
            self.headers = self.msg = None  # as its base begins with
        raise http.client.BadStatusLine("too many 1xx responses")

    def _read_head(self) -> None:
        recorder: Any = _RecordingFile(self.fp)
        file, self.fp = self.fp, recorder
        try:
            super().begin()
        finally:
            if self.fp is recorder:  # it is none any more after an error
                self.fp = file
        if not recorder.is_whole:
            raise http.client.RemoteDisconnected("closed within the head")
        _wire().raw_head = b"".join(recorder.lines)


class _Connection(HTTPConnection):
    """A connection to an address that was checked before."""

    response_class = _Response

    def _new_conn(self) -> socket.socket:
        wire = _wire()
        # The address of a proxy is the choice of the program.
        check_address = None if self.proxy is not None else wire.check_address
        connected = _connect(self, self._dns_host, check_address)
        wire.use(connected)  # TLS has yet to come
        return connected

    def connect(self) -> None:
        super().connect()
        _wire().use(self.sock)

    def request(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            _wire().use(self.sock)
        super().request(*args, **kwargs)

    def send(self, data: Any) -> None:
        # Afterwards: it may have to connect first, and to send what opens a tunnel.
        super().send(data)
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
    """Return a socket that is connected to the first address that answers.

    Raises:
        FetchError: all of them are refused.
        OSError: none answers.
    """
    end_at = time.monotonic() + (connection.timeout or NO_LIMIT_S)
    refusal: FetchError | None = None
    error: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host.strip("[]"), connection.port, type=socket.SOCK_STREAM
    ):
        try:
            if check_address is not None:
                check_address(host, address)
            opened = socket.socket(family, kind, protocol)
            return _connected(opened, address, end_at, connection)
        except FetchError as exc:
            refusal = exc
        except OSError as exc:
            error = exc
    try:
        raise error or refusal or OSError(f"{host} has no address")
    finally:
        del error, refusal  # which hold this frame


def _connected(
    opened: socket.socket, address: Any, end_at: float, connection: HTTPConnection
) -> socket.socket:
    try:
        # 0 would mean not to wait at all.
        opened.settimeout(max(end_at - time.monotonic(), 0.001))
        for option in connection.socket_options or ():
            opened.setsockopt(*option)
        opened.connect(address)
        opened.settimeout(connection.timeout)
    except BaseException:
        opened.close()
        raise
    return opened
