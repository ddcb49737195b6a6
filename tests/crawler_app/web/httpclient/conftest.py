"""Fixtures of the tests of the HTTP client: servers, certificates, and no leaked sockets.

Client and servers are on the test's own loop, so that virtual time holds for both.
"""

import contextlib
import logging

import pytest

from crawler_app.httpclient import PooledAsyncHTTPClient
from tests.helpers.http.certificates import certificates, other_certificates
from tests.helpers.http.faulty import Loopback
from tests.helpers.http.forward_proxy import ForwardProxy
from tests.helpers.http.peers import RawServer, answer

__all__ = ["certificates", "other_certificates"]

# Far more than any test takes on a busy machine.
HANGS_S = 60


@pytest.fixture(autouse=True)
def only_hanging_tests_time_out(monkeypatch):
    monkeypatch.setenv("ASYNC_TEST_TIMEOUT", str(HANGS_S))


@pytest.fixture(autouse=True)
def every_socket_is_closed(no_socket_is_left):
    """Compare the open sockets before and after each test."""


@pytest.fixture(autouse=True)
def asyncio_logs_nothing():
    """Fail if asyncio logs an error that was never retrieved."""
    logged = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: logged.append(record.getMessage())
    logging.getLogger("asyncio").addHandler(handler)
    yield
    logging.getLogger("asyncio").removeHandler(handler)
    assert logged == []


@pytest.fixture
def make_client(io_loop):
    """Return a function that makes a client, which is closed at the end."""
    with contextlib.ExitStack() as stack:

        def make(**options):
            client = PooledAsyncHTTPClient(force_instance=True, **options)
            stack.callback(client.close)
            return client

        yield make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def named(make_client):
    """Return a client that resolves every name to this machine."""
    return make_client(resolver=Loopback())


@pytest.fixture
def servers(io_loop):
    """A list of servers that are stopped at the end."""
    servers = []
    yield servers
    for server in servers:
        server.stop()
        server.close_connections()
    io_loop.run_sync(lambda: [server.ended for server in servers], timeout=HANGS_S)


@pytest.fixture
def serve(servers):
    """Start a server that follows a script."""

    def start(script, **options):
        servers.append(RawServer(script, **options))
        return servers[-1]

    return start


@pytest.fixture
def web(serve):
    """Say hello over HTTP."""
    return serve(answer(b"hello"))


@pytest.fixture
def secure_web(serve, certificates):
    """Say hello over HTTPS, with the certificate for a.test and loopback."""
    return serve(answer(b"hello"), ssl_options=certificates.server_context())


@pytest.fixture
def make_proxy(servers):
    def make():
        servers.append(ForwardProxy())
        return servers[-1]

    return make


@pytest.fixture
def proxy(make_proxy):
    return make_proxy()


@pytest.fixture
def secure_client(make_client, certificates):
    """Return a client that trusts the servers of the tests."""
    return make_client(defaults={"ca_certs": certificates.ca})
