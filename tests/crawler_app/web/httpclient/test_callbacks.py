"""header_callback and streaming_callback: arguments, order, back-pressure and errors."""

import asyncio
import itertools
import logging
import tracemalloc

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.faulty import GOOD, answers, exchange, says_nothing
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@gen.coroutine
def fetch_from(client, serve, said, **options):
    return (yield client.fetch(serve(said).url, **options))


@pytest.mark.parametrize("kind", ["coroutine", "native", "future"])
@gen.coroutine
def test_chunks_are_delivered_one_at_a_time(client, serve, kind):
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

    # Everything was delivered before the fetch ended, too.
    assert b"".join(chunks) == body
    assert len(chunks) > 3
    assert most_at_once == 1


@gen.coroutine
def test_slow_callback_stops_the_server(client, serve, virtual_clock):
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

    # The size of the kernel's buffers, and little more.
    assert 0 < sent_while_waiting < count * len(part) / 4
    assert taken == count * len(part)
    assert peak < 8_000_000


@pytest.mark.parametrize("returned", [5, "taken", False, [b"a"]])
@gen.coroutine
def test_other_values_of_a_streaming_callback_are_ignored(client, web, returned):
    chunks = []

    def take(chunk):
        chunks.append(chunk)
        return returned

    for _ in range(2):
        yield client.fetch(web.url, streaming_callback=take)

    assert chunks == [b"hello"] * 2
    assert web.used == [0, 0]


# A callback is done in the same turn of the loop in which its fetch is ended in another way.
# Pending calls must not end it a second time.


@pytest.fixture
def takes(serve):
    """Return a URL, and a callback with a Future that is done when it is called."""
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
    """Fail if any error is logged."""
    yield
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


SOME = CHUNKED + b"\r\n3\r\none\r\n"
BODIES = pytest.mark.parametrize("said", [HELLO, SOME], ids=["whole", "unfinished"])


@BODIES
@pytest.mark.parametrize("way", ["cancel", "close"])
@gen.coroutine
def test_callback_done_while_its_fetch_fails_ends_it_once(
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
def test_callback_done_at_the_timeout_ends_the_fetch_once(
    make_client, web, takes, nothing_went_wrong, virtual_clock, said, fails
):
    url, options, called, taken = takes(said)
    client = make_client(max_clients=1)

    def be_done():
        if fails:
            taken.set_exception(ZeroDivisionError("of the callback"))
        else:
            taken.set_result(None)

    # Timers that are due at the same time fire in the order of their creation.
    asyncio.get_running_loop().call_at(virtual_clock.time() + 5, be_done)
    future = client.fetch(url, request_timeout=5, **options)
    yield called

    with pytest.raises(HTTPTimeoutError):
        yield future
    response = yield client.fetch(web.url)

    assert virtual_clock.time() == 5
    assert response.body == b"hello"


# Callbacks that raise: fetch raises their errors unchanged, except those that a Future cannot hold
# or would take as a cancellation.  `exchange` asserts that nothing hangs and nothing is left.


ERROR_BY_RAISED = {
    ZeroDivisionError: ZeroDivisionError,
    StopIteration: RuntimeError,
    asyncio.CancelledError: HTTPStreamClosedError,
}


def at_once(raised):
    def callback(*_):
        raise raised

    return callback


def in_a_coroutine(raised):
    @gen.coroutine
    def callback(*_):
        yield gen.moment
        raise raised

    return callback


def in_a_native_coroutine(raised):
    async def callback(*_):
        await asyncio.sleep(0)
        raise raised

    return callback


def by_hand(raised):
    class Awaitable:
        def __await__(self):
            raise raised

    return lambda *_: Awaitable()


def in_a_done_future(raised):
    def callback(*_):
        future = asyncio.get_running_loop().create_future()
        if raised is asyncio.CancelledError:
            future.cancel()
        elif raised is StopIteration:
            future.set_exception(RuntimeError("no Future takes it"))
        else:
            future.set_exception(raised())
        return future

    return callback


WAYS = [at_once, in_a_coroutine, in_a_native_coroutine, by_hand, in_a_done_future]
FAILING = [
    ("header_callback", at_once),
    *itertools.product(["streaming_callback", "body_producer"], WAYS),
]


@pytest.mark.parametrize("raised", ERROR_BY_RAISED)
@pytest.mark.parametrize(("option", "way"), FAILING)
def test_error_of_a_callback_is_raised(option, way, raised):
    is_producer = option == "body_producer"
    result = exchange(
        says_nothing if is_producer else answers(GOOD),
        method="PUT" if is_producer else "GET",
        **{option: way(raised)},
    )

    assert isinstance(result.outcome, ERROR_BY_RAISED[raised]), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("raised", ERROR_BY_RAISED)
def test_error_of_an_address_check_is_raised(raised):
    asked = []

    def check(host, address):
        asked.append(address)
        if len(asked) == 1:
            raise raised

    result = exchange(answers(GOOD), client={"check_address": check})

    assert isinstance(result.outcome, ERROR_BY_RAISED[raised]), repr(result.outcome)
    assert len(asked) == 2


def test_interrupt_in_a_callback_ends_the_fetch_and_the_loop(io_loop, client, web):
    def interrupt(_):
        raise KeyboardInterrupt

    fetch = client.fetch(web.url, streaming_callback=interrupt)

    with pytest.raises(KeyboardInterrupt):
        io_loop.start()
    assert isinstance(fetch.exception(), KeyboardInterrupt)
    io_loop.run_sync(lambda: client.fetch(web.url))
    assert web.used == [0, 1]
