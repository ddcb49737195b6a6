"""A kept connection that turns out to be dead: who is asked again, and how often."""

import asyncio

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.faulty import GOOD, Loopback, Peer, body_for, fetch_twice, head
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


IDEMPOTENT = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]
LENGTH = b"Content-Length: 4"
LENGTH_OF_ONE = {"headers": {"Content-Length": "1"}}


def answers_then(fault):
    """Return a script that answers well once, and does the fault at the next request."""

    async def script(peer):
        await peer.request()
        await peer.send(GOOD)
        await peer.request()
        await fault(peer)

    return script


def ends(how, *parts):
    async def fault(peer):
        await peer.send(*parts)
        how(peer)

    return fault


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("method", IDEMPOTENT)
def test_request_that_may_come_twice_is_tried_again(end, method):
    second, server = fetch_twice(
        answers_then(ends(end)),
        method=method,
        allow_nonstandard_methods=True,
        **body_for(method),
    )

    assert getattr(second, "code", second) == 200
    assert second.body == (b"" if method == "HEAD" else b"good")
    assert [len(peer.heads) for peer in server.peers] == [2, 2]
    assert server.peers[0].heads[-1] == server.peers[1].heads[0]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST", "body": b"x"},
        {"method": "PATCH", "body": b"x"},
        {"method": "FROB", "allow_nonstandard_methods": True},
        {"method": "PUT", "body_producer": lambda write: write(b"x"), **LENGTH_OF_ONE},
    ],
    ids=lambda options: options["method"],
)
def test_request_that_may_not_come_twice_is_not_tried_again(end, options):
    second, server = fetch_twice(answers_then(ends(end)), **options)

    assert isinstance(second, (HTTPStreamClosedError, OSError)), repr(second)
    assert isinstance(second, OSError) == (end is Peer.reset)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
def test_request_is_tried_again_once_only(end):
    async def hangs_up(peer):
        await peer.request()
        end(peer)

    second, server = fetch_twice(answers_then(ends(end)), hangs_up)

    assert isinstance(second, (HTTPStreamClosedError, OSError)), repr(second)
    # The third is for the fetch after it.
    assert [len(peer.heads) for peer in server.peers] == [2, 1, 1]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize(
    "begun",
    [
        b"H",
        b"nonsense\r\n",
        b"HTTP/1.1 200 OK\r\n",
        head(LENGTH) + b"go",
        head(status=b"100 x"),
    ],
)
def test_request_whose_answer_has_begun_is_not_tried_again(end, begun):
    second, server = fetch_twice(answers_then(ends(end, begun)))

    assert isinstance(second, (HTTPStreamClosedError, OSError)), repr(second)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


# Whole, and within the time limits.


@gen.coroutine
def test_request_is_not_sent_again_by_another_kept_connection(client, serve):
    def script(request):
        if request.connection < 2 < len(server.requests):
            return request.stream.close()
        return HELLO

    server = serve(script)
    yield [client.fetch(server.url) for _ in range(2)]

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert server.used[-1] == 2
    assert len(server.requests) == 4


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


def stalling_at_the_second(server):
    """Return a script: the second request stalls for a second, and its connection ends."""

    @gen.coroutine
    def stall(request):
        yield gen.sleep(1)
        request.stream.close()

    return lambda request: stall(request) if len(server.requests) == 2 else HELLO


@gen.coroutine
def test_second_attempt_has_all_its_time_to_connect(client, web, virtual_clock):
    web.script = stalling_at_the_second(web)
    yield client.fetch(web.url)

    response = yield client.fetch(web.url, connect_timeout=0.2)

    assert response.body == b"hello"
    assert web.used == [0, 0, 1]


@gen.coroutine
def test_second_attempt_has_no_more_than_its_time_to_connect(
    make_client, web, virtual_clock
):
    hosts = []

    async def is_silent_the_second_time(host):
        hosts.append(host)
        if len(hosts) == 2:
            await asyncio.Event().wait()

    client = make_client(resolver=Loopback(is_silent_the_second_time))
    web.script = stalling_at_the_second(web)
    yield client.fetch(web.url)
    begun_at = virtual_clock.time()

    with pytest.raises(HTTPTimeoutError, match="Timeout while resolving"):
        yield client.fetch(web.url, connect_timeout=0.2)

    assert virtual_clock.time() - begun_at == pytest.approx(1.2)
