"""header_callback and streaming_callback: what they get, and when."""

import asyncio
import logging
import tracemalloc

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@gen.coroutine
def fetch_from(client, serve, said, **options):
    return (yield client.fetch(serve(said).url, **options))


@pytest.mark.parametrize("kind", ["coroutine", "native", "future"])
@gen.coroutine
def test_chunks_are_delivered_one_after_the_other(client, serve, kind):
    at_once = most_at_once = 0
    chunks = []

    @gen.coroutine
    def take(chunk):
        nonlocal at_once, most_at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        yield gen.moment
        chunks.append(chunk)
        at_once -= 1

    async def take_natively(chunk):
        await take(chunk)

    callback = {
        "coroutine": take,
        "native": take_natively,
        "future": lambda chunk: asyncio.ensure_future(take_natively(chunk)),
    }[kind]
    body = bytes(range(256)) * 4000

    yield fetch_from(client, serve, answer(body), streaming_callback=callback)

    # All was taken before the fetch was over, too.
    assert b"".join(chunks) == body
    assert len(chunks) > 3
    assert most_at_once == 1


@gen.coroutine
def test_server_has_to_wait_for_a_slow_taker(client, serve, virtual_clock):
    part, count = b"x" * 65536, 800
    sent = 0
    taken = 0
    gate = asyncio.Event()

    @gen.coroutine
    def script(request):
        nonlocal sent
        total = str(len(part) * count)
        yield request.stream.write(answer(Content_Length=total))
        for _ in range(count):
            yield request.stream.write(part)
            sent += len(part)

    async def take(chunk):
        nonlocal taken
        await gate.wait()
        taken += len(chunk)

    tracemalloc.start()
    try:
        future = fetch_from(
            client, serve, script, streaming_callback=take, request_timeout=0
        )
        yield virtual_clock.advance(10)
        sent_while_waiting = sent
        gate.set()
        yield future
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    # What the buffers of the kernel hold, and little more.
    assert 0 < sent_while_waiting < count * len(part) / 4
    assert taken == count * len(part)
    assert peak < 8_000_000


@pytest.mark.parametrize("returned", [5, "taken", False, [b"a"]])
@gen.coroutine
def test_what_a_streaming_callback_returns_is_no_matter(client, web, returned):
    chunks = []

    def take(chunk):
        chunks.append(chunk)
        return returned

    for _ in range(2):
        yield client.fetch(web.url, streaming_callback=take)

    assert chunks == [b"hello"] * 2
    assert web.used == [0, 0]


# A callback is done in the very turn in which its fetch is ended otherwise.  What is on
# its way then must not end it once more.


@pytest.fixture
def takes(serve):
    """Return a URL, and a callback whose Future tells that, and when, it was called."""
    called = asyncio.Future()
    taken = asyncio.Future()

    def take(chunk):
        called.set_result(True)
        return taken

    def start(said):
        return serve(said).url, {"streaming_callback": take}, called, taken

    return start


@pytest.fixture
def nothing_went_wrong(caplog):
    """Fail where an error is logged, by whomever."""
    yield
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


SOME = CHUNKED + b"\r\n3\r\none\r\n"
BODIES = pytest.mark.parametrize("said", [HELLO, SOME], ids=["whole", "unfinished"])


@BODIES
@pytest.mark.parametrize("way", ["cancel", "close"])
@gen.coroutine
def test_callback_that_is_done_as_its_fetch_is_ended_ends_it_once(
    make_client, web, takes, nothing_went_wrong, said, way
):
    url, options, called, taken = takes(said)
    client = make_client(max_clients=1)
    future = client.fetch(url, **options)
    yield called

    taken.set_result(None)
    if way == "cancel":
        future.cancel()
        response = yield client.fetch(web.url)
        assert future.cancelled()
        assert response.body == b"hello"
    else:
        client.close()
        with pytest.raises(HTTPStreamClosedError, match="the client was closed"):
            yield future
    yield gen.moment


@BODIES
@pytest.mark.parametrize("fails", [False, True])
@gen.coroutine
def test_callback_that_is_done_as_time_is_over_ends_it_once(
    make_client, web, takes, nothing_went_wrong, virtual_clock, said, fails
):
    url, options, called, taken = takes(said)
    client = make_client(max_clients=1)

    def be_done():
        if fails:
            taken.set_exception(ZeroDivisionError("of the callback"))
        else:
            taken.set_result(None)

    # Timers of one moment fire in the order of their making.
    asyncio.get_running_loop().call_at(virtual_clock.time() + 5, be_done)
    future = client.fetch(url, request_timeout=5, **options)
    yield called

    with pytest.raises(HTTPTimeoutError):
        yield future
    response = yield client.fetch(web.url)

    assert virtual_clock.time() == 5
    assert response.body == b"hello"
