"""Any bytes as a response: one outcome, nothing hangs, nothing is left for the next response."""

import asyncio
import socket

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tornado.simple_httpclient import HTTPStreamClosedError

from tests.helpers.fuzzing import examples
from tests.helpers.http.faulty import (
    Loopback,
    attempt,
    exchange,
    head,
    run,
    serving,
    settle,
)
from tests.helpers.http.whole_responses import (
    is_one_response,
    pieces_of,
    whole_responses,
)

pytestmark = pytest.mark.once

OK = head(b"Content-Length: 2") + b"ok"

often = settings(max_examples=examples(90))
seldom = settings(max_examples=examples(40))


def answer_with(parts, *, lenient=False, **options):
    """Respond with parts, and end the connection only if the client waits for more.

    Asserts the properties that hold for any bytes; returns the outcome.
    """

    async def main():
        sent = asyncio.Event()

        async def script(peer):
            try:
                await peer.request()
                await peer.send_apart(*parts)
            finally:
                sent.set()

        limits = {"max_body_size": 100_000, "lenient": lenient}
        async with serving(script, **limits) as (server, client):
            fetching = asyncio.ensure_future(attempt(client, server.url, **options))
            await sent.wait()
            await settle(10)
            if not fetching.done():
                server.peers[0].half_close()
            outcome = await fetching
            after = await attempt(client, server.url)
            assert getattr(after, "body", after) == b"good"
        return outcome, len(server.peers) == 1

    outcome, was_reused = run(main)
    if isinstance(outcome, Exception):
        assert isinstance(outcome, HTTPStreamClosedError), repr(outcome)
        assert str(outcome)
        assert not was_reused
    elif was_reused and options.get("method") != "HEAD":
        sent = b"".join(parts)
        assert is_one_response(sent, outcome.raw_head, outcome.encoded_body)
    return outcome


# Bytes that look like parts of a response, and any others.
FRAGMENT = st.one_of(
    st.binary(max_size=20),
    st.sampled_from(
        [
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0 200 OK\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 304 Same\r\n",
            b"HTTP/1.1 ",
            b"Content-Length: 2\r\n",
            b"Content-Length: ",
            b"Transfer-Encoding: chunked\r\n",
            b"Transfer-Encoding: ",
            b"Content-Encoding: gzip\r\n",
            b"Connection: close\r\n",
            b"Connection: keep-alive\r\n",
            b"Trailer: X\r\n",
            b"X: y\r\n",
            b"\r\n",
            b"\r\n\r\n",
            b"\n",
            b"\r",
            b" ",
            b":",
            b"ok",
            b"2\r\nok\r\n",
            b"0\r\n\r\n",
            b"0\r\n",
        ]
    ),
)


@given(
    st.lists(FRAGMENT, max_size=10),
    st.booleans(),
    st.sampled_from(["GET", "HEAD"]),
    st.booleans(),
)
@example([], False, "GET", False)
@example([b"\r\n" + OK], False, "GET", False)
@often
def test_any_bytes_have_one_outcome(parts, are_joined, method, lenient):
    parts = [b"".join(parts)] if are_joined else parts
    answer_with([part for part in parts if part], method=method, lenient=lenient)


@st.composite
def mutated(draw):
    """Damage a valid response in one to three places."""
    content = draw(whole_responses()).raw
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted(draw(st.integers(0, len(content))) for _ in range(2))
        before, within, after = content[:start], content[start:end], content[end:]
        way = draw(st.sampled_from(["cut", "drop", "double", "put", "flip", "splice"]))
        if way == "cut":
            content = before
        elif way == "drop":
            content = before + after
        elif way == "double":
            content = before + within * 2 + after
        elif way == "put":
            content = before + draw(FRAGMENT) + within + after
        elif way == "flip" and within:
            flipped = within[0] ^ (1 << draw(st.integers(0, 7)))
            content = before + bytes([flipped]) + within[1:] + after
        else:
            content = before + draw(whole_responses()).raw
    return content


@given(st.data(), mutated(), st.booleans())
@often
def test_damaged_response_has_one_outcome(data, content, lenient):
    answer_with(data.draw(pieces_of(content, most=2)), lenient=lenient)


@given(whole_responses(), st.lists(FRAGMENT, min_size=1, max_size=4).map(b"".join))
@seldom
def test_data_behind_a_response_is_not_part_of_it(response, rest):
    outcome = answer_with([response.raw + rest])

    if not response.is_until_close:
        assert getattr(outcome, "raw_head", outcome) == response.head
        assert outcome.encoded_body == response.encoded


@given(st.data(), whole_responses(), st.booleans())
@often
def test_valid_response_is_returned(data, response, lenient):
    parts = data.draw(pieces_of(response.raw))

    outcome = answer_with(parts, lenient=lenient)

    assert not getattr(outcome, "notes", ())
    assert getattr(outcome, "code", outcome) == response.status
    assert outcome.raw_head == response.head
    assert outcome.encoded_body == response.encoded
    assert outcome.body == response.body
    if response.reason:
        assert outcome.reason == response.reason
    for name, _ in response.fields:
        values = [
            value for other, value in response.fields if other.lower() == name.lower()
        ]
        assert outcome.headers.get_list(name) == values


@given(whole_responses())
@seldom
def test_valid_response_is_streamed(response):
    pieces, lines = [], []

    async def script(peer):
        await peer.request()
        await peer.send(response.raw)
        if response.is_until_close:
            peer.half_close()

    async def take(piece):
        pieces.append(piece)
        await asyncio.sleep(0)

    result = exchange(script, streaming_callback=take, header_callback=lines.append)

    assert getattr(result.outcome, "code", result.outcome) == response.status
    assert result.was_reused != response.is_until_close
    assert b"".join(pieces) == response.body
    assert lines[-1] == "\r\n"
    assert lines[0].startswith(f"HTTP/1.1 {response.status}")
    assert len(lines) == response.head.count(b"\r\n")


# Every place to cut.

CUT_EVERYWHERE = {
    "length": head(b"Content-Length: 5", b"X: y") + b"hello",
    "chunked": head(b"Transfer-Encoding: chunked", b"Trailer: X")
    + b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
    "100 first": head(status=b"100 Continue") + head(b"Content-Length: 5") + b"hello",
    "gzip": head(b"Content-Encoding: gzip", b"Content-Length: 25")
    + bytes.fromhex("1f8b0800000000000203cb48cdc9c9070086a6103605000000"),
}


@pytest.mark.parametrize("response", CUT_EVERYWHERE)
def test_response_may_arrive_in_any_pieces(response):
    content = CUT_EVERYWHERE[response]

    async def script(peer):
        for place in range(1, len(content)):
            await peer.request()
            await peer.send_apart(content[:place], content[place:])
        await peer.request()
        await peer.send_apart(*(bytes([byte]) for byte in content))

    async def main():
        async with serving(script) as (server, client):
            for place in range(1, len(content) + 1):
                outcome = await attempt(client, server.url)
                assert getattr(outcome, "body", outcome) == b"hello", place
        return len(server.peers)

    assert run(main) == 1


# Headers with a meaning for the client.

NAMES = [
    "Connection",
    "Keep-Alive",
    "Content-Length",
    "Transfer-Encoding",
    "Content-Encoding",
    "Trailer",
    "Location",
    "Set-Cookie",
    "Content-Type",
    "Upgrade",
    "X-Consumed-Content-Encoding",
]
ODD_VALUE = st.one_of(
    st.text([chr(code) for code in (9, *range(0x20, 0x7F), *range(0x80, 0x100))]),
    st.lists(
        st.sampled_from(
            ["chunked", "gzip", "identity", "close", "keep-alive", "timeout=1", "X"]
            + [",", " ", "\t", ";", "=", "2", "0", "\xa0", "\x85", "\xb2", '"']
        )
    ).map("".join),
)


@given(st.lists(st.tuples(st.sampled_from(NAMES), ODD_VALUE), max_size=3))
@example([("Transfer-Encoding", "chunked\t")])
@often
def test_any_value_of_a_header_has_one_outcome(fields):
    lines = [f"{name}: {value}".encode("latin-1") for name, value in fields]

    answer_with([head(*lines) + b"2\r\nok\r\n0\r\n\r\n"])


async def knows_loopback_only(host):
    if host != "127.0.0.1":
        raise socket.gaierror(f"no {host!r} here")


@given(
    st.one_of(
        ODD_VALUE,
        st.lists(
            st.sampled_from(
                ["http:", "https:", "ftp:", "//", "/", "127.0.0.1", "a.test", ":"]
                + ["@", "[", "]", "::1", "%", "?", "#", ".", "..", "\xe9", "0", "65536"]
            )
        ).map("".join),
    )
)
@often
def test_any_location_has_one_outcome(location):
    line = f"Location: {location}".encode("latin-1")

    async def script(peer):
        await peer.request()
        await peer.send(head(line, b"Content-Length: 0", status=b"302 Moved"))

    async def main():
        client_options = {"resolver": Loopback(knows_loopback_only)}
        async with serving(script, **client_options) as (server, client):
            outcome = await attempt(client, server.url, max_redirects=2)
            after = await attempt(client, server.url)
            assert getattr(after, "body", after) == b"good"
        return outcome

    outcome = run(main)

    if isinstance(outcome, Exception):
        errors = (HTTPStreamClosedError, ValueError, OSError)
        assert isinstance(outcome, errors), repr(outcome)
