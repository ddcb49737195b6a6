"""When a connection is reused, by which requests, and what happens if it turns out to be dead."""

import asyncio
import ssl

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.faulty import (
    GOOD,
    FaultServer,
    Loopback,
    Peer,
    answers,
    body_for,
    exchange,
    fetch_twice,
    head,
    new_client,
    settle,
)
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
LENGTH = b"Content-Length: 4"

IDEMPOTENT = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]
LENGTH_OF_ONE = {"headers": {"Content-Length": "1"}}

CLOSED = (HTTPStreamClosedError, OSError)


# What a response says about its connection.


@pytest.mark.parametrize(
    ("version", "lines", "is_reused"),
    [
        (b"1.1", [], True),
        (b"1.1", [b"Connection: keep-alive"], True),
        (b"1.1", [b"Connection: Keep-Alive, Upgrade", b"Upgrade: h2,h2c"], True),
        (b"1.1", [b"Connection: x-custom"], True),
        (b"1.1", [b"Connection: "], True),
        (b"1.1", [b"Connection: close"], False),
        (b"1.1", [b"connection:Close"], False),
        (b"1.1", [b"Connection: close "], False),
        (b"1.1", [b"Connection: keep-alive, close"], False),
        (b"1.1", [b"Connection: x-custom,close"], False),
        (b"1.1", [b"Connection: ,, close ,"], False),
        (b"1.1", [b"Connection: keep-alive", b"Connection: close"], False),
        (b"1.1", [b"Connection: close", b"Connection: keep-alive"], False),
        (b"1.0", [], False),
        (b"1.0", [b"Connection: Keep-Alive"], True),
        (b"1.0", [b"Connection: x, Keep-Alive"], True),
        (b"1.0", [b"Connection: x"], False),
        (b"1.0", [b"Connection: close"], False),
        (b"1.0", [b"Connection: keep-alive, close"], False),
        (b"1.0", [b"Keep-Alive: timeout=5"], False),
        (b"1.1", [b"Keep-Alive: timeout=0"], False),
    ],
)
def test_connection_header_decides_whether_to_reuse(version, lines, is_reused):
    response = head(*lines, LENGTH).replace(b"1.1", version) + b"good"

    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert result.was_reused == is_reused


@pytest.mark.parametrize(
    "headers", [{"Connection": "close"}, {"connection": "x, CLOSE"}]
)
def test_request_with_connection_close_is_not_followed_by_another(headers):
    result = exchange(answers(GOOD), headers=headers)

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert not result.was_reused


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"timeout=",
        b"timeout=-5",
        b"timeout=0",
        b"timeout=1e400",
        b"timeout=nan",
        b"timeout=\xb2",
        b"timeout=" + b"9" * 5_000,
        b'timeout="5"',
        b"timeout=5, timeout=6",
        b"max=-1, timeout=5",
        b";;;===,,,",
    ],
)
def test_invalid_keep_alive_header_is_harmless(value):
    response = head(b"Connection: keep-alive", b"Keep-Alive: " + value, LENGTH)

    result = exchange(answers(response + b"good"))

    assert getattr(result.outcome, "body", result.outcome) == b"good"


@gen.coroutine
def test_next_request_is_sent_after_the_whole_response(make_client, serve):
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


# How long an idle connection is kept, how many, and which is used first.


@pytest.mark.parametrize(
    ("options", "response", "limit"),
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
def test_idle_connection_is_closed_after_its_timeout(
    make_client, serve, virtual_clock, options, response, limit
):
    client = make_client(**options)
    server = serve(response)
    yield client.fetch(server.url)

    yield virtual_clock.advance(limit * 0.5)
    yield client.fetch(server.url)
    closing = server.gone(0)
    yield virtual_clock.advance(limit * 0.5)
    is_early = closing.done()
    yield virtual_clock.advance(limit * 0.5 + 0.01)

    assert server.used == [0, 0]
    assert (is_early, closing.done()) == (False, True)


@pytest.mark.parametrize(
    ("options", "kept"),
    [({"max_idle": 0}, 0), ({"max_idle": 2}, 2), ({"max_clients": 2}, 2)],
)
@gen.coroutine
def test_surplus_idle_connection_is_closed_oldest_first(
    make_client, serve, options, kept
):
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
def test_most_recently_used_connection_is_reused_first(client, web):
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
    """As uvloop: calls a timer that is already due by a handle without a `when`."""

    def call_at(self, when, callback, *args, context=None):
        if when <= self.time():
            return self.call_soon(callback, *args, context=context)
        return super().call_at(when, callback, *args, context=context)


@pytest.mark.parametrize("timeout", [0, 1])
def test_shortest_keep_alive_timeouts_work_under_uvloop(timeout):
    response = head(LENGTH, b"Keep-Alive: timeout=%d" % timeout) + b"good"

    async def main():
        async def script(peer):
            await peer.request()
            await all_are_here.wait()
            await peer.send(response)

        # All end in one turn, before the first can have been examined.
        all_are_here = asyncio.Barrier(5)
        async with FaultServer(*[script] * 15) as server:
            client = new_client(max_clients=5)
            fetched = []
            for _ in range(3):
                fetches = [client.fetch(server.url) for _ in range(5)]
                fetched += await asyncio.gather(*fetches)
            client.close()
            await server.all_gone()
            return [each.body for each in fetched]

    with asyncio.Runner(loop_factory=LoopWithoutDueTimers) as runner:
        bodies = runner.run(main())

    assert bodies == [b"good"] * 15


# What happens to an idle connection.


@pytest.mark.parametrize("end", [Peer.close, Peer.half_close, Peer.reset])
@pytest.mark.parametrize("turns", [0, 1, 2, 20])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_connection_closed_while_idle_is_not_reused(end, turns, method):
    async def between(peer):
        end(peer)
        await settle(turns)

    second, server = fetch_twice(
        None, between=between, method=method, **body_for(method)
    )

    if method == "GET" or turns == 20:
        assert getattr(second, "body", second) == b"good"
    else:
        # It may have been in transit already, and must not be repeated.
        assert isinstance(second, CLOSED) or second.body == b"good", repr(second)
    assert len(server.peers) == 2


@pytest.mark.parametrize(
    "unsolicited",
    [
        b"x",
        b"\r\n",
        bytes(100_000),
        b"HTTP/1.1 ",
        head(b"Content-Length: 6") + b"poison",
        head(b"Content-Length: 6", b"Connection: close", status=b"408 Late")
        + b"poison",
        head(status=b"100 Continue"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unsolicited_data_closes_an_idle_connection(unsolicited, method):
    async def between(peer):
        await peer.send(unsolicited)
        await peer.is_gone.wait()

    second, server = fetch_twice(
        None, between=between, method=method, **body_for(method)
    )

    assert getattr(second, "body", second) == b"good"
    assert len(server.peers) == 2


@gen.coroutine
def test_unsolicited_data_still_in_the_socket_is_noticed_too(client, web):
    yield client.fetch(web.url)

    # In the client's socket immediately, before the loop of the client can read it.
    web.streams[0].socket.send(answer(b"poison"))
    response = yield client.fetch(web.url, method="POST", body=b"")

    assert response.body == b"hello"
    assert web.used == [0, 1]


# A reused connection turns out to be dead: which request is retried, and how often.


def answers_then(fault):
    """Return a script that answers once, and plays the fault at the next request."""

    async def script(peer):
        await peer.request()
        await peer.send(GOOD)
        await peer.request()
        await fault(peer)

    return script


def ends(how, *parts):
    async def fault(peer):
        await peer.send(*parts)
        how(peer)

    return fault


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize("method", IDEMPOTENT)
def test_idempotent_request_is_retried(end, method):
    second, server = fetch_twice(
        answers_then(ends(end)),
        method=method,
        allow_nonstandard_methods=True,
        **body_for(method),
    )

    assert getattr(second, "code", second) == 200
    assert second.body == (b"" if method == "HEAD" else b"good")
    assert [len(peer.heads) for peer in server.peers] == [2, 2]
    assert server.peers[0].heads[-1] == server.peers[1].heads[0]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST", "body": b"x"},
        {"method": "PATCH", "body": b"x"},
        {"method": "FROB", "allow_nonstandard_methods": True},
        {"method": "PUT", "body_producer": lambda write: write(b"x"), **LENGTH_OF_ONE},
    ],
    ids=lambda options: options["method"],
)
def test_other_request_is_not_retried(end, options):
    second, server = fetch_twice(answers_then(ends(end)), **options)

    assert isinstance(second, CLOSED), repr(second)
    assert isinstance(second, OSError) == (end is Peer.reset)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
def test_request_is_retried_only_once(end):
    async def hangs_up(peer):
        await peer.request()
        end(peer)

    second, server = fetch_twice(answers_then(ends(end)), hangs_up)

    assert isinstance(second, CLOSED), repr(second)
    # The third is for the fetch after it.
    assert [len(peer.heads) for peer in server.peers] == [2, 1, 1]


@pytest.mark.parametrize("end", [Peer.half_close, Peer.reset])
@pytest.mark.parametrize(
    "begun",
    [
        b"H",
        b"nonsense\r\n",
        b"HTTP/1.1 200 OK\r\n",
        head(LENGTH) + b"go",
        head(status=b"100 x"),
    ],
)
def test_request_with_a_partial_response_is_not_retried(end, begun):
    second, server = fetch_twice(answers_then(ends(end, begun)))

    assert isinstance(second, CLOSED), repr(second)
    assert [len(peer.heads) for peer in server.peers] == [2, 1]


@gen.coroutine
def test_retry_uses_a_new_connection(client, serve):
    def script(request):
        if request.connection < 2 < len(server.requests):
            return request.stream.close()
        return HELLO

    server = serve(script)
    yield [client.fetch(server.url) for _ in range(2)]

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert server.used[-1] == 2
    assert len(server.requests) == 4


@gen.coroutine
def test_request_timeout_covers_both_attempts(client, serve, virtual_clock):
    @gen.coroutine
    def script(request):
        if len(server.requests) == 1:
            yield request.stream.write(HELLO)
        elif len(server.requests) == 2:
            yield gen.sleep(6)
            request.stream.close()

    server = serve(script)
    yield client.fetch(server.url)
    begun_at = virtual_clock.time()

    with pytest.raises(HTTPTimeoutError, match="Timeout during request"):
        yield client.fetch(server.url, request_timeout=10)

    assert virtual_clock.time() - begun_at == 10
    assert server.used == [0, 0, 1]


def stalling_second_request(server):
    """Return a script that closes the connection one second after the second request."""

    @gen.coroutine
    def stall(request):
        yield gen.sleep(1)
        request.stream.close()

    return lambda request: stall(request) if len(server.requests) == 2 else HELLO


@gen.coroutine
def test_connect_timeout_does_not_count_the_first_attempt(client, web, virtual_clock):
    web.script = stalling_second_request(web)
    yield client.fetch(web.url)

    response = yield client.fetch(web.url, connect_timeout=0.2)

    assert response.body == b"hello"
    assert web.used == [0, 0, 1]


@gen.coroutine
def test_connect_timeout_limits_the_retry(make_client, web, virtual_clock):
    hosts = []

    async def hang_at_the_second_look_up(host):
        hosts.append(host)
        if len(hosts) == 2:
            await asyncio.Event().wait()

    client = make_client(resolver=Loopback(hang_at_the_second_look_up))
    web.script = stalling_second_request(web)
    yield client.fetch(web.url)
    begun_at = virtual_clock.time()

    with pytest.raises(HTTPTimeoutError, match="Timeout while resolving"):
        yield client.fetch(web.url, connect_timeout=0.2)

    assert virtual_clock.time() - begun_at == pytest.approx(1.2)


# Which requests may share a connection, counted at the server.


@gen.coroutine
def fetch_each(client, url, *requests):
    for options in requests:
        yield client.fetch(url, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST", "body": b"x"},
        {"headers": {"X-Other": "1"}},
        {"auth_username": "me", "auth_password": "secret"},
        {"user_agent": "other"},
        {"connect_timeout": 3, "request_timeout": 4},
        {"decompress_response": False},
        {"streaming_callback": lambda chunk: None},
        {"follow_redirects": False},
        {"allow_nonstandard_methods": True},
    ],
    ids=lambda options: next(iter(options)),
)
@gen.coroutine
def test_connection_is_shared_by_requests_with_other_options(client, web, options):
    yield fetch_each(client, web.url, {}, options, {})

    assert web.used == [0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"allow_ipv6": True}, {"allow_ipv6": False}),
        ({}, {"network_interface": "127.0.0.2"}),
        ({"network_interface": "127.0.0.2"}, {"network_interface": "127.0.0.3"}),
    ],
    ids=["allow_ipv6", "network_interface", "other_interface"],
)
@gen.coroutine
def test_connection_is_not_shared_across_network_options(client, web, one, other):
    yield fetch_each(client, web.url, one, other, one, other)

    assert web.used == [0, 1, 0, 1]


@gen.coroutine
def test_connection_is_not_shared_by_two_names_of_one_address(named, web):
    for host in ("a.test", "b.test", "a.test", "b.test"):
        yield named.fetch(f"http://{host}:{web.port}/")

    assert web.used == [0, 1, 0, 1]


@gen.coroutine
def test_connection_is_shared_by_spellings_of_one_host(make_client, web):
    address = ("127.0.0.1", web.port)
    client = make_client(
        hostname_mapping={("a.test", 80): address, ("A.TEST", 80): address}
    )

    for url in ("http://a.test/", "http://A.TEST/", "http://a.test:80/"):
        yield client.fetch(url)

    assert web.used == [0, 0, 0]


@gen.coroutine
def test_plain_connection_is_not_used_for_https(client, web):
    yield client.fetch(web.url)

    with pytest.raises(OSError):
        secure = client.fetch(web.url.replace("http:", "https:"))
        # The server takes the greeting of TLS for a head without an end.
        yield web.connected(2)
        web.streams[1].close()
        yield secure

    assert web.used == [0]


@gen.coroutine
def test_connection_is_not_shared_across_tls_options(
    client, secure_web, certificates, other_certificates
):
    ca = certificates.ca
    cert, key = certificates.client_files("one")
    other_cert, other_key = certificates.client_files("other")
    files = {"certfile": cert, "keyfile": key}
    options = [
        {"validate_cert": False},
        {"ca_certs": ca},
        {"ca_certs": ca, "validate_cert": False},
        {"ca_certs": other_certificates.ca, "validate_cert": False},
        {"ca_certs": ca, "client_cert": cert, "client_key": key},
        {"ca_certs": ca, "client_cert": other_cert, "client_key": other_key},
        {"ssl_options": {"ca_certs": ca}},
        {"ssl_options": {"ca_certs": ca, **files}},
        {"ssl_options": ssl.create_default_context(cafile=ca)},
        {"ssl_options": ssl.create_default_context(cafile=ca)},
    ]

    yield fetch_each(client, secure_web.url, *options, *options)

    assert secure_web.used == [*range(10), *range(10)]


@gen.coroutine
def test_connection_is_shared_across_equal_tls_options(
    client, secure_web, certificates
):
    for _ in range(2):
        # Equal, but not the same object.
        yield client.fetch(
            secure_web.url, ssl_options={"ca_certs": str(certificates.ca)}
        )

    assert secure_web.used == [0, 0]
