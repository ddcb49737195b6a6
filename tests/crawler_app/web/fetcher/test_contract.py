"""Fetching with every client: successes, size limits, and all faults of servers."""

import asyncio
import contextlib
import gzip
import os
import pathlib
import ssl
import tracemalloc
import zlib

import pytest
import tornado

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.urls import reference_in_header
from crawler_app.web.fetcher import make_fetcher
from crawler_app.web.fetcher.http import BODY_MARGIN_BYTES
from gencoro import gen
from tests.helpers.fetching import (
    LIMIT,
    answer,
    fetch,
    fetch_from,
    run,
    run_with,
    sends,
)
from tests.helpers.http.faulty import FaultServer, Peer, answers, repeats
from tests.helpers.http.peers import answer as raw_answer
from tests.helpers.http.peers import black_hole, refusing_port

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


# Successes.


def test_page_is_fetched(client):
    script = answer(b"<p>hello", Content_Type="text/html; charset=x", X_Two="1")

    fetched, server = fetch_from(client, script, "/a%2Fb?q=%C3%A9&x")

    assert isinstance(fetched, Fetched)
    assert (fetched.status, fetched.body) == (200, b"<p>hello")
    assert fetched.headers["content-type"] == "text/html; charset=x"
    assert fetched.url == f"http://127.0.0.1:{server.port}/a%2Fb?q=%C3%A9&x"
    assert 0.0 < fetched.took_s < 20.0
    assert server.requests[0].startswith("GET /a%2Fb?q=%C3%A9&x HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("404 Not Found", b"gone"),
        ("500 Internal Server Error", b"<p>sorry"),
        ("429 Too Many Requests", b""),
        ("203 Elsewhere", b"x"),
        ("299 ", b"x"),
        ("999 Made Up", b"x"),
        *((f"{status} Moved", b"moved") for status in (301, 302, 303, 307, 308)),
    ],
)
def test_every_status_is_returned(client, status, body):
    script = answer(body, status, Retry_After="7", Location="/target?x#y")

    fetched, server = fetch_from(client, script)

    assert isinstance(fetched, Fetched)
    assert (fetched.status, fetched.body) == (int(status[:3]), body)
    assert fetched.headers["Retry-After"] == "7"
    assert fetched.headers["Location"] == "/target?x#y"
    assert len(server.requests) == 1


def test_bytes_of_a_location_are_escaped_one_by_one(client):
    # The same letter in latin-1 and in UTF-8, then bytes that are neither.
    location = b"/caf\xe9/caf\xc3\xa9/\xff\xfe?a=%41 b"
    script = sends(
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location,
        b"\r\n\r\n",
    )

    fetched, _ = fetch_from(client, script)

    escaped = reference_in_header(fetched.headers["Location"])
    assert escaped == "/caf%E9/caf%C3%A9/%FF%FE?a=%41 b"


@pytest.mark.parametrize(
    "path", ["//a//b", "/%7Eme/%c3%a9", "/100%?x=50%", "/[|]?[]=^{}`\\|", "/q?"]
)
def test_url_is_requested_unchanged(client, path):
    if (client, path) == ("simple", "/q?"):
        pytest.skip("Tornado's client leaves out an empty query")

    fetched, server = fetch_from(client, answer(), path)

    assert server.requests[0].split(" ")[1] == path
    assert fetched.request_head.decode().split(" ")[1] == path


def test_body_ending_with_the_connection_is_complete(client):
    fetched, _ = fetch_from(client, sends(b"HTTP/1.0 200 OK\r\n\r\nhello"))

    assert (fetched.status, fetched.body) == (200, b"hello")


def test_concurrent_fetches_from_one_server(client):
    async def script(peer):
        while True:
            await peer.request()
            number = peer.heads[-1].split()[1].removeprefix(b"/")
            await peer.send(raw_answer(number * 100))

    server = FaultServer(then=script)

    @gen.coroutine
    def main():
        config = CrawlConfig((server.url,), client=client, concurrency=10)
        fetcher = make_fetcher(config)
        try:
            return (
                yield [fetcher.fetch(Request(f"{server.url}{n}")) for n in range(40)]
            )
        finally:
            fetcher.close()

    answers = run_with(server, main)

    assert [fetched.body.decode() for fetched in answers] == [
        str(n) * 100 for n in range(40)
    ]


# Too large.


@pytest.mark.parametrize("encoding", ["identity", "gzip", "chunked"])
@pytest.mark.parametrize("excess", [0, 1, BODY_MARGIN_BYTES, 2 * BODY_MARGIN_BYTES])
def test_size_of_a_body_is_limited(client, encoding, excess):
    # Compressed, it is just within the limit too.
    body = os.urandom(LIMIT - 1_000) + bytes(1_000 + excess)
    half = len(body) // 2
    chunks = [b"%x\r\n%b\r\n" % (len(b), b) for b in (body[:half], body[half:])]
    script_by_encoding = {
        "identity": answer(body),
        "gzip": answer(gzip.compress(body), Content_Encoding="gzip"),
        "chunked": sends(CHUNKED, *chunks, b"0\r\n\r\n"),
    }

    fetched, _ = fetch_from(client, script_by_encoding[encoding])

    if excess:
        assert (fetched.reason, fetched.is_passing) == ("too_large", False)
        assert str(LIMIT) in str(fetched)
    else:
        assert fetched.body == body


@pytest.fixture(scope="module")
def bomb():
    """60 MB of zeros in 60 KB of gzip."""
    packer = zlib.compressobj(level=1, wbits=31)
    megabyte = bytes(1_000_000)
    parts = [packer.compress(megabyte) for _ in range(60)]
    packed = b"".join([*parts, packer.flush()])
    assert len(packed) < 1_000_000
    return packed


@pytest.mark.parametrize("is_announced", [True, False])
def test_gzip_bomb_is_refused_within_bounded_memory(client, bomb, is_announced):
    head = OK + b"Content-Encoding: gzip\r\n"
    if is_announced:
        head += b"Content-Length: %d\r\n" % len(bomb)
    tracemalloc.start()

    fetched, _ = fetch_from(client, sends(head + b"\r\n", bomb))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fetched.reason == "too_large"
    if tornado.version_info >= (6, 6):  # before, curl has no limit
        assert peak < 20_000_000


def test_body_in_tiny_chunks_takes_its_size(client):
    body = b"<p>" * 20_000
    chunks = [b"2\r\n%b\r\n" % body[at : at + 2] for at in range(0, len(body), 2)]
    chunks = b"".join([*chunks, b"0\r\n\r\n"])
    tracemalloc.start()

    fetched, _ = fetch_from(client, sends(CHUNKED, chunks), max_body_bytes=10**6)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fetched.body == body
    # The unsent part, a few copies, and the buffers of a socket or two; a list of chunks would
    # take 4 MB.
    assert peak < len(chunks) + 8 * len(body) + 2_000_000


@pytest.mark.skipif(
    tornado.version_info < (6, 6), reason="curl has no limit before 6.6"
)
@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"Transfer-Encoding: chunked", b"3e8\r\n" + bytes(1_000) + b"\r\n"),
        (b"Connection: close", bytes(1_000)),
        (b"Content-Length: 99999999999999", bytes(1_000)),
    ],
)
def test_endless_body_is_refused(client, head, part):
    script = repeats(part, after=OK + head + b"\r\n\r\n")

    fetched, server = fetch_from(client, script)

    assert (fetched.reason, fetched.is_passing) == ("too_large", False)
    # The rest of the sent data is in socket buffers.
    assert server.peers[0].sent_bytes < 20_000_000


# Faults: the reason and whether it may pass, by client if they differ.

CLOSED = ("connection_closed", True)
# Tornado's clients do not distinguish it from a broken connection.
BAD = ("bad_response", False)
BROKEN = {"others": BAD, "simple": CLOSED, "curl": CLOSED}
TOO_LARGE = ("too_large", False)
TIMEOUT = ("timeout", True)
ANSWER = ("", False)

FAULTS = {
    "closes before a byte": (sends(), CLOSED),
    "closes within the head": (
        sends(b"HTTP/1.1 200 OK\r\nContent-Le"),
        # libcurl takes the partial head as a response without a body.
        {"others": CLOSED, "curl": ANSWER},
    ),
    "closes within the body": (
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
        CLOSED,
    ),
    "closes within a chunk": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf"),
        CLOSED,
    ),
    "closes between chunks": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"),
        CLOSED,
    ),
    "wrong chunk size": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
        BROKEN,
    ),
    "chunk with an extension": (
        sends(
            CHUNKED,
            b"1;a=b\r\nx\r\n0\r\n\r\n",
        ),
        # RFC 9112, 7.1.1: to be ignored; Tornado's own client refuses them.
        {"others": ANSWER, "simple": CLOSED},
    ),
    "one chunk beyond every limit": (
        sends(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3d0900\r\n",
            bytes(4_000_000),
            b"\r\n0\r\n\r\n",
        ),
        # Tornado's own client fails before it delivers a byte.
        {"others": TOO_LARGE, "simple": CLOSED},
    ),
    "garbage": (sends(b"\x00\xff garbage\r\n\r\n"), BROKEN),
    "another protocol": (sends(b"220 mail.test ESMTP\r\n"), BROKEN),
    "head of 200 KB": (
        sends(OK + (b"X: " + b"y" * 9_995 + b"\r\n") * 20 + b"\r\n"),
        ANSWER,
    ),
    "head of a megabyte": (
        sends(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 170_000 + b"\r\n"),
        TOO_LARGE,
    ),
    "header line of a megabyte": (
        sends(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n"),
        TOO_LARGE,
    ),
    "gzip that is none": (
        answer(b"not gzip at all", Content_Encoding="gzip"),
        BAD,
    ),
    "gzip that is cut off": (
        answer(gzip.compress(b"a page")[:-10], Content_Encoding="gzip"),
        BAD,
    ),
    "gzip without its checksum": (
        answer(gzip.compress(b"a page")[:-5], Content_Encoding="gzip"),
        ANSWER,
    ),
    "resets": (answers(end=Peer.reset), CLOSED),
    "says nothing": (answers(), TIMEOUT),
    "drips": (
        repeats(b"x", after=OK + b"Content-Length: 50000\r\n\r\n", pause_s=0.01),
        TIMEOUT,
    ),
    "drips within the head": (repeats(b"y", after=OK + b"X: ", pause_s=0.01), TIMEOUT),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_server_fault_is_a_fetch_error_with_a_reason(client, fault, caplog):
    script, wanted = FAULTS[fault]
    if isinstance(wanted, dict):
        wanted = wanted.get(client, wanted["others"])
    timeout_s = 1.0 if wanted == TIMEOUT else 20.0

    error, server = fetch_from(client, script, request_timeout_s=timeout_s)

    if wanted == ANSWER:
        assert isinstance(error, Fetched)
    else:
        assert isinstance(error, FetchError)
        assert (error.reason, error.is_passing) == wanted, str(error)
        assert str(error)
    assert len(server.requests) == 1
    assert [r for r in caplog.records if r.levelname in ("ERROR", "CRITICAL")] == []


def test_silent_host_is_a_timeout(client):
    port, sockets = black_hole()
    url = f"http://127.0.0.1:{port}/"

    with contextlib.ExitStack() as stack:
        for sock in sockets:
            stack.enter_context(sock)
        error = run(lambda: fetch(client, url, connect_timeout_s=0.3))

    assert (error.reason, error.is_passing) == TIMEOUT


def test_closed_port_is_refused(client):
    port, sock = refusing_port()

    with sock:
        error = run(lambda: fetch(client, f"http://127.0.0.1:{port}/"))

    assert (error.reason, error.is_passing) == ("refused", True)


def test_unknown_host_is_a_dns_error(client):
    error = run(lambda: fetch(client, "http://nothing.invalid/"))

    assert error.reason in ("dns", "network")
    assert error.is_passing


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", "a..invalid", ".invalid"])
def test_invalid_host_name_is_an_error(client, host):
    error = run(lambda: fetch(client, f"http://{host}/"))

    assert isinstance(error, FetchError)
    assert error.reason in ("dns", "network", "bad_request")


def test_reset_within_the_tls_handshake(client):
    async def script(peer):
        await peer.read()
        peer.reset()

    error, _ = fetch_from(client, script, scheme="https")

    # libcurl has one code for any error in a handshake.
    wanted = ("tls", False) if client == "curl" else CLOSED
    assert (error.reason, error.is_passing) == wanted


def test_tls_to_a_plain_server_is_an_error(client):
    async def script(peer):
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        peer.close()

    error, _ = fetch_from(client, script, scheme="https")

    assert (error.reason, error.is_passing) == ("tls", False)


def test_untrusted_certificate_is_an_error(client):
    folder = pathlib.Path(tornado.__file__).with_name("test")
    if not folder.joinpath("test.crt").exists():
        pytest.skip("this Tornado comes without its tests")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "test.crt", folder / "test.key")

    error, server = fetch_from(client, answer(b"x"), scheme="https", ssl=context)

    assert (error.reason, error.is_passing) == ("tls", False)
    assert server.requests == []


def test_cancelled_fetch_leaves_nothing(client, caplog):
    server = FaultServer(answers())

    @gen.coroutine
    def main():
        fetcher = make_fetcher(CrawlConfig((server.url,), client=client))
        fetched = fetcher.fetch(Request(server.url))
        while not server.requests:
            yield gen.sleep(0.001)
        fetched.cancel()
        try:
            yield fetched
        except asyncio.CancelledError:
            return "cancelled"
        finally:
            fetcher.close()

    assert run_with(server, main) == "cancelled"
    errors = [r for r in caplog.records if r.levelname in ("ERROR", "CRITICAL")]
    # Tornado's curl client, if closed during an exchange, leaves a timer that finds it
    # closed.
    assert [r for r in errors if "_handle_timeout" not in r.getMessage()] == []
