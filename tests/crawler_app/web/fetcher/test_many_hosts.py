"""Connections are kept while a crawl alternates between many hosts."""

import asyncio
import contextlib
import resource

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Request
from crawler_app.web.fetcher import HttpFetcher

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

HOSTS = 30


class Server(asyncio.Protocol):
    """Answers each request, and keeps the connection open."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        assert data.endswith(b"\r\n\r\n")
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


async def connections_for_two_visits():
    """Fetch from each host twice, in rounds; return the number of connections."""
    made = []

    def accept():
        made.append(Server())
        return made[-1]

    loop = asyncio.get_running_loop()
    async with contextlib.AsyncExitStack() as stack:
        urls = []
        for _ in range(HOSTS):
            server = await loop.create_server(accept, "127.0.0.1", 0)
            await stack.enter_async_context(server)
            urls.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        fetcher = HttpFetcher(CrawlConfig((urls[0],), concurrency=2))
        with contextlib.closing(fetcher):
            for url in urls * 2:
                assert (await fetcher.fetch(Request(url))).body == b"x"
        await asyncio.sleep(0)
        for server in made:
            server.transport.abort()
    return len(made)


@pytest.mark.parametrize(
    ("open_files", "connections"), [(1024, HOSTS), (4 * (HOSTS - 1), 2 * HOSTS)]
)
def test_connections_to_many_hosts_are_kept(monkeypatch, open_files, connections):
    limits = (open_files, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)

    assert asyncio.run(connections_for_two_visits()) == connections
