"""What comes back: framing, heads, limits, trailers, and the times."""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient import (
    BadResponseError,
    PooledHTTPResponse,
    ResponseTooLargeError,
)
from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@gen.coroutine
def fetch_from(client, serve, said, **options):
    server = serve(said)
    return (yield client.fetch(server.url, raise_error=False, **options))


# What Tornado's responses have, and what ours have besides.


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


@gen.coroutine
def test_head_is_that_of_the_final_response(client, serve):
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"

    response = yield fetch_from(client, serve, interim * 2 + HELLO)

    assert response.raw_head == HELLO[: -len(b"hello")]
    assert "Link" not in response.headers


@gen.coroutine
def test_body_may_hold_anything(client, serve):
    body = bytes(range(256)) * 1000 + b"\r\n\r\nHTTP/1.1 200 OK\r\n"
    server = serve(answer(body))

    for _ in range(2):
        response = yield client.fetch(server.url)
        assert response.body == response.encoded_body == body

    assert server.used == [0, 0]


@pytest.mark.parametrize(
    ("chunks", "body"),
    [
        (b"0\r\n\r\n", b""),
        (b"1\r\na\r\n0\r\n\r\n", b"a"),
        (b"00000001\r\na\r\n0\r\n\r\n", b"a"),
        (b"A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n", b"0123456789" * 2),
        (b"3\r\n\r\n\r\r\n0\r\n\r\n", b"\r\n\r"),
        (b'1;a="b;c"\r\nx\r\n0\r\n\r\n', b"x"),
        (b"1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\n", b"x"),
        (b"10000\r\n" + b"x" * 65536 + b"\r\n0\r\n\r\n", b"x" * 65536),
    ],
)
@gen.coroutine
def test_chunks_are_put_together(client, serve, chunks, body):
    server = serve(CHUNKED + b"\r\n" + chunks)

    for _ in range(2):
        response = yield client.fetch(server.url)
        assert response.body == response.encoded_body == body

    assert server.used == [0, 0]


@gen.coroutine
def test_response_in_single_bytes_is_the_same(client, serve):
    said = CHUNKED + b"X: y\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: u\r\n\r\n"

    @gen.coroutine
    def script(request):
        for n in range(len(said)):
            yield request.stream.write(said[n : n + 1])
            yield gen.moment

    server = serve(script)

    for _ in range(2):
        response = yield client.fetch(server.url)
        assert (response.body, response.headers["X"]) == (b"abcde", "y")

    assert server.used == [0, 0]


@pytest.mark.parametrize(
    ("method", "status"),
    [
        ("HEAD", "200 OK"),
        ("HEAD", "404 Not Found"),
        ("HEAD", "304 Not Modified"),
        ("GET", "204 No Content"),
        ("GET", "304 Not Modified"),
    ],
)
@gen.coroutine
def test_response_without_a_body_does_not_wait_for_one(client, serve, method, status):
    server = serve(answer(status=status, Content_Length=42, ETag='"x"'))

    response = yield client.fetch(server.url, method=method, raise_error=False)

    assert (response.code, response.body) == (int(status[:3]), b"")
    assert response.headers["Content-Length"] == "42"
    assert response.headers["ETag"] == '"x"'


@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200", HELLO[:-1], CHUNKED + b"\r\n5\r\nab"]
)
@gen.coroutine
def test_response_that_ends_too_early_is_an_error(client, serve, said):
    @gen.coroutine
    def script(request):
        yield request.stream.write(said)
        request.stream.close()

    server = serve(script)

    with pytest.raises(HTTPStreamClosedError) as caught:
        yield client.fetch(server.url)

    assert caught.value.code == 599


@pytest.mark.parametrize("version", ["1.2", "2.0", "0.9", "11"])
@gen.coroutine
def test_other_versions_are_no_response(client, serve, version):
    with pytest.raises(BadResponseError):
        yield fetch_from(client, serve, answer(b"x", version=version))


@gen.coroutine
def test_switching_protocols_is_no_response(client, serve):
    said = (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    )

    with pytest.raises(BadResponseError):
        yield fetch_from(client, serve, said)


# Limits.


@pytest.mark.parametrize("part", ["line", "field", "fields", "interim", "trailers"])
@pytest.mark.parametrize("excess", [-2000, 2000])
@gen.coroutine
def test_head_is_limited(make_client, serve, part, excess):
    limit = 4000
    client = make_client(max_header_size=limit)
    filling = b"x" * (limit + excess)
    said = {
        "line": b"HTTP/1.1 200 " + filling + b"\r\nContent-Length: 0\r\n\r\n",
        "field": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: " + filling + b"\r\n\r\n",
        "fields": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
        + b"A: b\r\n" * (len(filling) // 6)
        + b"\r\n",
        "interim": b"HTTP/1.1 103 Hi\r\nA: " + filling + b"\r\n\r\n" + HELLO,
        "trailers": CHUNKED
        + b"Trailer: A\r\n\r\n1\r\na\r\n0\r\nA: "
        + filling
        + b"\r\n\r\n",
    }[part]

    fetching = fetch_from(client, serve, said)

    if excess < 0:
        response = yield fetching
        assert response.code == 200
    else:
        with pytest.raises(ResponseTooLargeError, match=str(limit)):
            yield fetching


@pytest.mark.parametrize("framing", ["length", "chunked", "until_close"])
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("excess", [0, 1])
@gen.coroutine
def test_body_is_limited(make_client, serve, framing, is_streamed, excess):
    body = b"x" * (100_000 + excess)
    client = make_client(max_body_size=100_000)
    chunks = []
    options = {"streaming_callback": chunks.append} if is_streamed else {}

    @gen.coroutine
    def until_close(request):
        yield request.stream.write(b"HTTP/1.1 200 OK\r\n\r\n" + body)
        request.stream.close()

    said = {
        "length": answer(body),
        "chunked": CHUNKED + b"\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        "until_close": until_close,
    }[framing]

    fetching = fetch_from(client, serve, said, **options)

    if excess:
        with pytest.raises(ResponseTooLargeError, match="100000"):
            yield fetching
        assert len(b"".join(chunks)) <= 100_000
    else:
        response = yield fetching
        assert response.body + b"".join(chunks) == body


@gen.coroutine
def test_length_beyond_the_limit_is_told_before_the_body(make_client, serve):
    client = make_client(max_body_size=1000)
    server = serve(answer(Content_Length=1001))

    with pytest.raises(ResponseTooLargeError):
        yield client.fetch(server.url)


@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
@gen.coroutine
def test_length_of_a_body_that_does_not_come_is_not_limited(make_client, serve, status):
    client = make_client(max_body_size=1000)
    method = "HEAD" if status == "200 OK" else "GET"

    response = yield fetch_from(
        client, serve, answer(status=status, Content_Length=10**12), method=method
    )

    assert response.headers["Content-Length"] == str(10**12)


# Trailers.


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
def test_trailers_that_were_announced_are_there(client, serve, announced, sent, seen):
    field = f"Trailer: {announced}\r\n".encode() if announced else b""
    # The body looks like trailers, to be taken for them.
    body = b"8\r\nA: b\r\n\r\n\r\n0\r\n"
    said = CHUNKED + field + b"\r\n" + body + sent + b"\r\n"

    response = yield fetch_from(client, serve, said)

    assert response.body == b"A: b\r\n\r\n"
    trailers = response.trailers
    assert (None if trailers is None else dict(trailers.get_all())) == seen
    assert "X-Sum" not in response.headers


@gen.coroutine
def test_trailers_come_with_a_streamed_body_too(client, serve):
    said = CHUNKED + b"Trailer: T\r\n\r\n1\r\na\r\n0\r\nT: u\r\n\r\n"

    response = yield fetch_from(
        client, serve, said, streaming_callback=lambda chunk: None
    )

    assert response.trailers["T"] == "u"


@gen.coroutine
def test_body_that_is_not_chunked_has_no_trailers(client, serve):
    server = serve(answer(b"A: b\r\n", Trailer="A"))

    responses = []
    for _ in range(2):
        responses.append((yield client.fetch(server.url)))

    assert [response.body for response in responses] == [b"A: b\r\n"] * 2
    assert [list(response.trailers.get_all()) for response in responses] == [[], []]
    assert server.used == [0, 0]


# Times.


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


@gen.coroutine
def test_times_are_told_in_the_order_they_come(client, web):
    responses = []
    for _ in range(2):
        responses.append((yield client.fetch(web.url)))

    new, reused = (response.time_info for response in responses)
    assert sorted(new) == sorted(reused) == sorted(TIMES)
    assert 0 <= new["namelookup"] <= new["connect"] <= new["pretransfer"]
    assert new["pretransfer"] <= new["starttransfer"] <= new["total"] < 5
    assert new["connect"] > 0
    assert new["queue"] == pytest.approx(0, abs=0.1)
    assert new["redirect"] == pytest.approx(0, abs=0.1)
    # curl: there is no TLS.
    assert new["appconnect"] == 0
    assert reused["namelookup"] == reused["connect"] == 0
    assert responses[0].request_time == pytest.approx(new["total"], abs=0.01)


@gen.coroutine
def test_times_are_those_of_the_last_request(client, web, virtual_clock):
    @gen.coroutine
    def slow(handler):
        yield gen.sleep(3)
        handler.redirect("/b")

    @gen.coroutine
    def slower(handler):
        yield gen.sleep(4)
        handler.write(b"x")
        handler.flush()
        yield gen.sleep(5)

    web.pages.update({"/a": slow, "/b": slower})

    response = yield client.fetch(f"{web.url}/a")

    times = response.time_info
    assert times["redirect"] == pytest.approx(3, abs=0.1)
    assert times["starttransfer"] == pytest.approx(4, abs=0.1)
    assert times["total"] == pytest.approx(9, abs=0.1)
    assert response.request_time == pytest.approx(9, abs=0.1)
