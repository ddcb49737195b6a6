"""The loop as programs of Tornado 2 to 4 see it: its private attributes, threads, tasks."""

import asyncio
import contextlib
import socket
import threading
import unittest.mock

import pytest

import gencoro.ioloop
from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import PATIENCE_S, called_back


@uses(
    "tornado.ioloop.IOLoop._callbacks",
    "tornado.ioloop.IOLoop._timeouts",
    "tornado.ioloop.IOLoop._cancellations",
    "tornado.ioloop.IOLoop._running",
    "tornado.ioloop.IOLoop._stopped",
    "tornado.ioloop.IOLoop._thread_ident",
)
def test_loop_ends_when_it_has_nothing_left_to_do(loop):
    """The recipe for shutting down a server."""
    seen = []

    def stop_when_idle():
        if loop._callbacks or loop._timeouts:
            seen.append((len(loop._callbacks), len(loop._timeouts)))
            loop.add_callback(stop_when_idle)
        else:
            loop.stop()
            seen.append((loop._running, loop._stopped, loop._thread_ident))

    loop.remove_timeout(loop.call_later(3600, seen.append))
    assert (loop._cancellations, loop._timeouts) == (1, [])
    loop.call_later(0.01, lambda: seen.append(loop._running))
    loop.add_callback(stop_when_idle)
    loop.add_callback(lambda: None)
    assert not loop._running
    loop.start()

    assert sum(seen[0]) >= 2
    assert seen[-2:] == [True, (False, True, threading.get_ident())]
    assert not (loop._running or loop._stopped)


@uses(
    "tornado.ioloop.IOLoop._blocking_signal_threshold",
    "tornado.ioloop.IOLoop._closing",
    "tornado.ioloop.IOLoop._events",
    "tornado.ioloop.IOLoop._handlers",
    "tornado.ioloop.IOLoop._impl",
    "tornado.ioloop.IOLoop._waker",
    "tornado.ioloop.IOLoop.time_func",
)
def test_private_attributes(loop, other_loop):
    left, right = socket.socketpair()
    with left, right:
        loop.add_handler(left, print, loop.READ)
        assert loop._handlers == {left.fileno(): (left, print)}
        loop.remove_handler(left)
    assert (loop._handlers, loop._events) == ({}, {})
    assert abs(loop.time_func() - loop.time()) < 60
    assert loop._blocking_signal_threshold is None
    loop.set_blocking_log_threshold(3.0)
    assert loop._blocking_signal_threshold == 3.0
    loop.set_blocking_log_threshold(None)
    assert not hasattr(loop, "_impl")
    loop._waker.wake()
    assert not other_loop._closing
    other_loop.close()
    assert other_loop._closing


def test_stop_is_taken_back(loop):
    loop.stop()
    loop._stopped = False

    assert loop.run_sync(lambda: asyncio.sleep(0, 42)) == 42

    loop._stopped = True
    loop.start()  # returns


def test_loop_runs_inside_another(loop):
    from tornado import gen, ioloop

    other_loop = ioloop.IOLoop(make_current=False)

    @gen.coroutine
    def load():
        yield gen.sleep(0.001)
        assert ioloop.IOLoop.current() is other_loop
        return 42

    def blocking(answer):
        value = other_loop.run_sync(load)
        assert ioloop.IOLoop.instance() is loop
        with pytest.raises(RuntimeError, match="running event loop"):
            loop.run_sync(load)
        answer(value)

    assert called_back(loop, lambda answer: loop.add_callback(blocking, answer)) == 42
    other_loop.close()
    assert gencoro.ioloop.program_loop() is loop


@uses("tornado.platform.asyncio.BaseAsyncIOLoop.call_at")
def test_thread_uses_the_programs_loop(loop):
    from concurrent.futures import ThreadPoolExecutor

    from tornado import concurrent, gen, ioloop

    loop.asyncio_loop.set_debug(
        True
    )  # asyncio then refuses what is not safe on a thread
    seen = []

    @gen.coroutine
    def count(to):
        for _ in range(to):
            yield gen.moment
            yield gen.sleep(0.001)
        raise gen.Return((to, threading.current_thread()))

    @gen.engine
    def engine(callback):
        callback((yield gen.Task(ioloop.IOLoop.current().add_callback)))

    def work(answer):
        assert ioloop.IOLoop.current() is loop
        assert ioloop.IOLoop.current(instance=False) is None
        loop.remove_timeout(loop.call_later(3600, seen.append, "removed"))
        assert count(0).result() == (0, threading.current_thread())
        engine(lambda value: count(3).add_done_callback(answer))
        assert gen.sleep(0).get_loop() is loop.asyncio_loop
        with pytest.raises(RuntimeError):
            asyncio.get_event_loop()

    with ThreadPoolExecutor(1) as pool:

        @gen.coroutine
        def main():
            counted = concurrent.Future()
            yield pool.submit(work, counted.set_result)
            raise gen.Return((yield counted))

        counted = loop.run_sync(main, timeout=PATIENCE_S)

    assert counted.result() == (3, threading.current_thread())
    assert seen == []


@pytest.mark.parametrize("has_handler", [False, True])
def test_main_loop_is_installed_after_the_first_use_of_a_loop(compat, has_handler):
    from tornado.ioloop import IOLoop
    from tornado.platform.asyncio import AsyncIOMainLoop

    asyncio.set_event_loop(asyncio.new_event_loop())
    first = IOLoop.current()
    left, right = socket.socketpair()
    with left, right, contextlib.closing(first):
        if has_handler:
            first.add_handler(left, print, IOLoop.READ)
            with pytest.raises(RuntimeError, match="already associated"):
                AsyncIOMainLoop()
        else:
            AsyncIOMainLoop().install()
            assert IOLoop.current() is not first
            assert IOLoop.current().run_sync(lambda: asyncio.sleep(0, 42)) == 42
    IOLoop.clear_instance()
    asyncio.set_event_loop(None)


def test_mock_takes_the_place_of_a_loop(loop):
    from tornado.httpclient import AsyncHTTPClient
    from tornado.ioloop import PeriodicCallback

    mock = unittest.mock.create_autospec(loop)
    mock.time.return_value = 1

    PeriodicCallback(print, 100, io_loop=mock).start()

    assert mock.add_timeout.called
    assert AsyncHTTPClient(io_loop=mock).io_loop is mock
    assert AsyncHTTPClient().io_loop is loop


@pytest.mark.parametrize("is_debug", [False, True])
def test_coroutine_is_the_current_task(loop, is_debug):
    from tornado import gen

    loop.asyncio_loop.set_debug(is_debug)

    async def native():
        return asyncio.current_task()

    @gen.coroutine
    def child():
        task = asyncio.current_task()
        yield gen.sleep(0)
        assert asyncio.current_task() is task
        return task

    @gen.coroutine
    def main():
        task = asyncio.current_task()
        other = yield child()
        assert asyncio.current_task() is task is not other
        assert type((yield native())) is asyncio.Task
        assert task.get_name().endswith("main") and task.get_coro().gi_running
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            yield gen.sleep(3600)
        assert (task.cancelling(), task.uncancel(), task.uncancel()) == (1, 0, 0)
        assert not task.done()

    @gen.coroutine
    def cancelled_at_once():
        asyncio.current_task().cancel()
        yield gen.sleep(3600)

    loop.run_sync(main)
    with pytest.raises(asyncio.CancelledError):
        loop.run_sync(cancelled_at_once)
    assert loop.run_sync(lambda: asyncio.sleep(0, 42)) == 42


@pytest.mark.parametrize("end", ["close", "end of the script"])
def test_end_of_a_loop_does_not_log_requests_that_wait(compat, caplog, end):
    from tornado import gen, httpserver, ioloop, locks, testing, web

    begun = []

    class Page(web.RequestHandler):
        @gen.coroutine
        def get(self):
            begun.append(self)
            yield locks.Event().wait()

    @gen.coroutine
    def until_it_waits():
        while not begun:
            yield gen.sleep(0.001)

    loop = ioloop.IOLoop(make_current=False)
    loop.make_current()
    listening, port = testing.bind_unused_port()
    httpserver.HTTPServer(web.Application([("/", Page)])).add_socket(listening)
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        loop.run_sync(until_it_waits, timeout=20)
        if end != "close":
            gencoro.ioloop._finish_at_exit()
        loop.close(all_fds=True)

    assert len(begun) == 1
    assert caplog.text == ""
