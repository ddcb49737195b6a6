"""Answers, streams and WebSockets used on another thread than their loop's.

The loop is in debug mode, in which asyncio refuses calls that are not safe on a thread.
"""

import asyncio
import functools
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.concurrent import Future
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream, StreamClosedError
from tornado.locks import Event
from tornado.template import DictLoader
from tornado.web import Application, RequestHandler
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import PATIENCE_S


@pytest.fixture
def site(loop, site):
    loop.asyncio_loop.set_debug(True)
    return site


class Threaded(RequestHandler):
    """Answers on a thread of an executor; the application's settings say how."""

    def get(self):
        self._auto_finish = False
        answering = self.settings["executor"].submit(self.settings["answer"], self)
        self.settings["answering"].append(answering)

    head = get


def _writes_and_finishes(handler):
    handler.write({"a": 1})
    handler.finish()


def _flushes_first(handler):
    handler.write("first ")
    handler.flush()
    handler.write("last")
    handler.finish()


def _goes_on_when_flushed(handler):
    handler.write("first ")
    handler.flush(callback=functools.partial(handler.finish, "last"))


def _writes_to_the_connection(handler):
    connection = handler.request.connection
    connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
    connection.write(b"raw")
    connection.finish()
    handler._finished = True


BIG = b"x" * 5_000_000

# What a thread does; the status and the body.
ANSWERS = {
    "finish": (_writes_and_finishes, 200, b'{"a": 1}'),
    "big": (lambda handler: handler.finish(BIG), 200, BIG),
    "flush": (_flushes_first, 200, b"first last"),
    "flush with callback": (_goes_on_when_flushed, 200, b"first last"),
    "redirect": (lambda handler: handler.redirect("/there"), 302, b""),
    "send_error": (
        lambda handler: handler.send_error(503, reason="Gone"),
        503,
        b"<html><title>503: Gone</title><body>503: Gone</body></html>",
    ),
    "render": (lambda handler: handler.render("page", name="a"), 200, b"Hello a"),
    "connection": (_writes_to_the_connection, 200, b"raw"),
}


@pytest.fixture
def executor():
    with ThreadPoolExecutor() as executor:
        yield executor


@pytest.fixture
def serve(site, executor):
    """Serve answers of a thread; return the Futures of its calls."""

    def serve(answer):
        answering = []
        loader = DictLoader({"page": "Hello {{ name }}"})
        settings = {"executor": executor, "answer": answer, "answering": answering}
        site.serve(Application([("/", Threaded)], template_loader=loader, **settings))
        return answering

    return serve


@uses(
    "tornado.http1connection.HTTP1Connection.close",
    "tornado.http1connection.HTTP1Connection.finish",
)
@pytest.mark.parametrize("name", ANSWERS)
def test_handler_answers_on_a_thread(site, serve, name):
    answer, code, body = ANSWERS[name]
    answering = serve(answer)

    response = site.fetch(follow_redirects=False)

    assert (response.code, response.body) == (code, body)
    assert [future.exception() for future in answering] == [None]


def test_connection_serves_the_next_request(site, serve):
    serve(_flushes_first)

    answers = site.send(
        b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )

    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.endswith(b"6\r\nfirst \r\n4\r\nlast\r\n0\r\n\r\n")


def test_second_finish_is_an_error_on_the_thread(site, serve):
    def answer(handler):
        handler.finish("done")
        handler.finish("again")

    answering = serve(answer)

    assert site.fetch().body == b"done"
    assert str(answering[0].exception()) == "finish() called twice"


def _finishes_too_early(handler):
    handler.set_header("Content-Length", "9")
    handler.finish("short")


@pytest.mark.parametrize(
    ("answer", "sent", "logged"),
    [
        (_finishes_too_early, b"short", "4 bytes less than Content-Length"),
        (lambda handler: handler.request.connection.close(), b"", ""),
    ],
)
def test_failing_answer_closes_the_connection(
    site, serve, caplog, answer, sent, logged
):
    serve(answer)

    response = site.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    assert response.rpartition(b"\r\n\r\n")[2] == sent
    assert logged in caplog.text


# Streams.


@pytest.fixture
def streams(loop):
    """Return both ends of a connection."""
    loop.asyncio_loop.set_debug(True)
    pair = [IOStream(sock, io_loop=loop) for sock in socket.socketpair()]
    yield pair
    for stream in pair:
        stream.close()


@pytest.fixture
def run(loop):
    """Run a coroutine function, which may call functions on a thread."""
    return lambda function: loop.run_sync(function, timeout=PATIENCE_S)


def on_a_thread(function, *args):
    """Call a function on a thread, while this loop runs."""
    return IOLoop.current().run_in_executor(None, function, *args)


def test_writes_and_close_of_a_thread_are_in_order(run, streams):
    ours, theirs = streams
    lines = [b"%d\n" % number for number in range(100)]

    def send():
        for line in lines:
            ours.write(line)
        ours.close()

    async def main():
        await on_a_thread(send)
        return await theirs.read_until_close()

    assert run(main) == b"".join(lines)


def test_write_of_a_thread_has_a_future_and_calls_back(run, streams):
    ours, theirs = streams
    threads = []

    async def main():
        called_back = Event()

        def call_back():
            threads.append(threading.current_thread())
            called_back.set()

        written = await on_a_thread(ours.write, BIG)
        reading = asyncio.ensure_future(theirs.read_bytes(len(BIG)))
        await written
        await on_a_thread(ours.write, b"last", call_back)
        await called_back.wait()
        return await reading

    assert run(main) == BIG
    assert threads == [threading.current_thread()]


def test_thread_learns_that_a_stream_is_closed(run, streams):
    ours, theirs = streams

    def close():
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            ours.close(exc_info=True)

    async def main():
        await on_a_thread(close)
        with pytest.raises(StreamClosedError):
            await theirs.read_bytes(1)
        assert isinstance(ours.error, ZeroDivisionError)
        with pytest.raises(StreamClosedError):
            await on_a_thread(ours.write, b"late")

    run(main)


# WebSockets.


class Feed(WebSocketHandler):
    """Tells the application about each of its connections."""

    def open(self):
        self.settings["opened"].set_result(self)

    def on_pong(self, data):
        self.write_message(data)

    def on_message(self, message):
        self.write_message(message.upper())


@uses(
    "tornado.websocket.WebSocketProtocol13.close",
    "tornado.websocket.WebSocketProtocol13.write_message",
    "tornado.websocket.WebSocketProtocol13.write_ping",
)
@pytest.mark.parametrize("options", [None, {}])
def test_web_socket_is_used_on_a_thread(site, options):
    class Compressing(Feed):
        def get_compression_options(self):
            return options

    opened = Future()
    site.serve(Application([("/", Compressing)], opened=opened))

    def feed(handler):
        handler.write_message("one")
        handler.write_message({"two": 2})
        handler.ping(b"three")

    def end(handler):
        handler.close(4000, "enough")
        with pytest.raises(WebSocketClosedError):
            handler.write_message("late")

    async def main():
        url = f"ws://127.0.0.1:{site.port}/"
        client = await websocket_connect(url, compression_options=options)
        handler = await opened
        await on_a_thread(feed, handler)
        messages = [await client.read_message() for _ in range(3)]
        await on_a_thread(client.write_message, "four")
        messages.append(await client.read_message())
        await on_a_thread(end, handler)
        assert await client.read_message() is None
        client.close()
        return *messages, client.close_code, client.close_reason

    seen = ("one", '{"two": 2}', "three", "FOUR", 4000, "enough")
    assert site.run(main) == seen
