"""Expect: 100-continue: when the body is sent, and when it is not."""

import pytest

from gencoro import gen
from tests.helpers.http.peers import answer

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@gen.coroutine
def test_body_waits_until_the_server_wants_it(client, serve):
    @gen.coroutine
    def script(request):
        coming = request.stream.read_bytes(4)
        for _ in range(10):
            yield gen.moment
        early.append(coming.done())
        yield request.stream.write(CONTINUE)
        yield request.stream.write(answer((yield coming)))

    early = []
    server = serve(script, reads_bodies=False)

    for _ in range(2):
        response = yield client.fetch(
            server.url, method="PUT", body=b"body", expect_100_continue=True
        )
        assert response.body == b"body"

    assert early == [False, False]
    assert server.requests[0].headers["Expect"] == "100-continue"
    assert server.used == [0, 0]


@gen.coroutine
def test_produced_body_waits_until_the_server_wants_it(client, serve):
    @gen.coroutine
    def script(request):
        yield request.stream.write(CONTINUE)
        body = yield request.stream.read_until(b"0\r\n\r\n")
        yield request.stream.write(answer(body))

    server = serve(script, reads_bodies=False)

    response = yield client.fetch(
        server.url,
        method="PUT",
        body_producer=lambda write: write(b"body"),
        expect_100_continue=True,
    )

    assert response.body == b"4\r\nbody\r\n0\r\n\r\n"


@pytest.mark.parametrize("status", ["417 Expectation Failed", "200 OK", "401 Login"])
@gen.coroutine
def test_body_that_is_not_wanted_is_not_sent(client, serve, status):
    def produce(write):
        raise AssertionError("the server does not want it")

    server = serve(answer(b"no", status), reads_bodies=False)

    for number in range(2):
        response = yield client.fetch(
            server.url,
            method="PUT",
            body_producer=produce,
            expect_100_continue=True,
            raise_error=False,
        )
        yield server.gone(number)
        assert (response.code, response.body) == (int(status[:3]), b"no")

    assert server.used == [0, 1]


@gen.coroutine
def test_redirect_instead_of_continue_is_followed_with_the_body(client, serve):
    def script(request):
        if request.target == "/":
            return answer(status="307 Elsewhere", Location="/other")
        return continues(request)

    @gen.coroutine
    def continues(request):
        yield request.stream.write(CONTINUE)
        body = yield request.stream.read_bytes(4)
        yield request.stream.write(answer(body))

    server = serve(script, reads_bodies=False)

    response = yield client.fetch(
        server.url, method="PUT", body=b"body", expect_100_continue=True
    )

    assert response.body == b"body"
    assert server.used == [0, 1]


@gen.coroutine
def test_silent_server_gets_the_body_after_a_second(client, serve, virtual_clock):
    @gen.coroutine
    def script(request):
        body = yield request.stream.read_bytes(4)
        came_at.append(virtual_clock.time())
        yield request.stream.write(answer(body))

    came_at = []
    server = serve(script, reads_bodies=False)

    for _ in range(2):
        response = yield client.fetch(
            server.url, method="PUT", body=b"body", expect_100_continue=True
        )
        assert response.body == b"body"

    assert came_at == pytest.approx([1.0, 2.0], abs=0.1)
    assert server.used == [0, 0]


@gen.coroutine
def test_continue_that_comes_late_sends_the_body_once(client, serve, virtual_clock):
    @gen.coroutine
    def script(request):
        body = yield request.stream.read_bytes(4)
        yield request.stream.write(CONTINUE)
        yield virtual_clock.advance(5)
        yield request.stream.write(answer(body))

    server = serve(script, reads_bodies=False)

    for _ in range(2):
        yield client.fetch(
            server.url, method="PUT", body=b"body", expect_100_continue=True
        )

    assert server.used == [0, 0]


@gen.coroutine
def test_other_interim_answers_do_not_ask_for_the_body(client, serve, virtual_clock):
    @gen.coroutine
    def script(request):
        yield request.stream.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        body = yield request.stream.read_bytes(4)
        came_at.append(virtual_clock.time())
        yield request.stream.write(answer(body))

    came_at = []
    server = serve(script, reads_bodies=False)

    yield client.fetch(server.url, method="PUT", body=b"body", expect_100_continue=True)

    assert came_at == pytest.approx([1.0], abs=0.1)


@gen.coroutine
def test_request_without_a_body_expects_nothing(client, web):
    yield client.fetch(web.url, expect_100_continue=True)

    assert "Expect" not in web.requests[0].headers
