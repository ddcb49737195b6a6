"""Connections are kept while a crawl alternates between many hosts."""

import contextlib
import resource

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Request
from crawler_app.web.fetcher import HttpFetcher
from tests.helpers.fetching import run
from tests.helpers.http.faulty import FaultServer

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

HOSTS = 30


async def connections_for_two_visits():
    """Fetch from each host twice, in rounds; return the number of connections."""
    async with contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(FaultServer()) for _ in range(HOSTS)]
        fetcher = HttpFetcher(CrawlConfig((servers[0].url,), concurrency=2))
        with contextlib.closing(fetcher):
            for server in servers * 2:
                fetched = await fetcher.fetch(Request(server.url))
                assert fetched.body == b"good"
        return sum(len(server.peers) for server in servers)


@pytest.mark.parametrize(
    ("open_files", "connections"), [(1024, HOSTS), (4 * (HOSTS - 1), 2 * HOSTS)]
)
def test_connections_to_many_hosts_are_kept(monkeypatch, open_files, connections):
    limits = (open_files, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)

    assert run(connections_for_two_visits, "pooled") == connections
