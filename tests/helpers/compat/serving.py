"""A server on 127.0.0.1 for tests of legacy handlers."""

import contextlib
from collections.abc import Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.tcpclient import TCPClient
from tornado.testing import bind_unused_port
from tornado.web import Application

from gencoro.ioloop import IOLoop
from gencoro.legacy.stack_context import NullContext

__all__ = ["PATIENCE_S", "Site", "called_back"]

# What a test waits for at the longest; no test needs it.
PATIENCE_S = 60.0


def called_back(loop: IOLoop, start: Callable[[Callable[..., None]], Any]) -> Any:
    """Run the loop until the callback given to `start` is called; return its argument."""
    calls: list[Any] = []

    def callback(value: Any) -> None:
        calls.append(value)
        loop.stop()

    start(callback)
    with NullContext():
        guard = loop.call_later(PATIENCE_S, loop.stop)
    loop.start()
    loop.remove_timeout(guard)
    (value,) = calls
    return value


class Site:
    """Serves one thing, and is its client.

    Attributes:
        server: What serves; None until `serve`.
        log: Where handlers of tests say what happened to them.
    """

    def __init__(self, loop: IOLoop) -> None:
        self.loop = loop
        self.log: list[Any] = []
        self.server: HTTPServer | None = None

    def serve(self, *things: Any, **settings: Any) -> "Site":
        """Serve handlers, each at / if it has no path; or a callback, or an application."""
        if len(things) == 1 and not isinstance(things[0], (type, tuple)):
            return self.serve_by(HTTPServer(things[0], **settings))
        paths = [each if isinstance(each, tuple) else ("/", each) for each in things]
        return self.serve_by(HTTPServer(Application(paths, site=self, **settings)))

    def serve_by(self, server: HTTPServer) -> "Site":
        """Serve by a server that has been made."""
        self.server = server
        socket, self.port = bind_unused_port()
        server.add_socket(socket)
        return self

    def fetch(self, path: str = "/", **options: Any) -> HTTPResponse:
        """Return the site's response, of any status."""

        async def fetch() -> HTTPResponse:
            client = AsyncHTTPClient(force_instance=True)
            url = f"http://127.0.0.1:{self.port}{path}"
            with contextlib.closing(client):
                return await client.fetch(url, raise_error=False, **options)

        return self.run(fetch)

    def send(self, request: bytes) -> bytes:
        """Send these bytes, and return everything received until the site closes."""

        async def send() -> bytes:
            with contextlib.closing(await self.connect()) as stream:
                await stream.write(request)
                return await stream.read_until_close()

        return self.run(send)

    async def connect(self) -> IOStream:
        """Return a stream to the site."""
        return await TCPClient().connect("127.0.0.1", self.port)

    def run(self, function: Any) -> Any:
        """Run a coroutine function to its end."""
        return self.loop.run_sync(function, timeout=PATIENCE_S)

    def close(self) -> None:
        """Stop serving."""
        if self.server is not None:
            self.server.stop()
            self.run(self.server.close_all_connections)
