"""Legacy ``TCPServer`` and ``TCPClient``, with an explicit loop."""

import functools
import ssl
import sys
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop

from gencoro.compat.calls.io_loops import on_loop, take_io_loop
from gencoro.compat.calls.own_loops import keeping_io_loop, on_own_loop
from gencoro.compat.tornado_.netutil import starting

__all__ = [
    "add_sockets",
    "bind",
    "connect",
    "make_client",
    "make_connector",
    "make_server",
]

# TCPClient(resolver, io_loop).
make_client = keeping_io_loop(place=2)

# TCPClient.connect(..., callback=): no place has ever been the callback's.
connect = starting(place=sys.maxsize)


def make_server(original: Callable[..., None]) -> Callable[..., None]:
    """Have ``TCPServer(io_loop, ssl_options, ...)`` keep the loop."""
    keeping = keeping_io_loop(place=1)(original)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        # Also by position; no size is a context.
        if args[:1] == (None,) and isinstance(
            args[1] if len(args) > 1 else None, (dict, ssl.SSLContext)
        ):
            args = args[1:]
        keeping(self, *args, **kwargs)

    return __init__


def add_sockets(original: Callable[..., None]) -> Callable[..., None]:
    """Have a server accept on its own loop, and know on which it does."""

    @functools.wraps(original)
    def wrapper(self: Any, sockets: Any) -> None:
        self._started_on = IOLoop.current()
        original(self, sockets)

    return on_own_loop(wrapper)


def bind(original: Callable[..., None]) -> Callable[..., None]:
    """Have ``bind(port, address, family, backlog, reuse_port)`` understood.

    Today the fifth are flags, which are no truth values.
    """

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) == 5 and isinstance(args[4], bool):
            kwargs["reuse_port"] = args[4]
            args = args[:4]
        original(self, *args, **kwargs)

    return wrapper


def make_connector(original: Callable[..., None]) -> Callable[..., None]:
    """Have ``_Connector(addrinfo, io_loop, connect)`` understood."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        io_loop, args = take_io_loop((self, *args), kwargs, 2, most=3)
        with on_loop(io_loop):
            original(*args, **kwargs)
        self.connect = functools.partial(_connect_as_today, self.connect)

    return __init__


def _connect_as_today(connect: Callable[..., Any], *address: Any) -> Any:
    """Connect, and return the stream and its Future; there was but the Future once.

    What connects is a method of `TCPClient`, which programs override.
    """
    connecting = connect(*address)
    return connecting if isinstance(connecting, tuple) else (_Unknown(), connecting)


class _Unknown:
    """Stands for a stream that the connector has not got yet."""

    def close(self) -> None:
        """Leave it open: when it is connected too late, the connector will close it."""
