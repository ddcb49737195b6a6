"""Connecting: which addresses of a name are tried, in which order, and the timeouts."""

import asyncio
import contextlib
import socket

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.httpclient import PooledAsyncHTTPClient
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.http.faulty import Loopback
from tests.helpers.http.peers import (
    Addresses,
    answer,
    black_hole,
    client_sockets,
    refusing_port,
    tcp_sockets,
)

HELLO = answer(b"hello")


@pytest.fixture
def refused():
    """Return IPv4 and IPv6 addresses where no server listens."""
    with contextlib.ExitStack() as stack:
        ports = []
        for host in ("127.0.0.1", "::1"):
            port, sock = refusing_port(host)
            stack.enter_context(sock)
            ports.append(port)
        yield ("127.0.0.1", ports[0]), ("::1", ports[1], 0, 0)


@pytest.fixture
def hole():
    """Return an address that does not answer at all."""
    with contextlib.ExitStack() as stack:
        port, keeping = black_hole()
        for sock in keeping:
            stack.enter_context(sock)
        yield ("127.0.0.1", port)


# Which address is used.


@gen.coroutine
def test_all_addresses_are_tried(make_client, web, refused):
    addresses = Addresses(*refused, *refused, web.address, *refused)
    client = make_client(resolver=addresses, check_address=lambda *_: None)

    response = yield client.fetch("http://a.test/")

    assert response.peer_address == web.address


@gen.coroutine
def test_next_address_overtakes_a_silent_one(
    make_client, web, hole, virtual_clock, sockets
):
    client = make_client(resolver=Addresses(hole, web.address))
    before = len(sockets())

    response = yield client.fetch("http://a.test/")
    yield virtual_clock.advance(0)

    assert response.peer_address == web.address
    # RFC 8305, 5: 250 ms are recommended, 100 ms the least, 2 s the most.
    assert 0.1 <= virtual_clock.time() <= 2
    # Both ends of one connection: the slower attempt was abandoned.
    assert len(sockets()) == before + 2


@gen.coroutine
def test_ipv4_overtakes_silent_ipv6(make_client, web, hole, virtual_clock):
    # The silent IPv6 address is mapped to a silent IPv4 address here.
    mapped = (f"::ffff:{hole[0]}", hole[1], 0, 0)
    client = make_client(resolver=Addresses(mapped, mapped, mapped, web.address))

    yield client.fetch("http://a.test/")

    # Families alternate, so that two dead addresses of one family are not waited for.
    assert virtual_clock.time() <= 0.5


@gen.coroutine
def test_last_error_is_raised_if_all_addresses_fail(make_client, refused):
    client = make_client(resolver=Addresses(*refused))

    with pytest.raises(ConnectionRefusedError, match="Connection refused"):
        yield client.fetch("http://a.test/")


@gen.coroutine
def test_failed_attempts_leave_nothing(make_client, refused, hole, sockets):
    client = make_client(resolver=Addresses(*refused, hole))
    before = sockets()

    with pytest.raises(HTTPTimeoutError):
        yield client.fetch("http://a.test/", connect_timeout=0.05)
    for _ in range(10):
        yield gen.moment

    assert sockets() == before


@pytest.mark.parametrize("runs", [True, False])
def test_closing_the_client_while_connecting_leaves_nothing(hole, runs, sockets):
    async def main():
        client = PooledAsyncHTTPClient(force_instance=True)
        future = client.fetch(f"http://127.0.0.1:{hole[1]}/")
        before = sockets()
        while sockets() == before:
            await asyncio.sleep(0)
        if runs:
            client.close()
        return client, future

    before = sockets()
    with contextlib.closing(IOLoop(make_current=False)) as loop:
        client, future = loop.run_sync(main)
        client.close()

    assert isinstance(future.exception(), HTTPStreamClosedError)
    assert sockets() == before


@gen.coroutine
def test_ipv6_can_be_disabled(make_client, serve):
    server, other = serve(HELLO, host="::1"), serve(answer(b"other"))
    resolver = Addresses(("::1", server.port, 0, 0), other.address)
    client = make_client(resolver=resolver)

    bodies = []
    for options in ({}, {"allow_ipv6": False}):
        response = yield client.fetch("http://a.test/", **options)
        bodies.append(response.body)

    assert bodies == [b"hello", b"other"]
    with pytest.raises(OSError):
        yield make_client().fetch(server.url, allow_ipv6=False)


@gen.coroutine
def test_connection_comes_from_the_given_interface(client, serve):
    server = serve(
        lambda request: answer(request.stream.socket.getpeername()[0].encode())
    )

    response = yield client.fetch(server.url, network_interface="127.0.0.9")

    assert response.body == b"127.0.0.9"


@gen.coroutine
def test_name_without_an_address_is_an_error(make_client):
    client = make_client(resolver=Addresses())

    with pytest.raises(OSError, match=r"a\.test"):
        yield client.fetch("http://a.test/")


@gen.coroutine
def test_error_of_the_resolver_is_raised_unchanged(make_client):
    async def fail(host):
        raise ZeroDivisionError("of the resolver")

    client = make_client(resolver=Loopback(fail))

    with pytest.raises(ZeroDivisionError, match="of the resolver"):
        yield client.fetch("http://a.test/")


@gen.coroutine
def test_small_writes_are_sent_immediately(client, web):
    # With Nagle's algorithm the second one would wait for at least 40 ms.
    yield client.fetch(web.url)

    ours = client_sockets()
    options = [
        sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        for sock in tcp_sockets()
        if sock.getsockname()[1] in ours
    ]
    assert options == [1]


# Time.


@pytest.mark.parametrize(
    ("connect_timeout", "request_timeout", "end"),
    [(3, 20, 3), (3, 2, 2), (0, 4, 4), (5, 0, 5)],
)
@gen.coroutine
def test_connecting_is_limited_by_the_shorter_timeout(
    client, hole, virtual_clock, connect_timeout, request_timeout, end
):
    limits = {"connect_timeout": connect_timeout, "request_timeout": request_timeout}

    with pytest.raises(HTTPTimeoutError) as caught:
        yield client.fetch(f"http://127.0.0.1:{hole[1]}/", **limits)

    assert str(caught.value) == f"Timeout while connecting to 127.0.0.1:{hole[1]}"
    assert virtual_clock.time() == end


@gen.coroutine
def test_connect_timeout_ends_with_the_connection(client, web, virtual_clock):
    @gen.coroutine
    def slow(request):
        yield gen.sleep(10)
        yield request.stream.write(answer(b"slow"))

    web.script = slow

    response = yield client.fetch(web.url, connect_timeout=1, request_timeout=0)

    assert response.body == b"slow"
