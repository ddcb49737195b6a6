"""Expect: 100-continue: when the body is sent, and when it is not."""

import asyncio

import pytest

from tests.helpers.http.faulty import GOOD, exchange, head

CONTINUE = head(status=b"100 Continue")
HINTS = head(status=b"103 Early Hints")

# The server's output before and after the body, and the time of the body.
INTERIM = {
    "100": (CONTINUE, b"", 0),
    "100 twice": (CONTINUE * 2, b"", 0),
    "nothing": (b"", b"", 1),
    "100 too late": (b"", CONTINUE, 1),
    "another interim answer": (HINTS, b"", 1),
}
BODIES = {
    "given": {"body": b"body"},
    "produced": {
        "body_producer": lambda write: write(b"body"),
        "headers": {"Content-Length": "4"},
    },
}


def exchange_expecting(script, **options):
    return exchange(script, method="PUT", expect_100_continue=True, **options)


@pytest.mark.parametrize("said", INTERIM)
@pytest.mark.parametrize("kind", BODIES)
def test_body_waits_at_most_a_second_for_100(said, kind):
    before, after, wait_s = INTERIM[said]
    came = []

    async def script(peer):
        await peer.request_head()
        asked_at = asyncio.get_running_loop().time()
        await peer.send(before)
        came.append(await peer.read())
        came.append(asyncio.get_running_loop().time() - asked_at)
        await peer.send(after, GOOD)

    result = exchange_expecting(script, **BODIES[kind])

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert came == [b"body", pytest.approx(wait_s, abs=0.1)]
    assert b"\r\nExpect: 100-continue\r\n" in result.server.peers[0].heads[0]
    assert result.was_reused


@pytest.mark.parametrize("status", [b"417 Expectation Failed", b"200 OK", b"401 Login"])
def test_refused_body_is_not_sent(status):
    def produce(write):
        raise AssertionError("the server does not want it")

    async def script(peer):
        await peer.request_head()
        await peer.send(head(b"Content-Length: 2", status=status) + b"no")

    result = exchange_expecting(script, body_producer=produce)

    assert getattr(result.outcome, "code", result.outcome) == int(status[:3])
    assert result.outcome.body == b"no"
    assert not result.was_reused


def test_redirect_instead_of_100_is_followed_with_the_body():
    moved = head(b"Location: /b", b"Content-Length: 0", status=b"307 Elsewhere")

    async def script(peer):
        await peer.request_head()
        await peer.send(moved)

    result = exchange_expecting(script, body=b"body")

    # The server responds when the body has arrived.
    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert result.server.peers[1].heads[0].startswith(b"PUT /b ")
