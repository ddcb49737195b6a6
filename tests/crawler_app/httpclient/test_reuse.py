"""When a connection is used again, and when it must not be: counted at the server."""

import gzip

import pytest
from tornado.locks import Event
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError
from tornado.testing import ExpectLog

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"


@pytest.mark.parametrize(
    ("said", "options"),
    [
        (HELLO, {}),
        (answer(), {}),
        (CHUNKED + b"\r\n", {}),
        (CHUNKED + b"X-Sum: 1\r\n\r\n", {}),
        (answer(gzip.compress(b"x"), Content_Encoding="gzip"), {}),
        (answer(Content_Length=5), {"method": "HEAD"}),
        (answer(Content_Length=None, Transfer_Encoding="chunked"), {"method": "HEAD"}),
        (answer(Content_Length=None), {"method": "HEAD"}),
        (answer(status="204 No Content", Content_Length=None), {}),
        (answer(status="304 Not Modified", Content_Length=None), {}),
        (answer(status="304 Not Modified", Content_Length=42), {}),
        (answer(b"sorry", "500 Internal Server Error"), {}),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + HELLO, {}),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HELLO, {}),
        (answer(b"old", version="1.0", Connection="keep-alive"), {}),
        (answer(b"old", version="1.0", Connection="x, Keep-Alive"), {}),
        (answer(b"new", Connection="Keep-Alive"), {}),
        (HELLO, {"method": "POST", "body": b"x" * 300_000}),
        (HELLO, {"method": "PUT", "body_producer": lambda write: write(b"x")}),
        (HELLO, {"streaming_callback": lambda chunk: None}),
    ],
    ids=[
        "length",
        "no_body",
        "chunked",
        "trailers",
        "gzip",
        "head",
        "head_chunked",
        "head_without_length",
        "204",
        "304",
        "304_with_length",
        "error_status",
        "informational",
        "continue",
        "http10_keep_alive",
        "http10_keep_alive_in_a_list",
        "http11_keep_alive",
        "post",
        "producer",
        "streaming",
    ],
)
@gen.coroutine
def test_connection_is_used_again_after(client, serve, said, options):
    server = serve(said)

    for _ in range(3):
        yield client.fetch(server.url, raise_error=False, **options)

    assert server.used == [0, 0, 0]


@pytest.mark.parametrize(
    ("said", "options"),
    [
        (answer(b"last", Connection="close"), {}),
        (answer(b"last", Connection="Keep-Alive, Close"), {}),
        (answer(status="204 No Content", Content_Length=None, Connection="close"), {}),
        (answer(b"old", version="1.0"), {}),
        (answer(b"old", version="1.0", Connection="x"), {}),
        (HELLO + b"x", {}),
        (HELLO + HELLO, {}),
        (CHUNKED + b"\r\nx", {}),
        (answer(b"body", Content_Length=4), {"method": "HEAD"}),
        (b"HTTP/1.1 204 No Content\r\n\r\nbody", {}),
        (HELLO, {"headers": {"Connection": "close"}}),
        (HELLO, {"headers": {"connection": "x, CLOSE"}}),
    ],
    ids=[
        "close",
        "close_in_a_list",
        "close_without_body",
        "http10",
        "http10_with_an_option",
        "extra_byte",
        "second_answer",
        "byte_after_chunks",
        "head_with_body",
        "204_with_body",
        "close_by_the_client",
        "close_by_the_client_in_a_list",
    ],
)
@gen.coroutine
def test_connection_is_closed_by_the_client_after(client, serve, said, options):
    server = serve(said)

    for _ in range(2):
        yield client.fetch(server.url, **options)
    closed = yield [server.gone(0), server.gone(1)]

    # The server would have kept both open.
    assert server.used == [0, 1]
    assert closed == [True, True]


@gen.coroutine
def test_body_until_the_end_takes_the_connection_along(client, serve):
    @gen.coroutine
    def script(request):
        yield request.stream.write(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        request.stream.close()

    server = serve(script)

    one = yield client.fetch(server.url)
    other = yield client.fetch(server.url)

    assert one.body == other.body == b"until the end"
    assert server.used == [0, 1]


@pytest.mark.parametrize(
    ("said", "options"),
    [
        (b"no HTTP at all\r\n\r\n", {}),
        (answer(b"x" * 2000), {}),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 5000, {}),
        (answer(b"no gzip", Content_Encoding="gzip"), {}),
        (HELLO, {"streaming_callback": lambda chunk: 1 / 0}),
        (HELLO, {"header_callback": lambda line: 1 / 0}),
    ],
    ids=["rubbish", "body_too_large", "head_too_large", "coding", "chunk", "header"],
)
@gen.coroutine
def test_connection_is_closed_after_an_error(make_client, serve, said, options):
    client = make_client(max_body_size=1000, max_header_size=4000)
    server = serve(said)

    for _ in range(2):
        with pytest.raises((HTTPStreamClosedError, ZeroDivisionError)):
            yield client.fetch(server.url, **options)
    closed = yield [server.gone(0), server.gone(1)]

    assert server.used == [0, 1]
    assert closed == [True, True]


@gen.coroutine
def test_connection_is_closed_when_time_is_over(client, serve, virtual_clock):
    server = serve(lambda request: None)

    with pytest.raises(HTTPTimeoutError, match="Timeout during request"):
        yield client.fetch(server.url, request_timeout=7)
    closed = yield server.gone(0)

    assert closed
    assert virtual_clock.time() == 7


@gen.coroutine
def test_cancelling_amid_the_body_closes_the_connection(client, serve):
    got = Event()
    server = serve(lambda request: answer(b"half", Content_Length=8))
    future = client.fetch(server.url, streaming_callback=lambda chunk: got.set())
    yield got.wait()

    with ExpectLog("tornado.application", "Exception after Future was cancelled"):
        future.cancel()
        closed = yield server.gone(0)
    server.script = HELLO
    response = yield client.fetch(server.url)

    assert closed
    assert response.body == b"hello"
    assert server.used == [0, 1]


@pytest.mark.parametrize("length", ["content_length", "chunked"])
@gen.coroutine
def test_answer_before_the_body_was_sent_closes_the_connection(client, serve, length):
    server = serve(answer(b"enough", "413 Too Large"), reads_bodies=False)
    options = {"body": b"x" * 20_000_000}
    if length == "chunked":

        @gen.coroutine
        def produce(write):
            while True:
                yield write(b"x" * 65536)

        options = {"body_producer": produce}

    response = yield client.fetch(
        server.url, method="PUT", raise_error=False, **options
    )
    closed = yield server.gone(0)
    server.reads_bodies, server.script = True, HELLO
    yield client.fetch(server.url)

    assert (response.code, response.body) == (413, b"enough")
    assert closed
    assert server.requests[-1].connection == 1


# Together.


@gen.coroutine
def test_requests_at_once_have_a_connection_each(client, web):
    gate = web.hold("/")
    futures = [client.fetch(web.url) for _ in range(5)]
    yield web.came(5)

    gate.set()
    yield futures
    yield [client.fetch(web.url) for _ in range(5)]

    assert sorted(web.used[:5]) == [0, 1, 2, 3, 4]
    assert sorted(web.used[5:]) == [0, 1, 2, 3, 4]


@gen.coroutine
def test_next_request_is_not_sent_before_the_answer_is_out(make_client, serve):
    early = []

    @gen.coroutine
    def script(request):
        half = HELLO[: len(HELLO) // 2]
        yield request.stream.write(half)
        following = request.stream.read_bytes(1)
        for _ in range(10):
            yield gen.moment
        early.append(following.done())
        yield request.stream.write(HELLO[len(half) :])
        first = yield following
        rest = yield request.stream.read_until(b"\r\n\r\n")
        assert (first + rest).startswith(b"GET / ")
        yield request.stream.write(HELLO)

    server = serve(script)
    client = make_client(max_clients=2)

    responses = yield [client.fetch(server.url) for _ in range(4)]

    assert [response.body for response in responses] == [b"hello"] * 4
    assert early
    assert not any(early)
