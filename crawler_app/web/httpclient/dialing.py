"""Opens a connection: DNS, address check, TCP, proxy, TLS.

Rule: an address of a host is only connected to after the address check.  The address of a
proxy is not checked, because the program has chosen it.
"""

import asyncio
import collections
import itertools
import os
import socket
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import httptools
from tornado.netutil import Resolver

from crawler_app.web.httpclient.connection import Connection, read_buffer
from crawler_app.web.httpclient.errors import BadResponseError, ProxyError
from crawler_app.web.httpclient.request import ConnectionKey, Proxy
from crawler_app.web.httpclient.socks import connect_by_socks
from crawler_app.web.httpclient.tls import TlsOptions, context_of
from crawler_app.web.httpclient.tls_transport import TlsTransport
from gencoro import gen

__all__ = ["AddressCheck", "DialProgress", "Dialer", "allowed_addresses"]

# Called with a host name and each of its addresses, as in `socket.connect`; raises to
# refuse.
AddressCheck: TypeAlias = Callable[[str, Any], None]

Addresses: TypeAlias = list[tuple[int, Any]]

# RFC 8305, 8: the delay between two attempts is 250 ms.
NEXT_ATTEMPT_AFTER_S = 0.25

# The default limit for the head of any response.
MAX_PROXY_HEAD_BYTES = 64 * 1024


@dataclass(slots=True)
class DialProgress:
    """The progress of a dial; times are on the loop's clock, 0 if not reached.

    Attributes:
        phase: The current phase, as in "while resolving a.test".
    """

    phase: str = "while connecting"
    resolved_at: float = 0.0
    connected_at: float = 0.0
    secured_at: float = 0.0


class Dialer:
    """Opens connections.

    Args:
        on_idle_close: Passed to each `Connection`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        resolver: Resolver,
        check_address: AddressCheck | None,
        on_idle_close: Callable[[Connection], None],
    ) -> None:
        self.loop = loop
        self.resolver = resolver
        self.check_address = check_address
        self._on_idle_close = on_idle_close
        self.buffer = read_buffer()

    @gen.coroutine
    def dial(
        self, key: ConnectionKey, progress: DialProgress
    ) -> Generator[Any, Any, Connection]:
        """Open a connection for a key.

        Raises:
            OSError: the host cannot be connected to; `ssl.SSLError` if TLS fails.
            ProxyError: the proxy refuses the tunnel.
        """
        connection = Connection(key, self._on_idle_close, self.buffer)
        attempt = _Dial(self, connection, progress)
        try:
            yield from attempt.run()
        except BaseException:
            attempt.undo()
            raise
        return connection


def allowed_addresses(
    host: str, addresses: Addresses, check_address: AddressCheck | None
) -> Addresses:
    """Return the addresses of a host that may be connected to.

    Raises:
        Exception: what the check has raised, if it refuses all of them.
    """
    if check_address is None:
        return addresses
    allowed: Addresses = []
    refusal: Exception | None = None
    for family, address in addresses:
        try:
            check_address(host, address)
        except Exception as exc:  # the caller's check may raise anything
            refusal = exc
        else:
            allowed.append((family, address))
    try:
        if refusal is not None and not allowed:
            raise refusal
    finally:
        del refusal  # its traceback refers to this frame
    return allowed


class _Dial:
    """One attempt to open a connection.

    It keeps a list of its open sockets, because the result of a coroutine that is cancelled
    at that moment would be lost.
    """

    def __init__(
        self, dialer: Dialer, connection: Connection, progress: DialProgress
    ) -> None:
        self._dialer = dialer
        self._loop = dialer.loop
        self._connection = connection
        self._key = connection.key
        self._progress = progress
        self._connected: list[socket.socket] = []
        self._errors: list[OSError] = []  # for addresses that could not be connected to
        self._opening: _TunnelOpening | None = None
        self._tunnel: asyncio.Transport | None = None
        self._tls: TlsTransport | None = None

    def undo(self) -> None:
        """Close everything that is open."""
        self._connection.abort()
        if self._opening is not None:
            self._opening.abort()
        if self._tls is not None:
            self._tls.abort()
        for sock in self._connected:
            sock.close()

    def run(self) -> Generator[Any, Any, None]:
        """Open the connection."""
        key, progress = self._key, self._progress
        sock = yield from self._connect()
        progress.connected_at = self._loop.time()
        if key.proxy is not None and key.proxy.is_socks:
            progress.phase = f"during SOCKS by the proxy {_shown(key.proxy[:2])}"
            yield from connect_by_socks(
                self._loop, sock, key.proxy, key.host.rstrip("."), key.port
            )
        if key.tls is None:
            yield self._loop.create_connection(lambda: self._connection, sock=sock)
            return
        if key.proxy is not None and not key.proxy.is_socks:
            progress.phase = f"during CONNECT by the proxy {_shown(key.proxy[:2])}"
            yield self._open_tunnel(sock, key.proxy)
        progress.phase = f"during TLS handshake with {_shown((key.host, key.port))}"
        yield from self._secure(sock, key.tls)
        progress.secured_at = self._loop.time()

    def _connect(self) -> Generator[Any, Any, socket.socket]:
        """Return a socket connected to the host, or to the proxy."""
        key, progress = self._key, self._progress
        host, port = key.host, key.port
        if key.proxy is not None:
            host, port = key.proxy.host, key.proxy.port
        progress.phase = f"while resolving {host}"
        addresses: Addresses = yield self._dialer.resolver.resolve(
            host, port, key.family
        )
        progress.resolved_at = self._loop.time()
        if key.proxy is None:
            check_address = self._dialer.check_address
            addresses = allowed_addresses(host, addresses, check_address)
        addresses = _usable(host, addresses, key)
        shown = ", ".join(_shown(address) for _, address in addresses)
        whose = "the proxy " if key.proxy is not None else ""
        progress.phase = f"while connecting to {whose}{shown}"
        if len(addresses) == 1:
            yield from self._try(*addresses[0])
        else:
            yield from self._race(_interleaved(addresses))
        if not self._connected:
            raise self._errors.pop()
        return self._keep_first()

    def _race(self, addresses: Addresses) -> Generator[Any, Any, None]:
        """Connect to the first address that accepts ("Happy Eyeballs").

        The attempts start one after another, with a short delay.

        Source: RFC 8305.
        """
        untried = collections.deque(addresses)
        attempts: set[asyncio.Future[None]] = set()
        try:
            while not self._connected and (untried or attempts):
                if untried:
                    attempts.add(self._attempt(*untried.popleft()))
                done, attempts = yield asyncio.wait(
                    attempts,
                    timeout=NEXT_ATTEMPT_AFTER_S if untried else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for attempt in done:
                    attempt.result()
        finally:
            for attempt in attempts:
                attempt.cancel()

    @gen.coroutine
    def _attempt(self, family: int, address: Any) -> Generator[Any, Any, None]:
        yield from self._try(family, address)

    def _try(self, family: int, address: Any) -> Generator[Any, Any, None]:
        """Add a connected socket, or the error."""
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            if family in (socket.AF_INET, socket.AF_INET6):
                # A request sent in two pieces must not wait for an acknowledgment.
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._key.source_ip:
                sock.bind((self._key.source_ip, 0))
            yield from self._connect_socket(sock, address)
        except OSError as exc:
            sock.close()
            if exc.errno is not None:
                text = f"{os.strerror(exc.errno)}: {_shown(address)}"
                exc = OSError(exc.errno, text)
            self._errors.append(exc.with_traceback(None))
            return
        except BaseException:
            sock.close()
            raise
        self._connected.append(sock)

    def _connect_socket(
        self, sock: socket.socket, address: Any
    ) -> Generator[Any, Any, None]:
        """Connect as the loop's ``sock_connect`` does, but without a Task."""
        loop = self._loop
        if not isinstance(loop, asyncio.SelectorEventLoop):
            yield loop.sock_connect(sock, address)
            return
        try:
            sock.connect(address)
        except (BlockingIOError, InterruptedError):
            connected, fd = loop.create_future(), sock.fileno()
            loop.add_writer(fd, _set_done, connected)
            try:
                yield connected
            finally:
                loop.remove_writer(fd)
            if error := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, os.strerror(error)) from None

    def _keep_first(self) -> socket.socket:
        for sock in self._connected[1:]:
            sock.close()
        del self._connected[1:]
        return self._connected[0]

    def _secure(
        self, sock: socket.socket, options: TlsOptions
    ) -> Generator[Any, Any, None]:
        """Start TLS, over the socket or over the tunnel."""
        tls = self._tls = TlsTransport(
            self._loop,
            self._connection,
            context_of(options),
            # A trailing dot is for the resolver; certificates have none.
            self._key.host.rstrip("."),
            self._dialer.buffer,
        )
        if self._tunnel is None:
            yield self._loop.create_connection(lambda: tls, sock=sock)
        else:
            self._tunnel.set_protocol(tls)
            tls.connection_made(self._tunnel)
        yield tls.secured

    @gen.coroutine
    def _open_tunnel(
        self, sock: socket.socket, proxy: Proxy
    ) -> Generator[Any, Any, None]:
        """Ask the proxy for a tunnel to the host."""
        opening = self._opening = _TunnelOpening(self._loop)
        self._tunnel, _ = yield self._loop.create_connection(lambda: opening, sock=sock)
        target = _shown((self._key.host, self._key.port))
        fields = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.authorization:
            fields.append(f"Proxy-Authorization: {proxy.authorization}")
        self._tunnel.write(("\r\n".join(fields) + "\r\n\r\n").encode("latin-1"))
        yield opening.answered


class _TunnelOpening(asyncio.Protocol):
    """Waits for the response to CONNECT."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.answered: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def abort(self) -> None:
        """Close the tunnel immediately."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.answered.done():
            return
        self._received += data
        try:
            self._parser.feed_data(data)
            if len(self._received) > MAX_PROXY_HEAD_BYTES:
                raise BadResponseError("the head is too large")
        except Exception as exc:  # from the parser or from our callback
            cause = exc.__context__ if exc.__context__ is not None else exc
            self._refuse(
                ProxyError(f"the proxy's response to CONNECT is invalid: {cause}")
            )

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        status = self._parser.get_status_code()
        if status < 200 or self.answered.done():
            return
        if status >= 300:
            line = self._received.lstrip().partition(b"\r\n")[0].decode("latin-1")
            self._refuse(ProxyError(f"the proxy answered CONNECT with {line!r}"))
        elif not self._received.endswith(b"\r\n\r\n"):
            raise BadResponseError("data before the tunnel is open")
        else:
            self.answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._refuse(
            exc or ProxyError("the proxy closed the connection during CONNECT")
        )

    def _refuse(self, error: Exception) -> None:
        if not self.answered.done():
            self.answered.set_exception(error)
            self.answered.exception()  # in case nothing awaits it any more


def _set_done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _usable(host: str, addresses: Addresses, key: ConnectionKey) -> Addresses:
    """Remove the addresses that cannot be reached from ``source_ip``."""
    if key.source_ip:
        family = socket.AF_INET6 if ":" in key.source_ip else socket.AF_INET
        addresses = [each for each in addresses if each[0] == family]
    if not addresses:
        raise OSError(f"{host} has no usable address")
    return addresses


def _interleaved(addresses: Addresses) -> Addresses:
    """Alternate the address families, starting with that of the first address."""
    addresses_by_family: dict[int, Addresses] = {}
    for address in addresses:
        addresses_by_family.setdefault(address[0], []).append(address)
    turns: Iterable[tuple[tuple[int, Any] | None, ...]] = itertools.zip_longest(
        *addresses_by_family.values()
    )
    return [address for turn in turns for address in turn if address is not None]


def _shown(address: Any) -> str:
    """Return an address in the usual notation."""
    if not isinstance(address, tuple):
        return str(address)  # a Unix socket
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
