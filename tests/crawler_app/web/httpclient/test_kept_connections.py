"""When a connection is used again: what it says, and what happens between two requests."""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from gencoro import gen
from tests.helpers.http.faulty import (
    GOOD,
    Peer,
    answers,
    body_for,
    exchange,
    fetch_twice,
    head,
    settle,
)
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
LENGTH = b"Content-Length: 4"


# Closed while idle.


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
    ("version", "lines", "is_reused"),
    [
        (b"1.1", [], True),
        (b"1.1", [b"Connection: keep-alive"], True),
        (b"1.1", [b"Connection: Keep-Alive, Upgrade", b"Upgrade: h2,h2c"], True),
        (b"1.1", [b"Connection: x-custom"], True),
        (b"1.1", [b"Connection: "], True),
        (b"1.1", [b"Connection: close"], False),
        (b"1.1", [b"Connection: Close"], False),
        (b"1.1", [b"connection:close"], False),
        (b"1.1", [b"Connection: close "], False),
        (b"1.1", [b"Connection: keep-alive, close"], False),
        (b"1.1", [b"Connection: close, keep-alive"], False),
        (b"1.1", [b"Connection: x-custom,close"], False),
        (b"1.1", [b"Connection: ,, close ,"], False),
        (b"1.1", [b"Connection: keep-alive", b"Connection: close"], False),
        (b"1.1", [b"Connection: close", b"Connection: keep-alive"], False),
        (b"1.0", [], False),
        (b"1.0", [b"Connection: keep-alive"], True),
        (b"1.0", [b"Connection: Keep-Alive"], True),
        (b"1.0", [b"Connection: x, Keep-Alive"], True),
        (b"1.0", [b"Connection: x"], False),
        (b"1.0", [b"Connection: close"], False),
        (b"1.0", [b"Connection: keep-alive, close"], False),
        (b"1.0", [b"Keep-Alive: timeout=5"], False),
    ],
)
def test_connection_header_decides_about_the_connection(version, lines, is_reused):
    response = head(*lines, LENGTH).replace(b"1.1", version) + b"good"

    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert result.was_reused == is_reused


@pytest.mark.parametrize(
    "headers", [{"Connection": "close"}, {"connection": "x, CLOSE"}]
)
def test_request_that_asks_to_close_is_answered_and_closed(headers):
    result = exchange(answers(GOOD), headers=headers)

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert not result.was_reused


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"timeout=",
        b"timeout=-5",
        b"timeout=0",
        b"timeout=1e400",
        b"timeout=nan",
        b"timeout=\xb2",
        b"timeout=" + b"9" * 5_000,
        b'timeout="5"',
        b"timeout=5, timeout=6",
        b"max=-1, timeout=5",
        b";;;===,,,",
    ],
)
def test_nonsense_in_keep_alive_is_no_harm(value):
    response = head(b"Connection: keep-alive", b"Keep-Alive: " + value, LENGTH)

    result = exchange(answers(response + b"good"))

    assert getattr(result.outcome, "body", result.outcome) == b"good"


@gen.coroutine
def test_next_request_is_not_sent_before_the_answer_is_out(make_client, serve):
    early = []

    @gen.coroutine
    def script(request):
        half = HELLO[: len(HELLO) // 2]
        yield request.stream.write(half)
        following = request.stream.read_bytes(1)
        for _ in range(10):
            yield gen.moment
        early.append(following.done())
        yield request.stream.write(HELLO[len(half) :])
        first = yield following
        rest = yield request.stream.read_until(b"\r\n\r\n")
        assert (first + rest).startswith(b"GET / ")
        yield request.stream.write(HELLO)

    server = serve(script)
    client = make_client(max_clients=2)

    responses = yield [client.fetch(server.url) for _ in range(4)]

    assert [response.body for response in responses] == [b"hello"] * 4
    assert early
    assert not any(early)
