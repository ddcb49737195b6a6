"""Asks a SOCKS5 proxy to connect to a host.

Rule: the proxy resolves the name, so that names of an intranet work, and none leaks to the
resolver of this machine.

Source: RFC 1928; RFC 1929 for the user and password.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Generator
from typing import Any

from crawler_app.web.httpclient.errors import ProxyError
from crawler_app.web.httpclient.request import Proxy

__all__ = ["connect_by_socks"]

VERSION, LOGIN_VERSION = 5, 1
NO_LOGIN, BY_PASSWORD, NO_METHOD = 0, 2, 0xFF
CONNECT = 1
NAME = 3
SIZE_BY_ADDRESS_TYPE = {1: 4, 4: 16}

# RFC 1928, 6.
MEANINGS = (
    "general failure",
    "not allowed by its rules",
    "network unreachable",
    "host unreachable",
    "connection refused",
    "TTL expired",
    "command not supported",
    "address type not supported",
)


def connect_by_socks(
    loop: asyncio.AbstractEventLoop,
    sock: socket.socket,
    proxy: Proxy,
    host: str,
    port: int,
) -> Generator[Any, Any, None]:
    """Make a socket that is connected to a proxy one to the host.

    Raises:
        ProxyError: the proxy refuses, or does not speak SOCKS5.
    """
    login = proxy.username is not None
    methods = bytes((NO_LOGIN, BY_PASSWORD) if login else (NO_LOGIN,))
    yield loop.sock_sendall(sock, bytes((VERSION, len(methods))) + methods)
    version, method = yield from _read(loop, sock, 2)
    if version != VERSION:
        raise ProxyError("the proxy does not speak SOCKS5")
    if method == NO_METHOD or method == BY_PASSWORD and not login:
        raise ProxyError("the proxy asks for another login")
    if method == BY_PASSWORD:
        yield from _log_in(loop, sock, proxy)
    request = bytes((VERSION, CONNECT, 0)) + _address(host) + port.to_bytes(2, "big")
    yield loop.sock_sendall(sock, request)
    _, status, _, kind = yield from _read(loop, sock, 4)
    if status:
        meaning = MEANINGS[status - 1] if status <= len(MEANINGS) else f"code {status}"
        raise ProxyError(f"the proxy did not connect to {host}:{port}: {meaning}")
    size = SIZE_BY_ADDRESS_TYPE.get(kind)
    if size is None:
        (size,) = yield from _read(loop, sock, 1)
    yield from _read(loop, sock, size + 2)  # the address that the proxy connects from


def _log_in(
    loop: asyncio.AbstractEventLoop, sock: socket.socket, proxy: Proxy
) -> Generator[Any, Any, None]:
    username, password = (proxy.username or "").encode(), proxy.password.encode()
    if max(len(username), len(password)) > 255:
        raise ProxyError("a user or password of SOCKS5 has at most 255 bytes")
    head = bytes((LOGIN_VERSION, len(username)))
    yield loop.sock_sendall(sock, head + username + bytes((len(password),)) + password)
    _, status = yield from _read(loop, sock, 2)
    if status:
        raise ProxyError("the proxy does not accept the user and password")


def _address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.encode("ascii")
        if len(name) > 255:
            raise ProxyError("a name in SOCKS5 has at most 255 bytes") from None
        return bytes((NAME, len(name))) + name
    return bytes((1 if address.version == 4 else 4,)) + address.packed


def _read(
    loop: asyncio.AbstractEventLoop, sock: socket.socket, size: int
) -> Generator[Any, Any, bytes]:
    """Read exactly this many bytes: the next ones are the host's."""
    read = b""
    while len(read) < size:
        part: bytes = yield loop.sock_recv(sock, size - len(read))
        if not part:
            raise ProxyError("the proxy closed the connection")
        read += part
    return read
