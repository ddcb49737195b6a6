"""Callbacks that raise: fetch raises their errors unchanged.

Except those that a Future cannot hold, or would take as a cancellation.  `exchange` asserts the
rest: nothing hangs, nothing is left, and the client still works afterwards.
"""

import asyncio

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from gencoro import gen
from tests.helpers.http.faulty import GOOD, answers, exchange, says_nothing

ERROR_BY_RAISED = {
    ZeroDivisionError: ZeroDivisionError,
    StopIteration: RuntimeError,
    asyncio.CancelledError: HTTPStreamClosedError,
}
raised_by_callback = pytest.mark.parametrize("raised", ERROR_BY_RAISED)


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


@raised_by_callback
@pytest.mark.parametrize("way", WAYS)
def test_error_of_a_streaming_callback_is_raised(way, raised):
    result = exchange(answers(GOOD), streaming_callback=way(raised))

    assert isinstance(result.outcome, ERROR_BY_RAISED[raised]), repr(result.outcome)
    assert not result.was_reused


@raised_by_callback
def test_error_of_a_header_callback_is_raised(raised):
    result = exchange(answers(GOOD), header_callback=at_once(raised))

    assert isinstance(result.outcome, ERROR_BY_RAISED[raised]), repr(result.outcome)
    assert not result.was_reused


@raised_by_callback
@pytest.mark.parametrize("way", WAYS)
def test_error_of_a_body_producer_is_raised(way, raised):
    result = exchange(says_nothing, method="PUT", body_producer=way(raised))

    assert isinstance(result.outcome, ERROR_BY_RAISED[raised]), repr(result.outcome)
    assert not result.was_reused


@raised_by_callback
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
