"""The fixtures of the pytest plugin: a loop, its clock, and a server with its client.

Their names and meanings are those of pytest-tornado.  They are plain functions here;
`gencoro.pytest_plugin` makes fixtures of them.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

# The functions import Tornado, so that test suites without these fixtures do not.
if TYPE_CHECKING:
    from tornado.httpclient import AsyncHTTPClient
    from tornado.httpserver import HTTPServer

    from gencoro.ioloop import IOLoop
    from gencoro.virtual_clock import VirtualClock

__all__ = ["FIXTURES"]

# The time limit for closing the connections of a server, in seconds.
CLOSING_S = 5.0

APP_IS_MISSING = """\
http_server needs a fixture `app`, which returns the application to serve.  Define it in
the test module or in conftest.py:

    @pytest.fixture
    def app():
        return tornado.web.Application([...])
"""


def virtual_clock() -> "VirtualClock":
    """Run the test's loop in virtual time: sleeping for an hour takes no time."""
    from gencoro.virtual_clock import VirtualClock

    return VirtualClock()


def io_loop(request: pytest.FixtureRequest) -> "Iterator[IOLoop]":
    """Return a new IOLoop, which is current during the test."""
    from gencoro.testrun import new_io_loop

    if "virtual_clock" in request.fixturenames:
        asyncio_loop = request.getfixturevalue("virtual_clock").new_event_loop()
    else:
        asyncio_loop = asyncio.new_event_loop()
    with new_io_loop(asyncio_loop) as loop:
        yield loop


def http_server(
    request: pytest.FixtureRequest, io_loop: "IOLoop"
) -> "Iterator[HTTPServer]":
    """Serve the application of the fixture `app` on a free port of 127.0.0.1."""
    from tornado.httpserver import HTTPServer
    from tornado.testing import bind_unused_port

    try:
        app = request.getfixturevalue("app")
    except pytest.FixtureLookupError as missing:
        if missing.argname != "app":
            raise
        raise pytest.fail.Exception(APP_IS_MISSING, pytrace=False) from None
    server = HTTPServer(app)
    server.add_socket(bind_unused_port()[0])
    yield server
    server.stop()
    io_loop.run_sync(server.close_all_connections, timeout=CLOSING_S)


def http_client(io_loop: "IOLoop") -> "Iterator[AsyncHTTPClient]":
    """Return an AsyncHTTPClient on the test's loop."""
    from tornado.httpclient import AsyncHTTPClient

    client = AsyncHTTPClient()
    yield client
    client.close()


def http_port(http_server: "HTTPServer") -> int:
    """Return the port of `http_server`."""
    # Read from the server, which a test or another plugin may have created.
    listening = next(iter(http_server._sockets.values()))
    port: int = listening.getsockname()[1]
    return port


def http_server_port(http_port: int) -> int:
    """Return the port of `http_server`, as `http_port` does."""
    return http_port


def base_url(http_port: int) -> str:
    """Return the URL of `http_server`, without a trailing slash."""
    return f"http://127.0.0.1:{http_port}"


# The fixtures that the plugin offers.
FIXTURES = (
    base_url,
    http_client,
    http_port,
    http_server,
    http_server_port,
    io_loop,
    virtual_clock,
)
