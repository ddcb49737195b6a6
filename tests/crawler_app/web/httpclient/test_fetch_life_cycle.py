"""Fetches that are cancelled, or whose client is closed: at each stage, at each turn of the
loop, and in a callback.  No fetch leaves anything that refers to itself.
"""

import asyncio
import contextlib
import functools
import gc

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from gencoro import gen
from tests.helpers.http.faulty import (
    GOOD,
    FaultServer,
    Loopback,
    Peer,
    attempt,
    head,
    new_client,
    run,
    serving,
    settle,
)
from tests.helpers.http.peers import black_hole, refusing_port

LARGE = bytes(16_000_000)


# Stages: functions of an event that is set when the stage is reached.  Each returns a script
# for the server, which notices that its connection is closed, and options of the request.


def resolves_a_name(reached):
    async def ask(host):
        if host == "slow.test":
            reached.set()
            await asyncio.Event().wait()

    return None, {"client": {"resolver": Loopback(ask)}, "url": "http://slow.test/"}


def connects(reached):
    port, sockets = black_hole()
    reached.set()
    return None, {"url": f"http://127.0.0.1:{port}/", "sockets": sockets}


def handshake(reached):
    async def script(peer):
        await peer.read()
        reached.set()
        await peer.gone()

    return script, {"is_https": True}


def sends_body(reached):
    async def script(peer):
        await peer.request_head()
        # Read nothing more, so that the buffers fill up and the client waits.
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


def consumes(said):
    def stage(reached):
        async def script(peer):
            await peer.request()
            await peer.send(said)
            await peer.gone()

        async def stuck(piece):
            reached.set()
            await asyncio.Event().wait()

        return script, {"streaming_callback": stuck}

    return stage


def second_hop(reached):
    async def script(peer):
        await peer.request()
        moved = head(b"Location: /b", b"Content-Length: 0", status=b"302 Moved")
        await peer.send(moved)
        await peer.request()
        reached.set()
        await peer.gone()

    return script, {}


MOVED = head(b"Location: /b", b"Content-Length: 10", status=b"302 Moved")
HALF = head(b"Content-Length: 10") + b"hello"

STAGES = {
    "resolving a name": resolves_a_name,
    "connecting": connects,
    "the TLS handshake": handshake,
    "sending the body": sends_body,
    "sending a produced body": sends_produced_body,
    "waiting for the producer": waits_for_producer,
    "waiting for 100": waits_for_100,
    "waiting": says(b""),
    "within the head": says(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "after 100": says(head(status=b"100 Continue")),
    "between head and body": says(head(b"Content-Length: 10")),
    "within the body": says(HALF),
    "within a chunk": says(head(b"Transfer-Encoding: chunked") + b"5\r\nhe"),
    "within the last chunk": says(head(b"Transfer-Encoding: chunked") + b"0\r\n"),
    "within a body without a length": says(head() + b"hello"),
    "the consumer": consumes(HALF),
    # The whole response is received, but its consumer is not ready.
    "the consumer of a complete body": consumes(GOOD),
    "waiting after a redirect": second_hop,
    "within the body of a redirect": says(MOVED + b"hello"),
}


@contextlib.asynccontextmanager
async def reached(name):
    """Begin a fetch; yield the client, the fetch and the server at the given stage."""
    is_reached = asyncio.Event()
    script, options = STAGES[name](is_reached)
    client = new_client(**options.pop("client", {}))
    async with FaultServer(script) as server:
        with contextlib.ExitStack() as stack:
            for sock in options.pop("sockets", []):
                stack.enter_context(sock)
            stack.callback(client.close)
            url = options.pop("url", server.url)
            if options.pop("is_https", False):
                url = url.replace("http:", "https:")
            limits = {"request_timeout": 0, "connect_timeout": 0}
            fetching = client.fetch(url, **limits, **options)
            await is_reached.wait()
            await settle(100)
            assert not fetching.done(), fetching
            yield client, fetching, server


@pytest.mark.parametrize("stage", STAGES)
def test_cancelled_fetch_closes_its_connection_and_frees_its_slot(stage, caplog):
    async def main():
        async with reached(stage) as (client, fetching, server):
            peers = list(server.peers)
            waiting = client.fetch(server.url)
            await settle()
            assert len(client.queue) == 1

            fetching.cancel()

            with pytest.raises(asyncio.CancelledError):
                await fetching
            for peer in peers:
                await peer.is_gone.wait()
            assert (await waiting).body == b"good"
            assert len(server.peers) == len(peers) + 1
            assert len(client.queue) == 0

    run(main)

    (record,) = [each for each in caplog.records if each.name == "tornado.application"]
    assert record.levelname == "WARNING"
    assert "Exception after Future was cancelled" in record.getMessage()


@pytest.mark.parametrize("stage", STAGES)
def test_closing_the_client_ends_its_fetches(stage):
    async def main():
        async with reached(stage) as (client, fetching, server):
            peers = list(server.peers)
            waiting = client.fetch(server.url)

            client.close()

            for each in (fetching, waiting):
                with pytest.raises(HTTPStreamClosedError):
                    await each
            await server.all_gone()
            assert server.peers == peers

    run(main)


@pytest.mark.parametrize("has_begun", [True, False])
def test_fetch_cancelled_in_the_queue_is_never_sent(has_begun):
    async def main():
        async with serving() as (server, client):
            first = client.fetch(server.url + "first")
            second = client.fetch(server.url + "second")
            third = client.fetch(server.url + "third")
            if not has_begun:
                first.cancel()
            second.cancel()
            await settle()

            assert (await third).body == b"good"
            assert second.cancelled()
            assert len(client.queue) == 0
        return [head.split()[1] for peer in server.peers for head in peer.heads]

    assert run(main) == ([b"/first", b"/third"] if has_begun else [b"/third"])


# At each turn of the loop.


@pytest.fixture(params=["http", "https"])
def scheme(request, certificates):
    """Options of a server and of the requests to it."""
    if request.param == "http":
        return {}, {}
    return {"ssl": certificates.server_context()}, {"ca_certs": certificates.ca}


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_fetch_ended_at_any_turn_leaves_nothing(way, scheme):
    server_options, options = scheme

    async def main(turns):
        options_here = {"resolver": Loopback(), **server_options}
        async with serving(**options_here) as (server, client):
            fetching = client.fetch(server.url, **options)
            await settle(turns)
            if way == "cancel":
                fetching.cancel()
                outcome = await attempt(client, server.url, **options)
                assert getattr(outcome, "body", outcome) == b"good"
            client.close()
            with contextlib.suppress(HTTPStreamClosedError, asyncio.CancelledError):
                assert (await fetching).body == b"good"

    for turns in range(40):
        run(functools.partial(main, turns))


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("turns", range(12))
def test_connection_closed_by_the_server_at_any_turn_is_an_error(end, turns):
    async def script(peer):
        await settle(turns)
        end(peer)
        await peer.gone()

    async def main():
        async with serving(script, resolver=Loopback()) as (server, client):
            outcome = await attempt(client, server.url)
            after = await attempt(client, server.url)
            assert getattr(after, "body", after) == b"good"
        return outcome

    assert isinstance(run(main), (HTTPStreamClosedError, OSError))


# In a callback.


CALLBACKS = ["streaming_callback", "header_callback"]


def fetch_with(callback, act):
    """Fetch with a callback that receives the client and the fetch; return the outcome."""
    fetch = {}

    async def main():
        async with serving() as (server, client):

            def called(_):
                return act(client, fetch["future"])

            fetch["future"] = client.fetch(server.url, **{callback: called})
            try:
                return await fetch["future"]
            except (Exception, asyncio.CancelledError) as exc:
                return exc

    return run(main)


@pytest.mark.parametrize("callback", CALLBACKS)
@pytest.mark.parametrize("way", ["cancel", "close"])
def test_callback_may_end_its_fetch(way, callback):
    def act(client, fetching):
        (fetching.cancel if way == "cancel" else client.close)()

    error = asyncio.CancelledError if way == "cancel" else HTTPStreamClosedError
    assert isinstance(fetch_with(callback, act), error)


def test_callback_that_closes_its_client_is_not_awaited():
    def act(client, fetching):
        client.close()
        return asyncio.Event().wait()

    # `run` asserts that no task is left.
    assert isinstance(fetch_with("streaming_callback", act), HTTPStreamClosedError)


@pytest.mark.parametrize("callback", CALLBACKS)
def test_callback_may_begin_another_fetch(callback):
    others = []

    async def main():
        async with serving() as (server, client):

            def begin(_):
                if not others:
                    others.append(client.fetch(server.url))

            first = await client.fetch(server.url, **{callback: begin})
            second = await others[0]
        return first.code, second.body

    assert run(main) == (200, b"good")


# Reference cycles.  A crawler makes thousands of fetches a second; with a cycle, each would
# keep the body of its page until a full collection.

FETCHES = 10


def fail(*_):
    raise ZeroDivisionError("of a callback")


@gen.coroutine
def fail_later(*_):
    yield gen.moment
    fail()


@pytest.fixture
def garbage():
    """Collect manually; return a function that returns the crawler's objects in the garbage."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)

    def ours():
        gc.collect()
        names = (type(each).__module__ for each in gc.garbage)
        return [
            each
            for each, name in zip(gc.garbage, names, strict=True)
            if isinstance(name, str) and name.startswith("crawler_app")
        ]

    yield ours
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@gen.coroutine
def fetch_often(client, **options):
    """Fetch several times, ignoring errors."""
    for _ in range(FETCHES):
        with contextlib.suppress(Exception):
            yield client.fetch(**options)
    # A transport drops its protocol some turns after it was closed.
    for _ in range(5):
        yield gen.moment


# Options of the client, and those of each request.
OPTIONS_BY_KIND = {
    "kept": ({}, {}),
    "closed": ({}, {"headers": {"Connection": "close"}}),
    "redirected": ({}, {"request": "{url}/moved"}),
    "refused": ({}, {"request": "http://127.0.0.1:{refusing}/"}),
    "address_refused": ({"check_address": fail}, {}),
    "streamed": ({}, {"streaming_callback": lambda chunk: None}),
    "streamed_slowly": ({}, {"streaming_callback": lambda chunk: gen.sleep(0)}),
    "streaming_fails": ({}, {"streaming_callback": fail}),
    "streaming_fails_later": ({}, {"streaming_callback": fail_later}),
    "header_callback": ({}, {"header_callback": lambda line: None}),
    "header_callback_fails": ({}, {"header_callback": fail}),
    "producer": ({}, {"method": "PUT", "body_producer": lambda write: write(b"x")}),
    "producer_fails": ({}, {"method": "PUT", "body_producer": fail}),
    "producer_fails_later": ({}, {"method": "PUT", "body_producer": fail_later}),
    "value_error": ({}, {"method": "BREW"}),
    "type_error": ({}, {"headers": {"X": 5}}),
}


@pytest.mark.parametrize("kind", OPTIONS_BY_KIND)
@gen.coroutine
def test_fetch_leaves_no_reference_cycle(make_client, web, garbage, kind):
    web.redirect("/moved", to="/")
    client_options, options = OPTIONS_BY_KIND[kind]
    client = make_client(**client_options)
    port, sock = refusing_port()
    url = options.get("request", "{url}").format(url=web.url, refusing=port)

    with sock:
        yield fetch_often(client, **options | {"request": url})

    assert garbage() == []
