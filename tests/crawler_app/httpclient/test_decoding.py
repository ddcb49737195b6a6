"""Bodies that are small until they are unpacked: their size and memory are bounded."""

import gzip

import pytest

from crawler_app.httpclient import ResponseTooLargeError
from gencoro import gen
from tests.helpers.http.packing import PACK_BY_CODING, raw_deflate
from tests.helpers.http.peers import answer
from tests.helpers.memory import peak_below

BOMB_BYTES = 20_000_000

KINDS = [*PACK_BY_CODING, "raw deflate", "gzip, gzip"]


@pytest.fixture(scope="module", params=KINDS)
def bomb(request):
    """Return an answer of zeros, packed by each coding."""
    zeros = bytes(BOMB_BYTES)
    if request.param == "raw deflate":
        return answer(raw_deflate(zeros), Content_Encoding="deflate")
    if request.param == "gzip, gzip":
        packed = gzip.compress(gzip.compress(zeros))
    else:
        packed = PACK_BY_CODING[request.param](zeros)
    return answer(packed, Content_Encoding=request.param)


def bounded_memory():
    """Fail where more than a part of the bomb is held at a time."""
    return peak_below(6_000_000)


@gen.coroutine
def test_bomb_is_given_up_within_bounded_memory(make_client, serve, bomb):
    client = make_client(max_body_size=1_000_000)
    server = serve(bomb)

    with bounded_memory(), pytest.raises(ResponseTooLargeError):
        yield client.fetch(server.url)


@gen.coroutine
def test_bomb_is_streamed_within_bounded_memory(client, serve, bomb):
    sizes = []
    server = serve(bomb)

    with bounded_memory():
        yield client.fetch(
            server.url, streaming_callback=lambda chunk: sizes.append(len(chunk))
        )

    assert sum(sizes) == BOMB_BYTES
    assert 0 < min(sizes) <= max(sizes) <= 65536


@gen.coroutine
def test_bomb_waits_for_a_slow_taker(client, serve, virtual_clock, bomb):
    sizes = []
    sizes_before = []

    @gen.coroutine
    def take(chunk):
        sizes.append(len(chunk))
        if len(sizes) == 1:
            yield gen.sleep(5)
            sizes_before.append(len(sizes))

    server = serve(bomb)

    yield client.fetch(server.url, streaming_callback=take, request_timeout=0)

    assert sizes_before == [1]
    assert sum(sizes) == BOMB_BYTES


@gen.coroutine
def test_bomb_lets_others_have_their_turn(client, serve, web):
    server = serve(answer(gzip.compress(bytes(BOMB_BYTES)), Content_Encoding="gzip"))
    done = []
    bomb = client.fetch(server.url, streaming_callback=lambda chunk: None)
    bomb.add_done_callback(lambda _: done.append("bomb"))
    yield server.came(1)
    other = client.fetch(web.url)
    other.add_done_callback(lambda _: done.append("other"))

    yield [bomb, other]

    assert done == ["other", "bomb"]
