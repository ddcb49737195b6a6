"""Legacy ``TCPServer`` and ``TCPClient``, with an explicit loop."""

import functools
import ssl
import sys
from collections.abc import Callable
from typing import Any

from gencoro.compat.calls.io_loop_arguments import on_loop, take_io_loop
from gencoro.compat.calls.objects_with_loops import (
    having_io_loop,
    keeping_io_loop,
    on_own_loop,
)
from gencoro.compat.modules.ioloop import current
from gencoro.compat.modules.netutil import starting

__all__ = [
    "add_sockets",
    "bind",
    "connect",
    "make_client",
    "make_connector",
    "make_server",
]


def make_client(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``TCPClient(resolver, io_loop)``."""
    return having_io_loop(keeping_io_loop(place=2)(original))


# TCPClient.connect(..., callback=): the callback was never positional.
connect = starting(place=sys.maxsize)


def make_server(original: Callable[..., None]) -> Callable[..., None]:
    """Make ``TCPServer(io_loop, ssl_options, ...)`` store the loop."""
    keeping = keeping_io_loop(place=1)(original)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        # (io_loop, ssl_options): after today's first parameter comes a number.
        if args[:1] == (None,) and isinstance(
            args[1] if len(args) > 1 else None, (dict, ssl.SSLContext)
        ):
            args = args[1:]
        keeping(self, *args, **kwargs)

    return __init__


def add_sockets(original: Callable[..., None]) -> Callable[..., None]:
    """Make a server accept connections on its own loop, and store which that is."""

    @functools.wraps(original)
    def wrapper(self: Any, sockets: Any) -> None:
        # Not IOLoop.current(), which tests replace by a mock and count the calls of.
        self._started_on = current()
        original(self, sockets)

    return having_io_loop(on_own_loop(wrapper))


def bind(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``bind(port, address, family, backlog, reuse_port)``.

    Today's fifth parameter is flags, which are never a bool.
    """

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) == 5 and isinstance(args[4], bool):
            kwargs["reuse_port"] = args[4]
            args = args[:4]
        original(self, *args, **kwargs)

    return wrapper


def make_connector(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``_Connector(addrinfo, io_loop, connect)``."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        io_loop, args = take_io_loop((self, *args), kwargs, 2, most=3)
        with on_loop(io_loop):
            original(*args, **kwargs)
        self.connect = functools.partial(_connect_as_today, self.connect)

    return __init__


def _connect_as_today(connect: Callable[..., Any], *address: Any) -> Any:
    """Connect, and return the stream and its Future; it used to be the Future alone.

    ``connect`` is a method of `TCPClient`, which programs override.
    """
    connecting = connect(*address)
    return connecting if isinstance(connecting, tuple) else (_Unknown(), connecting)


class _Unknown:
    """A placeholder for a stream that the connector does not have yet."""

    def close(self) -> None:
        """Do nothing: the connector closes a stream that is connected too late."""
