"""A fetch that is cancelled, or whose client is closed, where timing is a matter of turns.

In the queue, before there is a connection, from within its own callbacks, and at every
turn of the loop.
"""

import asyncio
import contextlib
import socket

import pytest
from tornado.netutil import Resolver
from tornado.simple_httpclient import HTTPStreamClosedError

from tests.helpers.http.faulty import (
    GOOD,
    FaultServer,
    Peer,
    attempt,
    new_client,
    run,
    settle,
)
from tests.helpers.http.peers import black_hole


class HangingResolver(Resolver):
    """Never answers for slow.test, and is asked for literal addresses only else."""

    def initialize(self, reached):
        self._reached = reached

    async def resolve(self, host, port, family=socket.AF_UNSPEC):
        if host == "slow.test":
            self._reached.set()
            await asyncio.Event().wait()
        return [(socket.AF_INET, (host, port))]


class TurnlessResolver(Resolver):
    """Knows loopback without a thread, so that a fetch takes as many turns each time."""

    async def resolve(self, host, port, family=socket.AF_UNSPEC):
        return [(socket.AF_INET, ("127.0.0.1", port))]


def test_fetch_that_is_cancelled_in_the_queue_is_never_sent():
    async def main():
        reached, release = asyncio.Event(), asyncio.Event()

        async def script(peer):
            await peer.request()
            reached.set()
            await release.wait()
            await peer.send(GOOD)

        async with FaultServer(script) as server:
            client = new_client()
            first = client.fetch(server.url + "first")
            await reached.wait()
            second, third = client.fetch(server.url + "second"), None
            third = client.fetch(server.url + "third")

            second.cancel()
            await settle()
            release.set()

            assert (await first).body == (await third).body == b"good"
            assert second.cancelled()
            assert len(client.queue) == 0
            client.close()
            await server.all_gone()
            (peer,) = server.peers
            return [head.split()[1] for head in peer.heads]

    assert run(main) == [b"/first", b"/third"]


def test_fetch_that_is_cancelled_before_it_begins_is_never_sent():
    async def main():
        async with FaultServer() as server:
            client = new_client()
            fetching = client.fetch(server.url + "first")
            fetching.cancel()
            await settle()
            assert (await client.fetch(server.url + "second")).body == b"good"
            client.close()
            await server.all_gone()
            return [head.split()[1] for peer in server.peers for head in peer.heads]

    assert run(main) == [b"/second"]


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_fetch_that_ends_while_a_name_is_looked_up(way):
    async def main():
        reached = asyncio.Event()
        async with FaultServer() as server:
            client = new_client(resolver=HangingResolver(reached))
            fetching = client.fetch("http://slow.test/")
            await reached.wait()
            await end(way, client, fetching, server)

    run(main)


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_fetch_that_ends_while_it_connects(way):
    async def main():
        port, sockets = black_hole()
        with contextlib.ExitStack() as stack:
            for sock in sockets:
                stack.enter_context(sock)
            async with FaultServer() as server:
                client = new_client()
                fetching = client.fetch(f"http://127.0.0.1:{port}/")
                await settle(100)
                assert not fetching.done()
                await end(way, client, fetching, server)

    run(main)


async def end(way, client, fetching, server):
    """Cancel a fetch or close its client, and see that nothing of it is left."""
    if way == "cancel":
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        assert (await client.fetch(server.url)).body == b"good"
    client.close()
    if way == "close":
        with pytest.raises(HTTPStreamClosedError):
            await fetching
    await server.all_gone()


def test_fetch_that_is_done_cannot_be_cancelled_and_keeps_its_connection():
    async def main():
        async with FaultServer() as server:
            client = new_client()
            fetching = client.fetch(server.url)
            await fetching

            assert not fetching.cancel()

            await client.fetch(server.url)
            client.close()
            await server.all_gone()
            return len(server.peers)

    assert run(main) == 1


# At every turn.


@pytest.fixture(params=["http", "https"])
def scheme(request, certificates):
    """Options of a server and of the requests to it."""
    if request.param == "http":
        return {}, {}
    return {"ssl": certificates.server_context()}, {"ca_certs": certificates.ca}


@pytest.mark.parametrize("turns", range(40))
def test_fetch_that_is_cancelled_at_any_turn_leaves_nothing(turns, scheme):
    server_options, options = scheme

    async def main():
        async with FaultServer(**server_options) as server:
            client = new_client(resolver=TurnlessResolver())
            fetching = client.fetch(server.url, **options)
            await settle(turns)
            fetching.cancel()
            outcome = await attempt(client, server.url, **options)
            assert getattr(outcome, "body", outcome) == b"good"
            client.close()
            await server.all_gone()

    run(main)


@pytest.mark.parametrize("turns", range(40))
def test_client_that_is_closed_at_any_turn_leaves_nothing(turns, scheme):
    server_options, options = scheme

    async def main():
        async with FaultServer(**server_options) as server:
            client = new_client(resolver=TurnlessResolver())
            fetching = client.fetch(server.url, **options)
            await settle(turns)
            client.close()
            with contextlib.suppress(HTTPStreamClosedError):
                assert (await fetching).body == b"good"
            await server.all_gone()

    run(main)


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("turns", range(12))
def test_connection_that_is_closed_at_any_turn_after_it_is_made_is_an_error(end, turns):
    async def script(peer):
        await settle(turns)
        end(peer)
        await peer.gone()

    async def main():
        async with FaultServer(script) as server:
            client = new_client(resolver=TurnlessResolver())
            outcome = await attempt(client, server.url)
            after = await attempt(client, server.url)
            assert getattr(after, "body", after) == b"good"
            client.close()
            await server.all_gone()
            return outcome

    assert isinstance(run(main), (HTTPStreamClosedError, OSError))


def test_waiter_with_a_time_limit_of_its_own_ends_the_exchange():
    async def main():
        async def script(peer):
            await peer.gone()

        async with FaultServer(script) as server:
            client = new_client()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.fetch(server.url), 0.02)
            await server.peers[0].is_gone.wait()
            assert (await client.fetch(server.url)).body == b"good"
            client.close()
            await server.all_gone()

    run(main)


# From within.


CALLBACKS = ["streaming_callback", "header_callback"]


def fetch_with(callback, act):
    """Fetch with a callback that gets the client and the fetch; return its outcome."""
    fetch = {}

    async def main():
        async with FaultServer() as server:
            client = new_client()

            def called(_):
                return act(client, fetch["future"])

            fetch["future"] = client.fetch(server.url, **{callback: called})
            try:
                return await fetch["future"]
            except (Exception, asyncio.CancelledError) as exc:
                return exc
            finally:
                client.close()
                await server.all_gone()

    return run(main)


@pytest.mark.parametrize("callback", CALLBACKS)
def test_callback_may_cancel_its_fetch(callback):
    def act(client, fetching):
        fetching.cancel()

    assert isinstance(fetch_with(callback, act), asyncio.CancelledError)


@pytest.mark.parametrize("callback", CALLBACKS)
def test_callback_may_close_its_client(callback):
    def act(client, fetching):
        client.close()

    assert isinstance(fetch_with(callback, act), HTTPStreamClosedError)


def test_callback_that_closes_its_client_and_waits_is_ended():
    ended = []

    async def wait():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    def act(client, fetching):
        waiting = asyncio.ensure_future(wait())
        asyncio.get_running_loop().call_soon(client.close)
        return waiting

    assert isinstance(fetch_with("streaming_callback", act), HTTPStreamClosedError)
    assert ended == [True]


def test_callback_that_has_closed_its_client_is_not_waited_for():
    def act(client, fetching):
        client.close()
        return asyncio.Event().wait()

    # That nothing is left under way is what `run` asserts.
    assert isinstance(fetch_with("streaming_callback", act), HTTPStreamClosedError)


@pytest.mark.parametrize("callback", CALLBACKS)
def test_error_of_a_callback_is_what_comes_out(callback):
    def act(client, fetching):
        raise ZeroDivisionError("of the callback")

    assert isinstance(fetch_with(callback, act), ZeroDivisionError)


def test_error_of_a_callback_that_waits_is_what_comes_out():
    async def fail(client, fetching):
        await asyncio.sleep(0)
        raise ZeroDivisionError("of the callback")

    assert isinstance(fetch_with("streaming_callback", fail), ZeroDivisionError)


@pytest.mark.parametrize("callback", CALLBACKS)
def test_callback_may_begin_another_fetch(callback):
    others = []

    async def main():
        async with FaultServer() as server:
            client = new_client()

            def begin(_):
                if not others:
                    others.append(client.fetch(server.url))

            first = await client.fetch(server.url, **{callback: begin})
            second = await others[0]
            client.close()
            await server.all_gone()
            return first.code, second.body

    assert run(main) == (200, b"good")
