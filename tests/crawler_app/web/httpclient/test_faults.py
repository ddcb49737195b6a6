"""Truncated, endless and dripping responses."""

import random

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.httpclient import BadResponseError, ResponseTooLargeError
from tests.helpers.http.faulty import (
    Peer,
    answers,
    exchange,
    head,
    says_nothing,
)
from tests.helpers.http.packing import PACK_BY_CODING

CHUNKED = head(b"Transfer-Encoding: chunked", b"Trailer: X")

# A response truncated at every place.
CUTS = [
    whole[:place]
    for whole in (
        head(status=b"100 Continue") + head(b"Content-Length: 5") + b"hello",
        CHUNKED + b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    )
    for place in range(len(whole))
]
# For tests that do not depend on the place.
SOME_CUTS = CUTS[::7]


def is_plainly_closed(error):
    """Return whether the error says only that the response is incomplete."""
    return type(error) is HTTPStreamClosedError


def test_truncated_response_is_a_closed_stream():
    for cut in CUTS:
        result = exchange(answers(cut, end=Peer.half_close))

        assert is_plainly_closed(result.outcome), (cut, result.outcome)
        assert str(result.outcome), cut
        # The request came once: on a new connection nothing is retried.
        (first, second) = result.server.peers
        assert len(first.heads) == len(second.heads) == 1, cut


@pytest.mark.parametrize("begun", [*SOME_CUTS, head() + b"hello"])
def test_reset_within_a_response_is_raised(begun):
    result = exchange(answers(begun, end=Peer.reset))

    assert isinstance(result.outcome, ConnectionResetError), repr(result.outcome)
    assert len(result.server.peers) == 2


# Silence.


@pytest.mark.parametrize("cut", SOME_CUTS)
def test_silent_server_runs_into_the_timeout(cut):
    result = exchange(answers(cut), request_timeout=0.02)

    assert isinstance(result.outcome, HTTPTimeoutError), repr(result.outcome)
    assert str(result.outcome) == "Timeout during request"
    assert not result.was_reused


@pytest.mark.parametrize("limits", [(0.02, 20.0), (20.0, 0.02), (0.02, 0.0)])
def test_timeout_of_the_tls_handshake_names_the_server(limits):
    connect_timeout, request_timeout = limits

    async def https(peer):
        await says_nothing(peer)

    result = exchange_https(
        https, connect_timeout=connect_timeout, request_timeout=request_timeout
    )

    assert isinstance(result.outcome, HTTPTimeoutError), repr(result.outcome)
    (first, _) = result.server.peers
    assert str(result.outcome) == (
        f"Timeout during TLS handshake with 127.0.0.1:{result.server.port}"
    )
    assert first.heads == []


@pytest.mark.parametrize("end", [Peer.half_close, Peer.close, Peer.reset])
def test_server_that_closes_during_the_handshake_is_an_os_error(end):
    async def script(peer):
        await peer.read()
        end(peer)

    result = exchange_https(script)

    assert is_plainly_closed(result.outcome) or isinstance(result.outcome, OSError)


def exchange_https(script, **options):
    return exchange(script, is_https=True, **options)


# Slow, and in pieces.


def test_slow_pieces_are_delivered_immediately():
    pieces = []

    async def script(peer):
        await peer.request()
        await peer.send(head(b"Content-Length: 5"))
        for number, byte in enumerate(b"hello"):
            # Nothing is held back.
            assert len(pieces) == number
            await peer.send_apart(bytes([byte]))

    result = exchange(script, streaming_callback=pieces.append)

    assert result.outcome.body == b""
    assert pieces == [b"h", b"e", b"l", b"l", b"o"]


@pytest.mark.parametrize("coding", ["identity", *PACK_BY_CODING])
def test_tiny_chunks_are_delivered_together(coding):
    pieces = []
    body = random.Random(coding).randbytes(20_000)
    packed = PACK_BY_CODING.get(coding, bytes)(body)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in packed)
    lines = [b"Transfer-Encoding: chunked", b"Content-Encoding: " + coding.encode()]

    result = exchange(
        answers(head(*lines) + chunks + b"0\r\n\r\n"), streaming_callback=pieces.append
    )

    assert getattr(result.outcome, "code", result.outcome) == 200
    assert b"".join(pieces) == body
    # At most one for each read.
    assert len(pieces) < len(body) / 100


# Delivered pieces, and data behind the response.


@pytest.mark.parametrize(
    ("body", "error"), [(b"ok", BadResponseError), (bytes(9), ResponseTooLargeError)]
)
def test_body_before_garbage_is_delivered(body, error):
    pieces = []
    response = CHUNKED + b"%x\r\n%b\r\ngarbage" % (len(body), body)

    result = exchange(
        answers(response),
        client={"max_body_size": 8},
        streaming_callback=pieces.append,
    )

    assert type(result.outcome) is error, repr(result.outcome)
    assert pieces == ([body] if len(body) <= 8 else [])


def test_blank_line_behind_a_response_is_harmless():
    # Some servers send one.  No response begins with it, so the connection stays usable;
    # `exchange` asserts that the next fetch succeeds.
    result = exchange(answers(head(b"Content-Length: 5") + b"hello\r\n"))

    assert getattr(result.outcome, "body", result.outcome) == b"hello"


def test_pieces_of_a_truncated_response_are_delivered():
    pieces = []
    response = head(b"Content-Length: 6") + b"hello"

    result = exchange(
        answers(response, end=Peer.half_close), streaming_callback=pieces.append
    )

    assert is_plainly_closed(result.outcome), repr(result.outcome)
    assert b"".join(pieces) == b"hello"
