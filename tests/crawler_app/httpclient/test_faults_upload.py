"""Servers that answer, close or reset while the body of a request is on its way."""

import asyncio
import socket

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import (
    FaultServer,
    Peer,
    attempt,
    exchange,
    head,
    new_client,
    run,
)
from tests.helpers.http.peers import tcp_sockets

# More than sockets hold.
LARGE = bytes(16_000_000)

TOO_LARGE = head(b"Content-Length: 8", status=b"413 Too Large") + b"too much"


async def endless(write):
    while True:
        await write(bytes(100_000))


async def large(write):
    for _ in range(160):
        await write(bytes(100_000))


UPLOADS = {
    "one body": {"body": LARGE},
    "a producer": {"body_producer": large},
    "a producer of a known length": {
        "body_producer": large,
        "headers": {"Content-Length": str(len(LARGE))},
    },
    "an endless producer": {"body_producer": endless},
}


@pytest.fixture(params=UPLOADS)
def upload(request):
    return {"method": "POST", **UPLOADS[request.param]}


@pytest.mark.parametrize("connection", [None, b"Connection: close"])
def test_answer_to_half_a_request_is_returned(upload, connection):
    lines = [connection] if connection else []

    async def script(peer):
        await peer.request_head()
        await peer.send(
            head(b"Content-Length: 8", *lines, status=b"413 Too Large") + b"too much"
        )
        # Nothing more is read: who went on sending would be stuck.
        await peer.is_followed.wait()
        await peer.gone()

    result = exchange(script, **upload)

    assert getattr(result.outcome, "code", result.outcome) == 413
    assert result.outcome.body == b"too much"
    assert not result.was_reused


def test_answer_that_is_followed_by_a_close_is_an_answer_or_a_closed_stream(upload):
    async def script(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE)
        peer.close()
        await peer.gone()

    result = exchange(script, **upload)

    # The kernel resets a connection that is closed with bytes unread.
    if not isinstance(result.outcome, (HTTPStreamClosedError, OSError)):
        assert (result.outcome.code, result.outcome.body) == (413, b"too much")


@pytest.mark.parametrize("end", [Peer.close, Peer.reset])
def test_close_without_an_answer_is_a_closed_stream_or_a_reset(upload, end):
    async def script(peer):
        await peer.request_head()
        end(peer)
        await peer.gone()

    result = exchange(script, **upload)

    assert isinstance(result.outcome, (HTTPStreamClosedError, OSError))


@pytest.mark.parametrize("is_read", [True, False])
def test_half_close_without_an_answer_is_a_closed_stream(upload, is_read):
    async def script(peer):
        await peer.request_head()
        peer.half_close()
        if not is_read:
            await peer.is_followed.wait()
        await peer.gone()

    result = exchange(script, **upload)

    assert type(result.outcome) is HTTPStreamClosedError, repr(result.outcome)


def test_nonsense_during_a_request_is_refused(upload):
    async def script(peer):
        await peer.request_head()
        await peer.send(b"nonsense\r\n")
        await peer.gone()

    result = exchange(script, **upload)

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)


def test_server_that_reads_nothing_runs_into_the_time_limit(upload):
    async def script(peer):
        await peer.request_head()
        await peer.is_followed.wait()
        await peer.gone()

    result = exchange(script, request_timeout=0.1, **upload)

    assert isinstance(result.outcome, HTTPTimeoutError), repr(result.outcome)
    assert str(result.outcome) == "Timeout during request"


def test_early_answer_without_an_end_ends_with_the_connection(upload):
    async def script(peer):
        await peer.request_head()
        await peer.send(head(status=b"413 Too Large") + b"too much")
        peer.half_close()
        await peer.gone()

    result = exchange(script, **upload)

    assert getattr(result.outcome, "body", result.outcome) == b"too much"


def test_large_body_that_is_read_arrives_whole():
    bodies = []

    async def script(peer):
        bodies.append(await peer.request())
        await peer.send(head(b"Content-Length: 2") + b"ok")

    body = bytes(range(256)) * 20_000
    result = exchange(script, method="POST", body=body)

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert bodies == [body]
    assert result.was_reused


def test_producer_that_fails_is_what_comes_out():
    async def produce(write):
        await write(b"x")
        raise ZeroDivisionError("of the producer")

    async def script(peer):
        await peer.request_head()
        await peer.gone()

    result = exchange(script, method="POST", body_producer=produce)

    assert isinstance(result.outcome, ZeroDivisionError), repr(result.outcome)


@pytest.mark.parametrize("size", [0, 4, 6, 100_000])
def test_producer_that_breaks_its_promise_of_a_length_is_a_value_error(size):
    async def produce(write):
        await write(bytes(size))

    async def script(peer):
        await peer.request_head()
        await peer.gone()

    result = exchange(
        script,
        method="POST",
        headers={"Content-Length": "5"},
        body_producer=produce,
    )

    assert isinstance(result.outcome, ValueError), repr(result.outcome)
    assert not result.was_reused


def test_producer_that_is_stuck_is_ended_by_an_answer():
    ended = []

    async def produce(write):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def script(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE)
        await peer.gone()

    result = exchange(script, method="POST", body_producer=produce)

    assert getattr(result.outcome, "code", result.outcome) == 413
    assert ended == [True]


# 100-continue.


def expecting(body=b"hello", **options):
    return {"method": "PUT", "body": body, "expect_100_continue": True, **options}


def test_body_waits_until_it_is_asked_for():
    async def script(peer):
        await peer.request_head()
        early = asyncio.ensure_future(peer.read())
        # Were it under way, loopback would have it here.
        await asyncio.wait([early], timeout=0.02)
        assert not early.done()
        await peer.send(head(status=b"100 Continue"))
        assert await early == b"hello"
        await peer.send(head(b"Content-Length: 2") + b"ok")

    result = exchange(script, **expecting())

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.was_reused


def test_final_answer_in_place_of_100_is_returned_and_the_body_never_sent():
    rest = []

    async def script(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE)
        rest.append(await peer.read())

    result = exchange(script, **expecting())

    assert getattr(result.outcome, "code", result.outcome) == 413
    assert rest == [b""]
    assert not result.was_reused


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 100 ", head(status=b"100 Continue")])
def test_close_around_100_is_an_error(end, begun):
    async def script(peer):
        await peer.request_head()
        await peer.send(begun)
        end(peer)

    result = exchange(script, **expecting())

    assert isinstance(result.outcome, (HTTPStreamClosedError, OSError))


def test_100_twice_is_passed_over():
    async def script(peer):
        await peer.request_head()
        await peer.send(head(status=b"100 Continue") * 2)
        assert await peer.read() == b"hello"
        await peer.send(head(b"Content-Length: 2") + b"ok")

    result = exchange(script, **expecting())

    assert getattr(result.outcome, "body", result.outcome) == b"ok"


def test_100_that_nobody_asked_for_is_passed_over():
    async def script(peer):
        await peer.request()
        await peer.send(head(status=b"100 Continue"))
        await peer.send(head(b"Content-Length: 2") + b"ok")

    result = exchange(script, method="PUT", body=b"hello")

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.was_reused


def test_answer_during_a_request_is_not_the_answer_to_the_next():
    async def early(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE, head(b"Content-Length: 6") + b"poison")
        await peer.gone()

    async def main():
        async with FaultServer(early) as server:
            client = new_client(max_clients=5)
            try:
                first = await attempt(client, server.url, method="PUT", body=LARGE)
                others = [await attempt(client, server.url) for _ in range(3)]
            finally:
                client.close()
            await server.all_gone()
            return first, others

    first, others = run(main)

    assert getattr(first, "code", first) == 413
    assert [other.body for other in others] == [b"good"] * 3


# Small writes.


def test_small_pieces_of_a_request_are_not_held_back():
    # Else the second of two small writes waits until the first is acknowledged, which
    # takes Linux 40 ms.
    held_back = []

    async def script(peer):
        await peer.request()
        held_back.extend(
            not sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for sock in tcp_sockets()
            if sock.family == socket.AF_INET and sock.getsockname() == peer.address
        )
        await peer.send(head(b"Content-Length: 2") + b"ok")

    exchange(script)

    assert held_back == [False]
