"""Clients: configuration, their loop, and closing."""

import asyncio
import contextlib
import gc
import http.server
import threading
import warnings

import pytest
from tornado.httpclient import HTTPClient

from crawler_app.httpclient import PooledAsyncHTTPClient
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.http.peers import client_sockets


@gen.coroutine
def test_shared_client_is_replaced_after_closing():
    one = PooledAsyncHTTPClient()
    one.close()
    other = PooledAsyncHTTPClient()
    other.close()
    yield gen.moment

    assert one is not other


@pytest.fixture
def site_of_another_thread():
    """Serve hello in a separate thread; yield its URL and the ports of its connections."""
    ports = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            ports.append(self.client_address[1])
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", ports
        server.shutdown()
        thread.join()


def test_blocking_client_leaves_nothing(site_of_another_thread):
    url, ports = site_of_another_thread

    client = HTTPClient(PooledAsyncHTTPClient, max_clients=3)
    bodies = [client.fetch(url).body for _ in range(3)]
    client.close()

    assert bodies == [b"hello"] * 3
    assert len(set(ports)) == 1
    assert client_sockets() == {}


def test_dropped_blocking_client_leaves_nothing(site_of_another_thread):
    url, _ = site_of_another_thread

    client = HTTPClient(PooledAsyncHTTPClient)
    client.fetch(url)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        del client
        gc.collect()

    assert [str(w.message) for w in warned] == []
    assert client_sockets() == {}


def test_client_closed_after_its_loop_stopped_leaves_nothing(site_of_another_thread):
    url, _ = site_of_another_thread
    clients = []

    @gen.coroutine
    def main():
        clients.append(PooledAsyncHTTPClient(force_instance=True))
        yield clients[0].fetch(url)

    with contextlib.closing(IOLoop(make_current=False)) as loop:
        loop.run_sync(main)
        kept = len(client_sockets())
        clients[0].close()
        left = client_sockets()

    assert kept == 1
    assert left == {}


def test_client_of_another_loop_is_an_error(site_of_another_thread):
    url, ports = site_of_another_thread

    async def make():
        return PooledAsyncHTTPClient(force_instance=True)

    async def use(client):
        future = client.fetch(url)
        with pytest.raises(RuntimeError, match="belongs to another event loop"):
            async with asyncio.timeout(60):
                await future

    async def use_here(client):
        return (await client.fetch(url)).body

    with contextlib.closing(IOLoop(make_current=False)) as loop:
        client = loop.run_sync(make)
        asyncio.run(use(client))
        # It is not left in the queue.
        body = loop.run_sync(lambda: use_here(client))
        client.close()

    assert body == b"hello"
    assert len(ports) == 1
