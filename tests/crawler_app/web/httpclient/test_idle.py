"""Idle connections: how long they are kept, how many, and which is used first."""

import asyncio

import pytest

from gencoro import gen
from tests.helpers.http.faulty import FaultServer, head, new_client
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


@pytest.mark.parametrize(
    ("options", "said", "limit"),
    [
        ({}, HELLO, 15),
        ({"idle_timeout": 40.0}, HELLO, 40),
        ({}, answer(b"x", Keep_Alive="timeout=5, max=100"), 5),
        ({"idle_timeout": 4.0}, answer(b"x", Keep_Alive="timeout=60"), 4),
        ({}, answer(b"x", Keep_Alive="nonsense, timeout=x"), 15),
    ],
    ids=["default", "option", "server_keeps_less", "server_keeps_more", "nonsense"],
)
@gen.coroutine
def test_unused_connection_is_kept_for_a_while(
    make_client, serve, virtual_clock, options, said, limit
):
    client = make_client(**options)
    server = serve(said)
    yield client.fetch(server.url)

    yield virtual_clock.advance(limit * 0.5)
    yield client.fetch(server.url)
    closing = server.gone(0)
    yield virtual_clock.advance(limit * 0.5)
    is_early = closing.done()
    yield virtual_clock.advance(limit * 0.5 + 0.01)

    assert server.used == [0, 0]
    assert (is_early, closing.done()) == (False, True)


@gen.coroutine
def test_server_that_keeps_nothing_is_asked_by_a_new_connection(client, serve):
    server = serve(answer(b"x", Keep_Alive="timeout=0"))

    yield client.fetch(server.url)
    yield client.fetch(server.url)

    assert server.used == [0, 1]


@pytest.mark.parametrize(
    ("options", "kept"),
    [({"max_idle": 0}, 0), ({"max_idle": 2}, 2), ({"max_clients": 2}, 2)],
)
@gen.coroutine
def test_oldest_unused_connection_gives_way(make_client, serve, options, kept):
    servers = [serve(HELLO) for _ in range(3)]
    client = make_client(**options)

    for server in servers:
        yield client.fetch(server.url)
    yield [server.gone(0) for server in servers[: 3 - kept]]
    for server in reversed(servers):
        yield client.fetch(server.url)

    reused = [server.used == [0, 0] for server in servers]
    assert reused == [False] * (3 - kept) + [True] * kept


@gen.coroutine
def test_bytes_that_came_unasked_are_no_answer_to_the_next_request(client, web):
    yield client.fetch(web.url)

    # Written at once by the kernel, and the client has not had its turn since.
    web.streams[0].socket.send(answer(b"poison"))
    response = yield client.fetch(web.url, method="POST", body=b"")

    assert response.body == b"hello"
    assert web.used == [0, 1]


@gen.coroutine
def test_last_used_connection_is_used_first(client, web):
    gates = [web.hold(f"/{n}") for n in range(3)]
    futures = [client.fetch(f"{web.url}/{n}") for n in range(3)]
    requests = yield web.came(3)
    by_path = {request.target: request.connection for request in requests}

    for n in (2, 0, 1):
        gates[n].set()
        yield futures[n]
    for _ in range(3):
        yield client.fetch(web.url)

    assert web.used[3:] == [by_path["/1"]] * 3


class LoopWithoutDueTimers(asyncio.SelectorEventLoop):
    """As uvloop: what is due at once is called soon, by a handle without a `when`."""

    def call_at(self, when, callback, *args, context=None):
        if when <= self.time():
            return self.call_soon(callback, *args, context=context)
        return super().call_at(when, callback, *args, context=context)


@pytest.mark.parametrize("timeout", [0, 1])
def test_server_that_keeps_hardly_anything_is_no_harm_under_uvloop(timeout):
    said = head(b"Content-Length: 4", b"Keep-Alive: timeout=%d" % timeout) + b"good"

    async def main():
        async def script(peer):
            await peer.request()
            await all_are_here.wait()
            await peer.send(said)

        # All end in one turn, before the first can have been looked at.
        all_are_here = asyncio.Barrier(5)
        async with FaultServer(*[script] * 15) as server:
            client = new_client(max_clients=5)
            fetched = []
            for _ in range(3):
                fetches = [client.fetch(server.url) for _ in range(5)]
                fetched += await asyncio.gather(*fetches)
            client.close()
            await server.all_gone()
            return [response.body for response in fetched]

    with asyncio.Runner(loop_factory=LoopWithoutDueTimers) as runner:
        bodies = runner.run(main())

    assert bodies == [b"good"] * 15
