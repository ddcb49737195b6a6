"""A fetch that is cancelled, or whose client is closed, at every stage of its life.

Each stage is a script for the server and options for the fetch, which set an event as
soon as the stage is reached.
"""

import asyncio
import contextlib
import logging

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from gencoro import gen
from tests.helpers.http.faulty import GOOD, FaultServer, head, new_client, run, settle

LARGE = bytes(16_000_000)


# Stages: functions of the event, that return a script, and options of the request.  The
# server's end of a connection is seen to close in each of them.


def handshake(reached):
    async def script(peer):
        await peer.read()
        reached.set()
        await peer.gone()

    return script, {"is_https": True}


def sends_body(reached):
    async def script(peer):
        await peer.request_head()
        # Nothing more is read, so that buffers get full and the client waits.
        await settle(50)
        reached.set()
        await settle(100)
        await peer.gone()

    return script, {"method": "POST", "body": LARGE}


def sends_produced_body(reached):
    async def produce(write):
        while True:
            await write(bytes(100_000))

    script, _ = sends_body(reached)
    return script, {"method": "POST", "body_producer": produce}


def waits_for_producer(reached):
    async def produce(write):
        await write(b"x")
        reached.set()
        await asyncio.Event().wait()

    async def script(peer):
        await peer.request_head()
        await peer.gone()

    return script, {"method": "POST", "body_producer": produce}


def waits_for_100(reached):
    async def script(peer):
        await peer.request_head()
        reached.set()
        await peer.gone()

    options = {"method": "POST", "body": b"x", "expect_100_continue": True}
    return script, options


def says(*parts):
    def stage(reached):
        async def script(peer):
            await peer.request()
            await peer.send_apart(*parts)
            reached.set()
            await peer.gone()

        return script, {}

    return stage


def streams(reached):
    async def script(peer):
        await peer.request()
        await peer.send(head(b"Content-Length: 10") + b"hello")
        await peer.gone()

    async def stuck(piece):
        reached.set()
        await asyncio.Event().wait()

    return script, {"streaming_callback": stuck}


def streams_in_a_coroutine(reached):
    script, _ = streams(reached)

    @gen.coroutine
    def stuck(piece):
        reached.set()
        yield gen.Future()

    return script, {"streaming_callback": stuck}


def streams_all(reached):
    """The response is there as a whole, and only its consumer is not ready."""
    _, options = streams(reached)

    async def script(peer):
        await peer.request()
        await peer.send(GOOD)
        await peer.gone()

    return script, options


def second_hop(reached):
    async def script(peer):
        await peer.request()
        moved = head(b"Location: /b", b"Content-Length: 0", status=b"302 Moved")
        await peer.send(moved)
        await peer.request()
        reached.set()
        await peer.gone()

    return script, {}


def body_of_a_redirect(reached):
    async def script(peer):
        await peer.request()
        moved = head(b"Location: /b", b"Content-Length: 10", status=b"302 Moved")
        await peer.send_apart(moved + b"hello")
        reached.set()
        await peer.gone()

    return script, {}


STAGES = {
    "the TLS handshake": handshake,
    "sending the body": sends_body,
    "sending a produced body": sends_produced_body,
    "waiting for the producer": waits_for_producer,
    "waiting for 100": waits_for_100,
    "waiting": says(b""),
    "within the head": says(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "after 100": says(head(status=b"100 Continue")),
    "between head and body": says(head(b"Content-Length: 10")),
    "within the body": says(head(b"Content-Length: 10") + b"hello"),
    "within a chunk": says(head(b"Transfer-Encoding: chunked") + b"5\r\nhe"),
    "within the last chunk": says(head(b"Transfer-Encoding: chunked") + b"0\r\n"),
    "within a body until the end": says(head() + b"hello"),
    "the consumer": streams,
    "a coroutine that consumes": streams_in_a_coroutine,
    "the consumer of a whole body": streams_all,
    "waiting after a redirect": second_hop,
    "within the body of a redirect": body_of_a_redirect,
}


@contextlib.contextmanager
def application_log():
    """Collect what Tornado logs for the application."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    log = logging.getLogger("tornado.application")
    log.addHandler(handler)
    try:
        yield records
    finally:
        log.removeHandler(handler)


@contextlib.asynccontextmanager
async def reached(name):
    """Begin a fetch; yield the client, the fetch and the server when it is so far."""
    is_reached = asyncio.Event()
    script, options = STAGES[name](is_reached)
    async with FaultServer(script) as server:
        with contextlib.closing(new_client()) as client:
            url = server.url
            if options.pop("is_https", False):
                url = url.replace("http:", "https:")
            limits = {"request_timeout": 0, "connect_timeout": 0}
            fetching = client.fetch(url, **limits, **options)
            await is_reached.wait()
            await settle()
            assert not fetching.done(), fetching
            yield client, fetching, server


@pytest.mark.parametrize("stage", STAGES)
def test_cancelled_fetch_closes_its_connection_and_frees_its_slot(stage):
    async def main():
        async with reached(stage) as (client, fetching, server):
            (peer,) = server.peers

            fetching.cancel()

            with pytest.raises(asyncio.CancelledError):
                await fetching
            await peer.is_gone.wait()
            after = await client.fetch(server.url)
            assert after.body == b"good"
            assert len(server.peers) == 2
            assert len(client.queue) == 0

    with application_log() as records:
        run(main)

    assert [record.levelname for record in records] == ["WARNING"]
    assert "Exception after Future was cancelled" in records[0].getMessage()


@pytest.mark.parametrize("stage", STAGES)
def test_slot_of_a_cancelled_fetch_goes_to_who_waits_for_it(stage):
    async def main():
        async with reached(stage) as (client, fetching, server):
            waiting = client.fetch(server.url)
            await settle()
            assert len(client.queue) == 1

            fetching.cancel()

            assert (await waiting).body == b"good"
            assert len(client.queue) == 0

    run(main)


@pytest.mark.parametrize("stage", STAGES)
def test_closed_client_ends_what_is_under_way(stage):
    async def main():
        async with reached(stage) as (client, fetching, server):
            waiting = client.fetch(server.url)

            client.close()

            with pytest.raises(HTTPStreamClosedError):
                await fetching
            with pytest.raises(HTTPStreamClosedError):
                await waiting
            await server.all_gone()
            assert len(server.peers) == 1

    run(main)
