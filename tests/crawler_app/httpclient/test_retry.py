"""A kept connection that turns out to be dead: who is asked again, and how often."""

import asyncio
import socket
import struct

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")

# How a lost connection comes out of fetch.
LOST = (HTTPStreamClosedError, OSError)


def closing_at(*places):
    """Return a script: connections are closed at these (connection, request) places."""
    counts = {}

    def script(request):
        counts[request.connection] = counts.get(request.connection, -1) + 1
        if (request.connection, counts[request.connection]) in places:
            request.stream.close()
            return None
        return HELLO

    return script


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
@gen.coroutine
def test_idempotent_request_is_sent_again_by_a_new_connection(client, serve, method):
    server = serve(closing_at((0, 1)))
    yield client.fetch(server.url)

    body = b"body" if method == "PUT" else None
    response = yield client.fetch(
        server.url + "/x", method=method, body=body, allow_nonstandard_methods=True
    )

    _, lost, again = server.requests
    assert response.code == 200
    assert server.used == [0, 0, 1]
    assert (lost.head, lost.body) == (again.head, again.body)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST", "body": b"x"},
        {"method": "PATCH", "body": b"x"},
        {"method": "OTHER", "allow_nonstandard_methods": True},
        {"method": "PUT", "body_producer": lambda write: write(b"x")},
    ],
    ids=["post", "patch", "unknown", "producer"],
)
@gen.coroutine
def test_request_that_might_have_been_done_is_not_sent_again(client, serve, options):
    server = serve(closing_at((0, 1)))
    yield client.fetch(server.url)

    with pytest.raises(LOST):
        yield client.fetch(server.url, **options)

    assert server.used == [0, 0]
    assert len(server.streams) == 1


@gen.coroutine
def test_request_is_sent_again_after_a_reset(client, serve):
    def script(request):
        if len(server.requests) == 2:
            linger = struct.pack("ii", 1, 0)
            request.stream.socket.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, linger
            )
            request.stream.close()
            return None
        return HELLO

    server = serve(script)
    yield client.fetch(server.url)

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert server.used == [0, 0, 1]


@gen.coroutine
def test_request_is_sent_again_over_tls_too(client, serve, certificates):
    context = certificates.server_context()
    server = serve(closing_at((0, 1)), ssl_options=context)
    yield client.fetch(server.url, ca_certs=certificates.ca)

    response = yield client.fetch(server.url, ca_certs=certificates.ca)

    assert response.body == b"hello"
    assert server.used == [0, 0, 1]


@gen.coroutine
def test_request_is_sent_again_once_only(client, serve):
    server = serve(closing_at((0, 1), (1, 0)))
    yield client.fetch(server.url)

    with pytest.raises(LOST):
        yield client.fetch(server.url)

    assert server.used == [0, 0, 1]


@gen.coroutine
def test_request_is_not_sent_again_by_another_kept_connection(client, serve):
    server = serve(closing_at((0, 1), (1, 1)))
    yield [client.fetch(server.url) for _ in range(2)]

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert server.used[-1] == 2
    assert len(server.requests) == 4


@gen.coroutine
def test_request_on_a_new_connection_is_not_sent_again(client, serve):
    server = serve(closing_at((0, 0)))

    with pytest.raises(LOST):
        yield client.fetch(server.url)

    assert server.used == [0]


@pytest.mark.parametrize("said", [b"H", b"HTTP/1.1 100 Continue\r\n\r\n", HELLO[:-1]])
@gen.coroutine
def test_request_is_not_sent_again_once_an_answer_has_begun(client, serve, said):
    @gen.coroutine
    def script(request):
        if len(server.requests) == 1:
            yield request.stream.write(HELLO)
        else:
            yield request.stream.write(said)
            request.stream.close()

    server = serve(script)
    yield client.fetch(server.url)

    with pytest.raises(LOST):
        yield client.fetch(server.url)

    assert server.used == [0, 0]


@gen.coroutine
def test_request_that_ran_out_of_time_is_not_sent_again(client, serve, virtual_clock):
    server = serve(lambda request: HELLO if len(server.requests) == 1 else None)
    yield client.fetch(server.url)

    with pytest.raises(HTTPTimeoutError, match="Timeout during request"):
        yield client.fetch(server.url, request_timeout=5)

    assert server.used == [0, 0]


@gen.coroutine
def test_time_limit_holds_for_both_attempts_together(client, serve, virtual_clock):
    @gen.coroutine
    def script(request):
        if len(server.requests) == 1:
            yield request.stream.write(HELLO)
        elif len(server.requests) == 2:
            yield gen.sleep(6)
            request.stream.close()

    server = serve(script)
    yield client.fetch(server.url)
    begun_at = virtual_clock.time()

    with pytest.raises(HTTPTimeoutError, match="Timeout during request"):
        yield client.fetch(server.url, request_timeout=10)

    assert virtual_clock.time() - begun_at == 10
    assert server.used == [0, 0, 1]


@gen.coroutine
def test_body_is_sent_again_whole(client, serve):
    body = bytes(range(256)) * 4000
    server = serve(closing_at((0, 1)))
    yield client.fetch(server.url)

    yield client.fetch(server.url, method="PUT", body=body)

    assert [request.body for request in server.requests[1:]] == [body, body]


class SecondTimeSilent:
    """A resolver that knows loopback, and answers the first question only."""

    def __init__(self):
        self._is_asked = False

    def resolve(self, host, port, family=0):
        found = asyncio.get_running_loop().create_future()
        if not self._is_asked:
            found.set_result([(socket.AF_INET, ("127.0.0.1", port))])
        self._is_asked = True
        return found


def stalling_at_the_second(server):
    """Return a script: the second request stalls for a second, and its connection ends."""

    @gen.coroutine
    def stall(request):
        yield gen.sleep(1)
        request.stream.close()

    return lambda request: stall(request) if len(server.requests) == 2 else HELLO


@gen.coroutine
def test_second_attempt_has_all_its_time_to_connect(client, serve, virtual_clock):
    server = serve(HELLO)
    server.script = stalling_at_the_second(server)
    yield client.fetch(server.url)

    response = yield client.fetch(server.url, connect_timeout=0.2)

    assert response.body == b"hello"
    assert server.used == [0, 0, 1]


@gen.coroutine
def test_second_attempt_has_no_more_than_its_time_to_connect(
    make_client, serve, virtual_clock
):
    client = make_client(resolver=SecondTimeSilent())
    server = serve(HELLO)
    server.script = stalling_at_the_second(server)
    yield client.fetch(server.url)
    begun_at = virtual_clock.time()

    with pytest.raises(HTTPTimeoutError, match="Timeout while resolving"):
        yield client.fetch(server.url, connect_timeout=0.2)

    assert virtual_clock.time() - begun_at == pytest.approx(1.2)
