"""Content codings: undone as browsers do, and within the limits."""

import gzip
import importlib.util
import tracemalloc
import zlib

import pytest

from crawler_app.httpclient import ResponseTooLargeError
from gencoro import gen
from tests.helpers.http.peers import answer

PLAIN = b"<p>" + bytes(range(256)) * 500 + b"</p>"


def deflate(data, wbits=15):
    packer = zlib.compressobj(wbits=wbits)
    return packer.compress(data) + packer.flush()


def brotli(data):
    return pytest.importorskip("brotli").compress(data)


def zstd(data):
    try:
        from compression import zstd as module
    except ImportError:
        module = pytest.importorskip("backports.zstd")
    return module.compress(data)


BOMB_BYTES = 20_000_000

PACKERS = {
    "gzip": gzip.compress,
    "zlib": deflate,
    "raw_deflate": lambda data: deflate(data, -15),
    "br": brotli,
    "zstd": zstd,
}
NAMES = {"zlib": "deflate", "raw_deflate": "deflate"}

all_codings = pytest.mark.parametrize("coding", PACKERS)


def packed(coding, data):
    return PACKERS[coding](data), NAMES.get(coding, coding)


@all_codings
@gen.coroutine
def test_coding_is_undone_while_it_is_streamed(client, serve, coding):
    body, name = packed(coding, PLAIN)
    chunks = []

    @gen.coroutine
    def script(request):
        yield request.stream.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(body)
            + f"Content-Encoding: {name}\r\n\r\n".encode()
        )
        # Cut anywhere, even within the header of the coding.
        for n in range(0, len(body), 7):
            yield request.stream.write(body[n : n + 7])

    server = serve(script)

    response = yield client.fetch(server.url, streaming_callback=chunks.append)

    assert b"".join(chunks) == PLAIN
    assert b"" not in chunks
    assert (response.body, response.encoded_body) == (b"", None)


@gen.coroutine
def test_gzip_members_are_put_together(client, serve):
    members = [gzip.compress(part) for part in (b"one", b"", PLAIN, b"three")]
    server = serve(answer(b"".join(members), Content_Encoding="gzip"))

    response = yield client.fetch(server.url)

    assert response.body == b"one" + PLAIN + b"three"


# Limits.


@pytest.fixture(scope="module")
def bombs():
    """Return zeros, packed by each coding."""
    zeros = bytes(BOMB_BYTES)
    made = {}
    for coding in PACKERS:
        if coding in ("br", "zstd") and not importlib.util.find_spec(
            {"br": "brotli", "zstd": "backports.zstd"}[coding]
        ):
            continue
        made[coding] = packed(coding, zeros)
    made["twice"] = gzip.compress(made["gzip"][0]), "gzip, gzip"
    return made


bomb_kinds = pytest.mark.parametrize("kind", [*PACKERS, "twice"])


@bomb_kinds
@gen.coroutine
def test_bomb_is_given_up_within_bounded_memory(make_client, serve, bombs, kind):
    if kind not in bombs:
        pytest.skip("its package is missing")
    body, name = bombs[kind]
    server = serve(answer(body, Content_Encoding=name))
    client = make_client(max_body_size=1_000_000)

    tracemalloc.start()
    try:
        with pytest.raises(ResponseTooLargeError):
            yield client.fetch(server.url)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 6_000_000


@bomb_kinds
@gen.coroutine
def test_bomb_is_streamed_within_bounded_memory(client, serve, bombs, kind):
    if kind not in bombs:
        pytest.skip("its package is missing")
    body, name = bombs[kind]
    server = serve(answer(body, Content_Encoding=name))
    sizes = []

    tracemalloc.start()
    try:
        yield client.fetch(
            server.url, streaming_callback=lambda chunk: sizes.append(len(chunk))
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert sum(sizes) == BOMB_BYTES
    assert max(sizes) <= 65536
    assert peak < 6_000_000


@bomb_kinds
@gen.coroutine
def test_bomb_waits_for_a_slow_taker(client, serve, virtual_clock, bombs, kind):
    if kind not in bombs:
        pytest.skip("its package is missing")
    body, name = bombs[kind]
    server = serve(answer(body, Content_Encoding=name))
    sizes = []

    @gen.coroutine
    def take(chunk):
        sizes.append(len(chunk))
        if len(sizes) == 1:
            yield gen.sleep(5)
            sizes_before.append(len(sizes))

    sizes_before = []

    yield client.fetch(server.url, streaming_callback=take, request_timeout=0)

    assert sizes_before == [1]
    assert sum(sizes) == BOMB_BYTES


@gen.coroutine
def test_bomb_lets_others_have_their_turn(client, serve, web, bombs):
    body, name = bombs["gzip"]
    server = serve(answer(body, Content_Encoding=name))
    done = []
    bomb = client.fetch(server.url, streaming_callback=lambda chunk: None)
    bomb.add_done_callback(lambda _: done.append("bomb"))
    yield server.came(1)
    other = client.fetch(web.url)
    other.add_done_callback(lambda _: done.append("other"))

    yield [bomb, other]

    assert done == ["other", "bomb"]
