"""Clients: configuration, their loop, and closing."""

import asyncio
import contextlib
import gc
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
def url(site):
    """Serve hello in a separate thread."""
    site.answer("/", b"hello")
    return site.url


def test_blocking_client_leaves_nothing(url):
    client = HTTPClient(PooledAsyncHTTPClient, max_clients=3)
    bodies = [client.fetch(url).body for _ in range(3)]
    kept = len(client_sockets())
    client.close()

    assert bodies == [b"hello"] * 3
    assert kept == 1
    assert client_sockets() == {}


def test_dropped_blocking_client_leaves_nothing(url):
    client = HTTPClient(PooledAsyncHTTPClient)
    client.fetch(url)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        del client
        gc.collect()

    assert [str(w.message) for w in warned] == []
    assert client_sockets() == {}


def test_client_closed_after_its_loop_stopped_leaves_nothing(url):
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


def test_client_of_another_loop_is_an_error(site, url):
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
    assert site.paths == ["/"]
