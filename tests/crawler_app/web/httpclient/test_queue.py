"""Fetches that wait for a slot or begin others, and closed clients."""

import asyncio
import socket

import pytest
from tornado.testing import ExpectLog

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
CANCELLED = "Exception after Future was cancelled"


@gen.coroutine
def test_queued_requests_are_sent_in_order(make_client, web):
    client = make_client(max_clients=1)

    yield [client.fetch(f"{web.url}/{n}") for n in range(10)]

    assert [request.target for request in web.requests] == [f"/{n}" for n in range(10)]


@gen.coroutine
def test_time_in_the_queue_is_not_request_time(make_client, web, virtual_clock):
    client = make_client(max_clients=1)
    gate = web.hold("/held")
    held = client.fetch(f"{web.url}/held", request_timeout=0)
    waiting = client.fetch(web.url, connect_timeout=1, request_timeout=1)

    yield virtual_clock.advance(100)
    gate.set()
    response = yield waiting
    yield held

    assert response.body == b"hello"
    assert response.time_info["queue"] == pytest.approx(100, abs=1)
    assert response.request_time < 1
    assert all(
        took_s < 1 for name, took_s in response.time_info.items() if name != "queue"
    )


@gen.coroutine
def test_redirect_keeps_its_slot(make_client, web):
    client = make_client(max_clients=1)
    web.redirect("/a", to="/b")

    futures = [client.fetch(f"{web.url}/a"), client.fetch(f"{web.url}/c")]
    yield futures

    assert [request.target for request in web.requests] == ["/a", "/b", "/c"]


@gen.coroutine
def test_fetch_whose_producer_fetches_is_cancelled(client, serve):
    server = serve(lambda request: None if request.method == "PUT" else HELLO)
    inner = []

    def produce(write):
        inner.append(client.fetch(f"{server.url}/inner"))
        return inner[0]

    # On a reused connection the producer is called within the outer call of fetch.
    yield client.fetch(server.url)
    outer = client.fetch(server.url, method="PUT", body_producer=produce)
    response = yield inner[0]
    yield server.came(3)
    with ExpectLog("tornado.application", CANCELLED):
        outer.cancel()
        yield server.gone(0)

    assert response.body == b"hello"
    assert server.used == [0, 1, 0]


@gen.coroutine
def test_fetch_whose_resolver_fetches_is_cancelled(make_client, serve):
    server = serve(lambda request: None if request.target == "/outer" else HELLO)
    inner = []

    class Asking:
        """Fetches with the client that it serves, as a resolver over HTTPS does."""

        def resolve(self, host, port, family=0):
            if host == "a.test":
                inner.append(client.fetch(f"{server.url}/inner"))
            found = asyncio.get_running_loop().create_future()
            found.set_result([(socket.AF_INET, ("127.0.0.1", server.port))])
            return found

    client = make_client(resolver=Asking())
    outer = client.fetch("http://a.test/outer")
    response = yield inner[0]
    requests = yield server.came(2)
    (number,) = (each.connection for each in requests if each.target == "/outer")
    with ExpectLog("tornado.application", CANCELLED):
        outer.cancel()
        yield server.gone(number)

    assert response.body == b"hello"


@gen.coroutine
def test_fetch_with_a_closed_client_is_an_error(make_client, web):
    client = make_client()
    client.close()
    client.close()

    with pytest.raises(RuntimeError, match="closed"):
        yield client.fetch(web.url)
