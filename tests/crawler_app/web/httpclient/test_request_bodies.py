"""Request bodies: given, produced, and unread ones."""

import asyncio

import pytest

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")

PARTS = [b"one", b"", b"two" * 50_000, b"three"]
WHOLE = b"".join(PARTS)
FRAMING = ("Content-Length", "Transfer-Encoding")


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
def test_produced_body_is_chunked_or_has_a_length(client, web, produce):
    of_a_length = {"Content-Length": str(len(WHOLE))}

    for headers in ({}, of_a_length, {}):
        yield client.fetch(
            web.url, method="PUT", body_producer=produce, headers=headers
        )

    assert [request.body for request in web.requests] == [WHOLE] * 3
    in_chunks = {"Transfer-Encoding": "chunked"}
    framing = [
        {name: request.headers[name] for name in FRAMING if name in request.headers}
        for request in web.requests
    ]
    assert framing == [in_chunks, of_a_length, in_chunks]
    assert web.used == [0, 0, 0]


@gen.coroutine
def test_producer_may_write_nothing(client, web):
    for headers in ({}, {"Content-Length": "0"}):
        yield client.fetch(
            web.url,
            method="PUT",
            body_producer=lambda write: None,
            headers=headers,
        )

    assert [request.body for request in web.requests] == [b"", b""]
    assert web.used == [0, 0]


@pytest.mark.parametrize("length", [len(WHOLE) - 1, len(WHOLE) + 1])
@pytest.mark.parametrize("produce", PRODUCERS)
@gen.coroutine
def test_wrong_length_of_a_produced_body_is_an_error(client, serve, produce, length):
    server = serve(lambda request: None, reads_bodies=False)

    with pytest.raises(ValueError, match=str(length)):
        yield client.fetch(
            server.url,
            method="PUT",
            body_producer=produce,
            headers={"Content-Length": str(length)},
        )
    yield server.gone(0)

    # The server never receives the whole body.


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
    # The size of the kernel's buffers, and little more.
    assert 0 < stalled_at < count * len(part) / 4
    assert written == count * len(part)
