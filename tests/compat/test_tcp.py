"""tornado.tcpserver and tornado.tcpclient as code of Tornado 2 to 5 uses them."""

import asyncio
import socket
import ssl
import unittest.mock

import pytest
from tornado import netutil
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.tcpclient import TCPClient, _Connector
from tornado.tcpserver import TCPServer

from gencoro import gen
from gencoro.executors import dummy_executor, run_on_executor
from gencoro.legacy.adaptors import return_future
from tests.helpers.compat.rows import uses


@pytest.fixture
def server(loop):
    """A server that says hello, and whose port is an attribute."""
    server = Hello()
    server.listen_anywhere()
    yield server
    server.stop()


class Hello(TCPServer):
    """Says hello."""

    def listen_anywhere(self):
        self.bind(0, "127.0.0.1")
        self.start()
        (sock,) = self._sockets.values()
        self.port = sock.getsockname()[1]

    @gen.coroutine
    def handle_stream(self, stream, address):
        assert stream.io_loop is self.io_loop
        yield stream.write(b"hello")
        stream.close()


def hello(port):
    @gen.coroutine
    def ask():
        stream = yield TCPClient().connect("127.0.0.1", port)
        return (yield stream.read_until_close())

    return ask


@uses(
    "tornado.tcpserver.TCPServer.__init__",
    "tornado.tcpserver.TCPServer.add_sockets",
    "tornado.tcpserver.TCPServer.io_loop",
)
@pytest.mark.parametrize("by_name", [False, True])
def test_server_serves_on_its_own_loop(loop, other_loop, by_name):
    server = Hello(io_loop=other_loop) if by_name else Hello(other_loop)
    server.listen_anywhere()

    assert server.io_loop is other_loop
    assert IOLoop.current() is loop
    assert other_loop.run_sync(hello(server.port)) == b"hello"
    server.stop()


def test_server_of_a_legacy_subclass(loop, other_loop):
    class Server(Hello):
        def __init__(self, io_loop=None, **kwargs):
            TCPServer.__init__(self, io_loop, **kwargs)

    class Another(Hello):
        def __init__(self, io_loop=None, ssl_options=None):
            super().__init__(io_loop=io_loop, ssl_options=ssl_options)

    assert Server(other_loop, max_buffer_size=7).io_loop is other_loop
    assert Server(other_loop, max_buffer_size=7).max_buffer_size == 7
    assert Server().io_loop is loop
    assert Another(other_loop).io_loop is other_loop
    assert Another().io_loop is loop


def test_arguments_of_a_server(loop):
    context = ssl.create_default_context()

    assert TCPServer(loop, context, 1, 2).read_chunk_size == 2
    assert TCPServer(None, context, 1, 2).ssl_options is context
    assert TCPServer(None, None, 1, 2).max_buffer_size == 1
    assert TCPServer(None, context).ssl_options is context
    with pytest.raises(KeyError, match="certfile"):
        TCPServer(None, {})


def test_arguments_of_a_server_today(loop):
    context = ssl.create_default_context()

    assert TCPServer(context, 1, 2).ssl_options is context
    assert TCPServer(None, 1, 2).max_buffer_size == 1
    assert TCPServer(ssl_options=context).ssl_options is context
    assert "io_loop" not in vars(TCPServer(context))


def test_server_without_a_loop_knows_where_it_runs(server, loop, other_loop):
    assert server.io_loop is loop
    asyncio.set_event_loop(other_loop.asyncio_loop)
    try:
        assert server.io_loop is loop
    finally:
        asyncio.set_event_loop(loop.asyncio_loop)


def test_start_of_a_server_asks_once_for_the_loop(loop):
    server = Hello()
    with unittest.mock.patch.object(IOLoop, "current") as current:
        server.listen_anywhere()
    server.stop()

    assert current.call_count == 1


@uses("tornado.tcpserver.TCPServer.bind")
def test_bind_with_reuse_port_by_position(loop):
    server = Hello()
    server.bind(0, "127.0.0.1", socket.AF_INET, 5, True)
    server.bind(0, "127.0.0.1", socket.AF_INET, 5, socket.AI_PASSIVE)
    legacy, modern = server._pending_sockets

    assert legacy.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
    assert not modern.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
    for sock in (legacy, modern):
        sock.close()


@uses("tornado.tcpclient.TCPClient.__init__", "tornado.tcpclient.TCPClient.io_loop")
@pytest.mark.parametrize("by_name", [False, True])
def test_client_connects_on_its_own_loop(loop, other_loop, by_name):
    server = Hello(io_loop=other_loop)
    server.listen_anywhere()
    client = TCPClient(io_loop=other_loop) if by_name else TCPClient(None, other_loop)
    seen = []

    def connected(future):
        seen.append(IOLoop.current())
        future.result().close()
        other_loop.stop()

    other_loop.add_future(client.connect("127.0.0.1", server.port), connected)
    other_loop.start()

    assert client.io_loop is other_loop
    assert TCPClient().io_loop is loop
    assert seen == [other_loop]
    client.close()
    server.stop()


@uses("tornado.tcpclient.TCPClient.connect")
def test_connect_calls_back(server, loop):
    def connected(stream):
        loop.add_future(stream.read_until_close(), done)

    def done(future):
        seen.append(future.result())
        loop.stop()

    seen = []
    TCPClient().connect("127.0.0.1", server.port, callback=connected)
    loop.start()

    assert seen == [b"hello"]


@uses("tornado.tcpclient._Connector.__init__")
@pytest.mark.parametrize("by_name", [False, True])
def test_connector_with_a_loop(server, loop, by_name):
    def connect(family, address):
        return IOStream(socket.socket(family)).connect(address)

    addresses = [(socket.AF_INET, ("127.0.0.1", server.port))]

    @gen.coroutine
    def main():
        if by_name:
            connector = _Connector(addresses, io_loop=loop, connect=connect)
        else:
            connector = _Connector(addresses, None, connect)
            assert connector.io_loop is loop
            connector = _Connector(addresses, loop, connect)
        _family, address, stream = yield connector.start()
        assert address == addresses[0][1]
        return (yield stream.read_until_close())

    assert loop.run_sync(main) == b"hello"


def test_client_of_a_legacy_subclass(server, loop):
    class Client(TCPClient):
        def _create_stream(self, max_buffer_size, af, addr, **_source):
            stream = IOStream(socket.socket(af), max_buffer_size=max_buffer_size)
            return stream.connect(addr)

    async def main():
        stream = await Client().connect("127.0.0.1", server.port)
        return await stream.read_until_close()

    assert loop.run_sync(main) == b"hello"


def by_callback():
    @return_future
    def resolve(self, host, port, family=0, callback=None):
        callback([(socket.AF_INET, ("127.0.0.1", port))])

    return resolve


def on_executor():
    @run_on_executor
    def resolve(self, host, port, family=0):
        return [(socket.AF_INET, ("127.0.0.1", port))]

    return resolve


def by_coroutine():
    @gen.coroutine
    def resolve(self, host, port, family=0):
        yield gen.moment
        raise gen.Return([(socket.AF_INET, ("127.0.0.1", port))])

    return resolve


@pytest.mark.parametrize("make", [by_callback, on_executor, by_coroutine])
def test_resolver_of_a_program(server, loop, make):
    class Legacy(netutil.Resolver):
        def initialize(self, io_loop):
            self.io_loop = io_loop
            self.executor = dummy_executor

        resolve = make()

    @gen.coroutine
    def main():
        stream = yield TCPClient().connect("a.test", server.port)
        return (yield stream.read_until_close())

    saved = netutil.Resolver._save_configuration()
    netutil.Resolver.configure(Legacy)
    try:
        assert loop.run_sync(main) == b"hello"
        seen = []
        netutil.Resolver(io_loop=loop).resolve(
            "a.test", 80, callback=lambda found: (seen.extend(found), loop.stop())
        )
        loop.start()
    finally:
        netutil.Resolver._restore_configuration(saved)
    assert seen == [(socket.AF_INET, ("127.0.0.1", 80))]


def test_coroutine_is_for_asyncio_if_there_is_no_loop(compat):
    asyncio.set_event_loop(None)

    found = asyncio.run(netutil.Resolver().resolve("127.0.0.1", 80))

    assert found == [(socket.AF_INET, ("127.0.0.1", 80))]
