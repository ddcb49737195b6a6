"""Decompression bombs: their size and memory are bounded."""

import asyncio
import gzip

import pytest

from crawler_app.httpclient import BadResponseError, ResponseTooLargeError
from gencoro import gen
from tests.helpers.http.faulty import Peer, answers, exchange, head
from tests.helpers.http.packing import PACK_BY_CODING, raw_deflate
from tests.helpers.http.peers import answer
from tests.helpers.memory import peak_below

BOMB_BYTES = 20_000_000

KINDS = [*PACK_BY_CODING, "raw deflate", "gzip, gzip"]


@pytest.fixture(scope="module", params=KINDS)
def bomb(request):
    """Return a response of zeros, compressed with each coding."""
    zeros = bytes(BOMB_BYTES)
    if request.param == "raw deflate":
        return answer(raw_deflate(zeros), Content_Encoding="deflate")
    if request.param == "gzip, gzip":
        packed = gzip.compress(gzip.compress(zeros))
    else:
        packed = PACK_BY_CODING[request.param](zeros)
    return answer(packed, Content_Encoding=request.param)


def bounded_memory():
    """Fail if more than a part of the bomb is in memory at a time."""
    return peak_below(6_000_000)


@gen.coroutine
def test_bomb_is_refused_within_bounded_memory(make_client, serve, bomb):
    client = make_client(max_body_size=1_000_000)
    server = serve(bomb)

    with bounded_memory(), pytest.raises(ResponseTooLargeError):
        yield client.fetch(server.url)


@gen.coroutine
def test_bomb_is_streamed_within_bounded_memory(client, serve, virtual_clock, bomb):
    sizes = []
    sizes_before = []

    @gen.coroutine
    def wait():
        yield gen.sleep(5)
        sizes_before.append(len(sizes))

    def take(chunk):
        sizes.append(len(chunk))
        return wait() if len(sizes) == 1 else None

    server = serve(bomb)

    with bounded_memory():
        yield client.fetch(server.url, streaming_callback=take, request_timeout=0)

    assert sizes_before == [1]
    assert sum(sizes) == BOMB_BYTES
    assert 0 < min(sizes) <= max(sizes) <= 65536


ZEROS = bytes(BOMB_BYTES)
GZIPPED = gzip.compress(ZEROS)

# The two ways to receive a body.
TAKEN = pytest.mark.parametrize(
    "options", [{}, {"streaming_callback": len}], ids=["kept", "streamed"]
)


@TAKEN
@gen.coroutine
def test_bomb_does_not_block_other_fetches(client, serve, web, options):
    server = serve(answer(GZIPPED, Content_Encoding="gzip"))
    yield client.fetch(web.url)  # the other has a connection, and needs no thread
    done = []
    bomb = client.fetch(server.url, **options)
    bomb.add_done_callback(lambda _: done.append("bomb"))
    yield server.came(1)
    other = client.fetch(web.url)
    other.add_done_callback(lambda _: done.append("other"))

    yield [bomb, other]

    assert done == ["other", "bomb"]


@gen.coroutine
def test_concurrent_bombs_are_decoded_one_at_a_time(make_client, serve):
    client = make_client(max_clients=10)
    server = serve(answer(GZIPPED, Content_Encoding="gzip"))
    sizes = []

    @gen.coroutine
    def fetch():
        sizes.append(len((yield client.fetch(server.url)).body))

    # One and the next, and the parts of the others that are decoded before their turn.
    with peak_below(2.5 * BOMB_BYTES):
        yield [fetch() for _ in range(10)]

    assert sizes == [BOMB_BYTES] * 10


FRAMES = {
    "length": head(b"Content-Encoding: gzip", b"Content-Length: %d" % len(GZIPPED))
    + GZIPPED,
    "chunked": head(b"Content-Encoding: gzip", b"Transfer-Encoding: chunked")
    + b"%x\r\n%b\r\n0\r\n\r\n" % (len(GZIPPED), GZIPPED),
    "until the end": head(b"Content-Encoding: gzip") + GZIPPED,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_large_body_is_kept_completely(frame):
    end = Peer.half_close if frame == "until the end" else None

    result = exchange(answers(FRAMES[frame], end=end))

    assert getattr(result.outcome, "body", result.outcome) == ZEROS
    assert result.outcome.encoded_body == GZIPPED
    assert result.was_reused == (end is None)


@TAKEN
@pytest.mark.parametrize(
    ("packed", "limit", "error"),
    [
        (GZIPPED[:-9], BOMB_BYTES, BadResponseError),
        (GZIPPED[:-4] + bytes(4), BOMB_BYTES, BadResponseError),
        (GZIPPED, BOMB_BYTES - 1, ResponseTooLargeError),
    ],
)
def test_fault_at_the_end_of_a_bomb_is_found(packed, limit, error, options):
    lines = [b"Content-Encoding: gzip", b"Content-Length: %d" % len(packed)]

    result = exchange(
        answers(head(*lines) + packed), client={"max_body_size": limit}, **options
    )

    assert type(result.outcome) is error, repr(result.outcome)
    assert not result.was_reused


@TAKEN
@pytest.mark.parametrize("turns", range(1, 40, 3))
@gen.coroutine
def test_bomb_may_be_cancelled_at_any_time(make_client, serve, web, turns, options):
    client = make_client(max_clients=1)
    server = serve(answer(GZIPPED, Content_Encoding="gzip"))
    bomb = client.fetch(server.url, raise_error=False, **options)

    for _ in range(turns):
        yield gen.moment
    bomb.cancel()
    response = yield client.fetch(web.url)

    assert response.body == b"hello"
    with pytest.raises(asyncio.CancelledError):
        yield bomb
