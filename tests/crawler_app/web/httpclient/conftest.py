"""What tests of the HTTP client share: servers that count, certificates, no lost sockets.

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

# Far beyond what any test takes on a busy machine.
HANGS_S = 60


@pytest.fixture(autouse=True)
def only_what_hangs_is_ended(monkeypatch):
    monkeypatch.setenv("ASYNC_TEST_TIMEOUT", str(HANGS_S))


@pytest.fixture(autouse=True)
def every_socket_is_closed(no_socket_is_left):
    """Look at them around each test."""


@pytest.fixture(autouse=True)
def nothing_is_said_by_asyncio():
    """Fail where asyncio has to tell of an error that nobody took."""
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("asyncio").addHandler(handler)
    yield
    logging.getLogger("asyncio").removeHandler(handler)
    assert said == []


@pytest.fixture
def make_client(io_loop):
    """Make a client with options; all of them are closed at the end."""
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
    """Return a client for which every name is this machine."""
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
