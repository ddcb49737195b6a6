"""Connections that nobody uses: how long they are kept, and what may happen to them."""

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


@gen.coroutine
def test_oldest_unused_connection_gives_way(make_client, serve):
    servers = [serve(HELLO) for _ in range(3)]
    client = make_client(max_idle=2)

    for server in servers:
        yield client.fetch(server.url)
    closed = yield servers[0].gone(0)
    for server in reversed(servers):
        yield client.fetch(server.url)

    assert closed
    assert [server.used for server in servers] == [[0, 1], [0, 0], [0, 0]]


@gen.coroutine
def test_no_connection_is_kept_where_none_may_be(make_client, serve):
    server = serve(HELLO)
    client = make_client(max_idle=0)

    yield client.fetch(server.url)
    closed = yield server.gone(0)
    yield client.fetch(server.url)

    assert closed
    assert server.used == [0, 1]


@gen.coroutine
def test_connections_kept_are_as_many_as_clients(make_client, serve):
    client = make_client(max_clients=2)
    servers = [serve(HELLO) for _ in range(3)]

    for server in servers:
        yield client.fetch(server.url)
    closed = yield servers[0].gone(0)
    yield client.fetch(servers[1].url)

    assert closed
    assert servers[1].used == [0, 0]


@gen.coroutine
def test_unasked_bytes_close_an_unused_connection(client, serve):
    server = serve(HELLO)
    yield client.fetch(server.url)

    yield server.streams[0].write(answer(b"too late", "408 Request Timeout"))
    closed = yield server.gone(0)
    response = yield client.fetch(server.url)

    assert closed
    assert (response.code, response.body) == (200, b"hello")
    assert server.used == [0, 1]


@gen.coroutine
def test_bytes_that_came_unasked_are_no_answer_to_the_next_request(client, serve):
    server = serve(HELLO)
    yield client.fetch(server.url)

    # Written at once by the kernel, and the client has not had its turn since.
    server.streams[0].socket.send(answer(b"poison"))
    response = yield client.fetch(server.url, method="POST", body=b"")

    assert response.body == b"hello"
    assert server.used == [0, 1]


@gen.coroutine
def test_connection_closed_by_the_server_meanwhile_is_not_used(client, serve):
    server = serve(HELLO)
    yield client.fetch(server.url)

    server.streams[0].close()
    # It could not be tried again, so it must be seen beforehand.
    response = yield client.fetch(server.url, method="POST", body=b"x")

    assert response.body == b"hello"
    assert server.used == [0, 1]


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


@pytest.mark.parametrize("timeout", [0, 1])
def test_server_that_keeps_hardly_anything_is_no_harm_under_uvloop(timeout):
    # Its `call_at` returns a handle without a `when` if the time has come.
    uvloop = pytest.importorskip("uvloop")
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

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        bodies = runner.run(asyncio.wait_for(main(), 5))

    assert bodies == [b"good"] * 15
