"""Tornado in virtual time, on a loop created through asyncio."""

import asyncio
import contextlib
import datetime
import socket
import time

import pytest
import tornado.gen
import tornado.ioloop
import tornado.locks
import tornado.netutil
import tornado.queues
from tornado.httpclient import HTTPClientError
from tornado.httpserver import HTTPServer
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.tcpclient import TCPClient
from tornado.testing import bind_unused_port

import gencoro.ioloop
from gencoro import gen
from gencoro.virtual_clock import VirtualClock

LIMIT_S = 2.5


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def run(clock):
    """Run an asynchronous function on the clock; return the time at which it ends."""

    def run(function, *args):
        async def main():
            await asyncio.sleep(0.125)
            await function(*args)
            return clock.time() - 0.125

        with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
            return runner.run(main())

    return run


def _now():
    return tornado.ioloop.IOLoop.current().time()


@pytest.mark.parametrize(
    "classes", [tornado.ioloop, gencoro.ioloop], ids=["tornado", "gencoro"]
)
def test_periodic_callback_is_virtual(clock, run, classes):
    ticks = []

    async def tick_for_a_while():
        periodic = classes.PeriodicCallback(lambda: ticks.append(clock.time()), 2000)
        periodic.start()
        await clock.advance(10)
        periodic.stop()

    run(tick_for_a_while)

    assert ticks == [2.125, 4.125, 6.125, 8.125, 10.125]


async def _with_timeout(limit):
    await tornado.gen.with_timeout(limit, asyncio.Future())


async def _gencoros_with_timeout(limit):
    await gen.with_timeout(limit, asyncio.Future())


async def _get(limit):
    await tornado.queues.Queue().get(timeout=limit)


async def _put(limit):
    queue = tornado.queues.Queue(maxsize=1)
    await queue.put(1)
    await queue.put(2, timeout=limit)


async def _join(limit):
    queue = tornado.queues.Queue()
    await queue.put(1)
    await queue.join(timeout=limit)


async def _wait_for_event(limit):
    await tornado.locks.Event().wait(timeout=limit)


async def _wait_for_condition(limit):
    if not await tornado.locks.Condition().wait(timeout=limit):
        raise TimeoutError


async def _acquire(limit):
    lock = tornado.locks.Lock()
    async with lock:
        await lock.acquire(timeout=limit)


@pytest.mark.parametrize(
    "wait",
    [
        _with_timeout,
        _gencoros_with_timeout,
        _get,
        _put,
        _join,
        _wait_for_event,
        _wait_for_condition,
        _acquire,
    ],
)
@pytest.mark.parametrize("is_deadline", [True, False], ids=["number", "timedelta"])
def test_time_limit_is_virtual(run, wait, is_deadline):
    async def time_out():
        as_number = _now() + LIMIT_S
        limit = as_number if is_deadline else datetime.timedelta(seconds=LIMIT_S)
        with pytest.raises(TimeoutError):
            await wait(limit)

    assert run(time_out) == LIMIT_S


async def _client_of_a_silent_resolver():
    class Resolver(tornado.netutil.Resolver):
        def resolve(self, *_args, **_kwargs):
            return asyncio.Future()

    with pytest.raises(TimeoutError):
        await TCPClient(Resolver()).connect("a.test", 80, timeout=LIMIT_S)


async def _client_of_a_silent_server():
    client = SimpleAsyncHTTPClient(force_instance=True)
    with contextlib.closing(client), socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(HTTPClientError, match="Timeout during request"):
            await client.fetch(url, request_timeout=LIMIT_S)


async def _server_of_a_silent_client():
    server = HTTPServer(lambda _request: None, idle_connection_timeout=LIMIT_S)
    listening, port = bind_unused_port()
    server.add_socket(listening)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await reader.read() == b""
    writer.close()
    server.stop()


@pytest.mark.parametrize(
    "talk",
    [
        _client_of_a_silent_resolver,
        _client_of_a_silent_server,
        _server_of_a_silent_client,
    ],
)
def test_time_limit_on_a_connection_is_virtual(run, talk):
    assert run(talk) == LIMIT_S


def test_loop_in_real_time_keeps_its_clock(clock):
    async def time_of_the_loop():
        return _now()

    clock.new_event_loop().close()
    before = time.time()

    assert before <= asyncio.run(time_of_the_loop()) <= time.time()
