"""Servers that respond, close or reset while the body of a request is being sent."""

import asyncio

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import (
    Peer,
    attempt,
    exchange,
    head,
    run,
    serving,
)

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


LENGTH = b"Content-Length: 8"


@pytest.mark.parametrize("lines", [[LENGTH], [LENGTH, b"Connection: close"], []])
def test_response_to_half_a_request_is_returned(upload, lines):
    async def script(peer):
        await peer.request_head()
        await peer.send(head(*lines, status=b"413 Too Large") + b"too much")
        if lines:
            # Nothing more is read, so further sending would block.
            await peer.is_followed.wait()
        else:
            peer.half_close()
        await peer.gone()

    result = exchange(script, **upload)

    assert getattr(result.outcome, "code", result.outcome) == 413
    assert result.outcome.body == b"too much"
    assert not result.was_reused


def test_response_followed_by_a_close_is_returned_or_a_closed_stream(upload):
    async def script(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE)
        peer.close()
        await peer.gone()

    result = exchange(script, **upload)

    # The kernel resets a connection that is closed with bytes unread.
    if not isinstance(result.outcome, (HTTPStreamClosedError, OSError)):
        assert (result.outcome.code, result.outcome.body) == (413, b"too much")


def says_nonsense(peer):
    return peer.send(b"nonsense\r\n")


ERRORS = {
    "close": (Peer.close, (HTTPStreamClosedError, OSError)),
    "reset": (Peer.reset, (HTTPStreamClosedError, OSError)),
    "half close": (Peer.half_close, HTTPStreamClosedError),
    "nonsense": (says_nonsense, BadResponseError),
    "silence": (lambda peer: None, HTTPTimeoutError),
}


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("fault", ERRORS)
def test_fault_without_a_response_is_an_error(upload, fault, is_read):
    act, errors = ERRORS[fault]

    async def script(peer):
        await peer.request_head()
        if (acting := act(peer)) is not None:
            await acting
        if not is_read or fault == "silence":
            await peer.is_followed.wait()
        await peer.gone()

    result = exchange(script, request_timeout=0.1, **upload)

    assert isinstance(result.outcome, errors), repr(result.outcome)
    assert fault != "half close" or type(result.outcome) is HTTPStreamClosedError
    assert fault != "silence" or str(result.outcome) == "Timeout during request"


def test_stuck_producer_is_ended_by_a_response():
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


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 100 ", head(status=b"100 Continue")])
def test_close_around_100_is_an_error(end, begun):
    async def script(peer):
        await peer.request_head()
        await peer.send(begun)
        end(peer)

    result = exchange(script, method="PUT", body=b"x", expect_100_continue=True)

    assert isinstance(result.outcome, (HTTPStreamClosedError, OSError))


def test_response_during_a_request_is_not_for_the_next():
    async def early(peer):
        await peer.request_head()
        await peer.send(TOO_LARGE, head(b"Content-Length: 6") + b"poison")
        await peer.gone()

    async def main():
        async with serving(early, max_clients=5) as (server, client):
            first = await attempt(client, server.url, method="PUT", body=LARGE)
            return first, [await attempt(client, server.url) for _ in range(3)]

    first, others = run(main)

    assert getattr(first, "code", first) == 413
    assert [other.body for other in others] == [b"good"] * 3
