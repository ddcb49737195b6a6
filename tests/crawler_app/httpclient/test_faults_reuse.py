"""What happens to a connection between two requests, and what it says about itself."""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from tests.helpers.http.faulty import (
    GOOD,
    FaultServer,
    Peer,
    answers,
    attempt,
    exchange,
    head,
    new_client,
    run,
    settle,
)

LENGTH = b"Content-Length: 4"
IDEMPOTENT = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]


def fetch_twice(script, *others, between=None, **options):
    """Fetch twice, and return the second outcome and the server.

    Args:
        script: Of the first connection; others are of those after it.
        between: A coroutine function that gets the server's end of the connection; it
            runs between the two.
        options: Of the second request.
    """

    async def main():
        async with FaultServer(script, *others) as server:
            client = new_client()
            try:
                first = await attempt(client, server.url + "first")
                assert getattr(first, "body", first) == b"good"
                if between is not None:
                    await between(server.peers[0])
                second = await attempt(client, server.url + "second", **options)
                third = await attempt(client, server.url + "third")
                assert getattr(third, "body", third) == b"good"
            finally:
                client.close()
            await server.all_gone()
            return second, server

    return run(main)


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


def body_for(method):
    return {"body": b"x"} if method in ("POST", "PUT", "PATCH") else {}


# Closed while nobody looks.


@pytest.mark.parametrize("end", [Peer.close, Peer.half_close, Peer.reset])
@pytest.mark.parametrize("turns", [0, 1, 2, 20])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_connection_that_was_closed_between_requests_is_not_used(end, turns, method):
    async def between(peer):
        end(peer)
        await settle(turns)

    second, server = fetch_twice(
        None, between=between, method=method, **body_for(method)
    )

    if method == "GET" or turns == 20:
        assert getattr(second, "body", second) == b"good"
    else:
        # It may have been on its way already, and is not asked twice.
        is_closed = isinstance(second, (HTTPStreamClosedError, OSError))
        assert is_closed or second.body == b"good", repr(second)
    assert len(server.peers) == 2


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
@pytest.mark.parametrize("method", ["POST", "PATCH", "FROB"])
def test_request_that_may_not_come_twice_is_not_tried_again(end, method):
    second, server = fetch_twice(
        answers_then(ends(end)),
        method=method,
        allow_nonstandard_methods=True,
        **body_for(method),
    )

    assert isinstance(second, (HTTPStreamClosedError, OSError)), repr(second)
    assert isinstance(second, OSError) == (end is Peer.reset)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


def test_request_with_a_producer_is_not_tried_again():
    async def produce(write):
        await write(b"x")

    second, server = fetch_twice(
        answers_then(ends(Peer.half_close)),
        method="PUT",
        headers={"Content-Length": "1"},
        body_producer=produce,
    )

    assert isinstance(second, HTTPStreamClosedError), repr(second)
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
    "begun", [b"H", b"HTTP/1.1 200 OK\r\n", head(LENGTH) + b"go", head(status=b"100 x")]
)
def test_request_whose_answer_has_begun_is_not_tried_again(end, begun):
    second, server = fetch_twice(answers_then(ends(end, begun)))

    assert isinstance(second, (HTTPStreamClosedError, OSError)), repr(second)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


def test_request_that_got_nonsense_is_not_tried_again():
    second, server = fetch_twice(answers_then(ends(Peer.half_close, b"nonsense\r\n")))

    assert isinstance(second, HTTPStreamClosedError), repr(second)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


# What comes unasked.


@pytest.mark.parametrize(
    "unasked",
    [
        b"x",
        b"\r\n",
        bytes(100_000),
        b"HTTP/1.1 ",
        head(b"Content-Length: 6") + b"poison",
        head(b"Content-Length: 6", b"Connection: close", status=b"408 Late")
        + b"poison",
        head(status=b"100 Continue"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unasked_bytes_close_an_idle_connection(unasked, method):
    async def between(peer):
        await peer.send(unasked)
        await peer.is_gone.wait()

    second, server = fetch_twice(
        None, between=between, method=method, **body_for(method)
    )

    assert getattr(second, "body", second) == b"good"
    assert len(server.peers) == 2


# What a response says about its connection.


@pytest.mark.parametrize(
    ("lines", "is_reused"),
    [
        ([], True),
        ([b"Connection: keep-alive"], True),
        ([b"Connection: Keep-Alive, Upgrade", b"Upgrade: h2,h2c"], True),
        ([b"Connection: x-custom"], True),
        ([b"Connection: "], True),
        ([b"Connection: close"], False),
        ([b"Connection: Close"], False),
        ([b"connection:close"], False),
        ([b"Connection: close "], False),
        ([b"Connection: keep-alive, close"], False),
        ([b"Connection: close, keep-alive"], False),
        ([b"Connection: x-custom,close"], False),
        ([b"Connection: ,, close ,"], False),
        ([b"Connection: keep-alive", b"Connection: close"], False),
        ([b"Connection: close", b"Connection: keep-alive"], False),
    ],
)
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_connection_header_decides_about_the_connection(lines, is_reused, framing):
    if framing == "length":
        response = head(*lines, LENGTH) + b"good"
    else:
        response = head(*lines, b"Transfer-Encoding: chunked")
        response += b"4\r\ngood\r\n0\r\n\r\n"

    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert result.was_reused == is_reused


@pytest.mark.parametrize(
    ("lines", "is_reused"),
    [
        ([], False),
        ([b"Connection: keep-alive"], True),
        ([b"Connection: Keep-Alive"], True),
        ([b"Connection: close"], False),
        ([b"Connection: keep-alive, close"], False),
        ([b"Keep-Alive: timeout=5"], False),
    ],
)
def test_connection_of_http_1_0_is_kept_only_if_it_says_so(lines, is_reused):
    response = head(*lines, LENGTH).replace(b"HTTP/1.1", b"HTTP/1.0") + b"good"

    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert result.was_reused == is_reused


def test_request_that_asks_to_close_is_answered_and_closed():
    result = exchange(answers(GOOD), headers={"Connection": "close"})

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert not result.was_reused


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"timeout",
        b"timeout=",
        b"timeout=abc",
        b"timeout=-5",
        b"timeout=0",
        b"timeout=0x10",
        b"timeout=1e400",
        b"timeout=nan",
        b"timeout=inf",
        b"timeout=1_0",
        b"timeout=\xb2",
        b"timeout=" + b"9" * 5_000,
        b"timeout=99999999999999999999",
        b'timeout="5"',
        b"timeout=5, timeout=6",
        b"max=0",
        b"max=-1, timeout=5",
        b";;;===,,,",
        b"\xff\xfe",
    ],
)
def test_nonsense_in_keep_alive_is_no_harm(value):
    response = head(b"Connection: keep-alive", b"Keep-Alive: " + value, LENGTH)

    result = exchange(answers(response + b"good"))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
