"""Bodies of requests: given, produced, and left unread."""

import asyncio

import pytest
from tornado.httpclient import HTTPClientError

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")

PARTS = [b"one", b"", b"two" * 50_000, b"three"]
WHOLE = b"".join(PARTS)


def produce_at_once(write):
    for part in PARTS:
        write(part)


@gen.coroutine
def produce_in_steps(write):
    for part in PARTS:
        yield write(part)
        yield gen.moment


async def produce_natively(write):
    for part in PARTS:
        await write(part)
        await asyncio.sleep(0)


PRODUCERS = [produce_at_once, produce_in_steps, produce_natively]


@pytest.mark.parametrize("produce", PRODUCERS)
@gen.coroutine
def test_produced_body_comes_in_chunks(client, serve, produce):
    server = serve(HELLO)

    yield client.fetch(server.url, method="PUT", body_producer=produce)

    (request,) = server.requests
    assert request.body == WHOLE
    assert request.headers["Transfer-Encoding"] == "chunked"
    assert "Content-Length" not in request.headers


@pytest.mark.parametrize("produce", PRODUCERS)
@gen.coroutine
def test_produced_body_of_a_length_comes_without_chunks(client, serve, produce):
    server = serve(HELLO)
    headers = {"Content-Length": str(len(WHOLE))}

    for _ in range(2):
        yield client.fetch(
            server.url, method="PUT", body_producer=produce, headers=headers
        )

    assert [request.body for request in server.requests] == [WHOLE, WHOLE]
    assert "Transfer-Encoding" not in server.requests[0].headers
    assert server.used == [0, 0]


@gen.coroutine
def test_producer_may_write_nothing(client, serve):
    server = serve(HELLO)

    for headers in ({}, {"Content-Length": "0"}):
        yield client.fetch(
            server.url,
            method="PUT",
            body_producer=lambda write: None,
            headers=headers,
        )

    assert [request.body for request in server.requests] == [b"", b""]
    assert server.used == [0, 0]


@pytest.mark.parametrize("length", [len(WHOLE) - 1, len(WHOLE) + 1])
@pytest.mark.parametrize("produce", PRODUCERS)
@gen.coroutine
def test_produced_body_of_another_length_is_an_error(client, serve, produce, length):
    server = serve(lambda request: None, reads_bodies=False)

    with pytest.raises(ValueError, match=str(length)):
        yield client.fetch(
            server.url,
            method="PUT",
            body_producer=produce,
            headers={"Content-Length": str(length)},
        )
    gone = yield server.gone(0)

    # What the server has got of it is never the whole body.
    assert gone


@pytest.mark.parametrize("when", ["at_once", "later", "natively"])
@gen.coroutine
def test_error_of_a_producer_comes_out_as_it_is(client, serve, when):
    server = serve(HELLO)

    def at_once(write):
        write(b"x")
        raise ZeroDivisionError("of the producer")

    @gen.coroutine
    def later(write):
        yield write(b"x")
        raise ZeroDivisionError("of the producer")

    async def natively(write):
        await write(b"x")
        raise ZeroDivisionError("of the producer")

    produce = {"at_once": at_once, "later": later, "natively": natively}[when]

    with pytest.raises(ZeroDivisionError, match="of the producer"):
        yield client.fetch(server.url, method="PUT", body_producer=produce)
    gone = yield server.gone(0)

    assert gone
    assert server.requests == []


@gen.coroutine
def test_producer_waits_for_a_server_that_does_not_read(client, serve, virtual_clock):
    written = 0
    part = bytes(65536)
    count = 1000

    @gen.coroutine
    def produce(write):
        nonlocal written
        for _ in range(count):
            yield write(part)
            written += len(part)

    @gen.coroutine
    def script(request):
        nonlocal stalled_at
        yield virtual_clock.advance(1)
        stalled_at = written
        body = yield request.stream.read_bytes(count * len(part))
        assert body == bytes(len(body))
        yield request.stream.write(HELLO)

    stalled_at = None
    server = serve(script, reads_bodies=False)

    response = yield client.fetch(
        server.url,
        method="PUT",
        body_producer=produce,
        headers={"Content-Length": str(count * len(part))},
    )

    assert response.body == b"hello"
    # What the buffers of the kernel hold, and little more.
    assert 0 < stalled_at < count * len(part) / 4
    assert written == count * len(part)


@gen.coroutine
def test_producer_is_told_that_nobody_listens_any_more(client, serve):
    ended = []

    @gen.coroutine
    def produce(write):
        try:
            while True:
                yield write(bytes(65536))
        finally:
            ended.append(True)

    server = serve(answer(b"enough", "413 Too Large"), reads_bodies=False)

    response = yield client.fetch(
        server.url, method="PUT", body_producer=produce, raise_error=False
    )
    yield gen.moment

    assert (response.code, response.body) == (413, b"enough")
    assert ended == [True]


@gen.coroutine
def test_cancelling_ends_the_producer(client, serve):
    ended = []

    @gen.coroutine
    def produce(write):
        try:
            yield write(b"x")
            yield asyncio.Future()
        finally:
            ended.append(True)

    server = serve(HELLO, reads_bodies=False)
    server.script = lambda request: None
    future = client.fetch(server.url, method="PUT", body_producer=produce)
    yield server.came(1)

    future.cancel()
    gone = yield server.gone(0)

    assert gone
    assert ended == [True]


@gen.coroutine
def test_error_status_without_reading_the_body_reaches_the_caller(client, serve):
    # The server answers, and closes with most of a large body unread.
    @gen.coroutine
    def script(request):
        yield request.stream.write(answer(b"no", "403 No", Connection="close"))
        request.stream.close()

    server = serve(script, reads_bodies=False)

    with pytest.raises((HTTPClientError, OSError)) as caught:
        yield client.fetch(server.url, method="PUT", body=bytes(100_000))

    # Best effort: a reset may overtake the answer.
    assert getattr(caught.value, "code", 403) in (403, 599)
