"""Responses: head, body, trailers, and times."""

import pytest

from crawler_app.httpclient import (
    PooledHTTPResponse,
)
from gencoro import gen
from tests.helpers.http.peers import answer

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@gen.coroutine
def test_response_has_what_was_received(client, serve):
    head = (
        b"HTTP/1.1 299  Fine, thanks \r\nContent-Length: 3\r\n"
        b"x-one: 1\r\nX-ONE:\t2 \r\nX-Latin: \xe4\r\nEmpty:\r\n\r\n"
    )
    server = serve(head + b"abc")

    response = yield client.fetch(server.url)

    assert isinstance(response, PooledHTTPResponse)
    assert (response.code, response.body, response.error) == (299, b"abc", None)
    assert response.reason.strip() == "Fine, thanks"
    assert response.headers.get_list("X-One") == ["1", "2"]
    assert response.headers["x-latin"] == "\xe4"
    assert response.headers["Empty"] == ""
    assert response.buffer.read() == b"abc"
    assert response.raw_head == head
    assert response.encoded_body == b"abc"
    assert response.peer_address == ("127.0.0.1", server.port)
    assert response.effective_url == server.url
    assert response.trailers is None


@pytest.mark.parametrize(
    ("announced", "sent", "seen"),
    [
        ("X-Sum", b"X-Sum: 1\r\n", {"X-Sum": "1"}),
        ("X-Sum, X-Two", b"X-Sum: 1\r\nx-two:2\r\n", {"X-Sum": "1", "X-Two": "2"}),
        ("X-Sum", b"", {}),
        (None, b"X-Sum: 1\r\n", None),
    ],
)
@gen.coroutine
def test_announced_trailers_are_returned(client, serve, announced, sent, seen):
    field = f"Trailer: {announced}\r\n".encode() if announced else b""
    # The body looks like trailers, but is not.
    body = b"8\r\nA: b\r\n\r\n\r\n0\r\n"
    said = CHUNKED + field + b"\r\n" + body + sent + b"\r\n"

    response = yield client.fetch(serve(said).url)

    assert response.body == b"A: b\r\n\r\n"
    trailers = response.trailers
    assert (None if trailers is None else dict(trailers.get_all())) == seen
    assert "X-Sum" not in response.headers


@gen.coroutine
def test_body_that_is_not_chunked_has_no_trailers(client, serve):
    server = serve(answer(b"A: b\r\n", Trailer="A"))

    responses = []
    for _ in range(2):
        responses.append((yield client.fetch(server.url)))

    assert [response.body for response in responses] == [b"A: b\r\n"] * 2
    assert [list(response.trailers.get_all()) for response in responses] == [[], []]
    assert server.used == [0, 0]


TIMES = [
    "queue",
    "namelookup",
    "connect",
    "appconnect",
    "pretransfer",
    "starttransfer",
    "total",
    "redirect",
]


@pytest.mark.parametrize("server", ["web", "secure_web"])
@gen.coroutine
def test_times_have_the_order_of_their_phases(client, server, certificates, request):
    url = request.getfixturevalue(server).url
    responses = []
    for _ in range(2):
        responses.append((yield client.fetch(url, ca_certs=certificates.ca)))

    new, reused = (response.time_info for response in responses)
    assert sorted(new) == sorted(reused) == sorted(TIMES)
    assert 0 <= new["namelookup"] <= new["connect"] <= new["pretransfer"]
    assert new["pretransfer"] <= new["starttransfer"] <= new["total"] < 60
    assert new["connect"] > 0
    assert 0 <= new["queue"] < new["total"] + 1
    assert 0 <= new["redirect"] < new["total"] + 1
    if server == "web":  # as in curl
        assert new["appconnect"] == 0
    else:
        assert new["connect"] < new["appconnect"] <= new["pretransfer"]
    assert reused["namelookup"] == reused["connect"] == reused["appconnect"] == 0
    assert responses[0].request_time == pytest.approx(new["total"], abs=1)


@gen.coroutine
def test_times_are_measured_from_the_last_request(client, web, virtual_clock):
    @gen.coroutine
    def slow(request):
        yield gen.sleep(3)
        yield request.stream.write(answer(status="302 Found", Location="/b"))

    @gen.coroutine
    def slower(request):
        yield gen.sleep(4)
        yield request.stream.write(answer(Content_Length=1))
        yield gen.sleep(5)
        yield request.stream.write(b"x")

    web.pages.update({"/a": slow, "/b": slower})

    response = yield client.fetch(f"{web.url}/a")

    times = response.time_info
    assert times["redirect"] == pytest.approx(3, abs=0.1)
    assert times["starttransfer"] == pytest.approx(4, abs=0.1)
    assert times["total"] == pytest.approx(9, abs=0.1)
    assert response.request_time == pytest.approx(9, abs=0.1)
