"""Legacy `tornado.httpserver`: the server's loop, and the class of its connections."""

import functools
import weakref
from collections.abc import Callable
from typing import Any

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

from gencoro.compat.calls.objects_with_loops import keeping_io_loop

__all__ = [
    "HTTPConnection",
    "initialize",
    "proxy_adapter",
]

# HTTPServer(request_callback, no_keep_alive, io_loop, ...).
keep_io_loop = keeping_io_loop(place=3)


def initialize(original: Callable[..., None]) -> Callable[..., None]:
    """Accept a loop, and set the attribute ``no_keep_alive``."""

    keeping = keep_io_loop(original)

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        # (io_loop, xheaders): None and a bool, which today's ssl_options never are.
        if len(args) > 3 and args[2] is None and isinstance(args[3], bool):
            args = (*args[:2], *args[3:])
        keeping(self, *args, **kwargs)
        self.no_keep_alive = self.conn_params.no_keep_alive

    return wrapper


def proxy_adapter(original: Callable[..., None]) -> Callable[..., None]:
    """Set ``xheaders`` on a connection, since the headers of its proxy are trusted."""

    @functools.wraps(original)
    def wrapper(self: Any, delegate: Any, request_conn: Any) -> None:
        original(self, delegate, request_conn)
        request_conn.xheaders = True

    return wrapper


class _ConnectionType(type):
    """Makes the class stand for Tornado's own connections too, which replaced its objects.

    A program patches their methods by this name, as gunicorn does, or asks for the type.
    """

    def __getattr__(cls, name: str) -> Any:
        return getattr(HTTP1Connection, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        plain = getattr(HTTP1Connection, name)

        @functools.wraps(plain)
        def method(self: HTTP1Connection, *args: Any, **kwargs: Any) -> Any:
            # Clients have connections of the same class today.
            return (plain if self.is_client else value)(self, *args, **kwargs)

        setattr(HTTP1Connection, name, method)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, HTTP1Connection) or super().__instancecheck__(
            instance
        )


class HTTPConnection(metaclass=_ConnectionType):
    """Serves the requests of one accepted stream, for programs with their own server.

    Its methods such as ``write`` and ``finish`` are those of the current request's.

    Args:
        stream: The accepted stream.
        address: The address of the client.
        request_callback: Called with each request; can be an application.
        no_keep_alive: Whether to close the stream after one request.
        xheaders: Whether to trust the client's address in the headers of a proxy.
        protocol: ``http`` or ``https``; None to derive it from the stream.
    """

    _current: Any = None

    def __init__(
        self,
        stream: IOStream,
        address: Any,
        request_callback: Callable[[Any], object],
        no_keep_alive: bool = False,
        xheaders: bool = False,
        protocol: str | None = None,
    ) -> None:
        self.stream = stream
        self.address = address
        self.request_callback = request_callback
        self.no_keep_alive = no_keep_alive
        self.xheaders = xheaders
        self.protocol = protocol
        server = _ServerOfOne(
            request_callback,
            no_keep_alive=no_keep_alive,
            xheaders=xheaders,
            protocol=protocol,
        )
        server.owner = weakref.ref(self)
        # Not server.handle_stream, which the caller may have overridden.
        HTTPServer.handle_stream(server, stream, address)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


class _ServerOfOne(HTTPServer):
    """The server of one `HTTPConnection`, which it tells the current request's."""

    owner: "weakref.ref[HTTPConnection]"

    def start_request(self, server_conn: object, request_conn: Any) -> Any:
        owner = self.owner()
        if owner is not None:
            owner._current = request_conn
        return super().start_request(server_conn, request_conn)
