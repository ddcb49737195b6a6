"""tornado.websocket as code of Tornado 2 to 5 uses it: servers and clients."""

import logging
import sys

import pytest
import tornado.websocket
from tornado import gen, web
from tornado.httpclient import AsyncHTTPClient, HTTPError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.locks import Event
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketHandler,
    WebSocketProtocol13,
    websocket_connect,
)

from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import PATIENCE_S


class EchoHandler(WebSocketHandler):
    """Echoes; tells in the application's settings what happens to it."""

    def tell(self, what):
        self.settings["told"].append(what)

    def on_message(self, message):
        self.write_message(message)

    def on_close(self):
        self.settings["closed"].set()


class LegacyGetHandler(EchoHandler):
    def get(self, *args, **kwargs):
        if self.get_argument("refuse", None):
            self.set_status(401)
            self.finish()
            return
        super().get(*args, **kwargs)

    def check_origin(self, origin):
        raise ValueError(f"bad origin {origin}")


class AsynchronousGetHandler(LegacyGetHandler):
    def get(self, *args, **kwargs):
        return web.asynchronous(LegacyGetHandler.get)(self, *args, **kwargs)


class ModernGetHandler(EchoHandler):
    async def get(self, *args, **kwargs):
        await super().get(*args, **kwargs)


class ReturningGetHandler(EchoHandler):
    def get(self, *args, **kwargs):
        return super().get(*args, **kwargs)


class StreamHandler(EchoHandler):
    def prepare(self):
        self.tell(self.stream)
        self.tell(self.client_terminated)

    def open(self):
        self.tell(self.stream is self.ws_connection.stream)
        self.tell(self.client_terminated)

    def on_close(self):
        self.tell(self.stream.closed())
        self.tell(self.client_terminated)
        super().on_close()


class NoStream:
    stream = None


class HiddenStreamHandler(NoStream, StreamHandler):
    pass


class OwnStreamMethodHandler(EchoHandler):
    def stream(self):
        self.tell("mine")

    def open(self):
        self.send_error()

    def on_close(self):
        self.stream()
        super().on_close()


class OwnStreamHandler(EchoHandler):
    def initialize(self):
        self.stream = "mine"

    def open(self):
        self.tell(self.stream)
        self.send_error()


class AsyncCallbackHandler(EchoHandler):
    def open(self):
        def fail(first, second):
            raise ZeroDivisionError(f"{first} {second}")

        callback = self.async_callback(fail, "bound")
        IOLoop.current().add_callback(callback, second="given")

    def on_message(self, message):
        self.ws_connection.async_callback(self.divide)(message)

    def divide(self, message):
        self.write_message(str(1 / int(message)))


class ProtocolCallbackHandler(AsyncCallbackHandler):
    def open(self):
        pass


class SchemeHandler(EchoHandler):
    def open(self):
        self.write_message(f"{self.get_websocket_scheme()} {self.allow_draft76()}")


class SendErrorHandler(EchoHandler):
    def prepare(self):
        if self.get_argument("early", None):
            self.send_error(403)

    def open(self):
        self.send_error(500)


class LegacyProtocolHandler(EchoHandler):
    def get_websocket_protocol(self):
        options = self.get_compression_options()
        return WebSocketProtocol13(self, compression_options=options)

    def get_compression_options(self):
        return {"compression_level": 1}


class LegacyMethodsHandler(EchoHandler):
    def open(self):
        render = tornado.websocket._wrap_method(type(self).render)
        try:
            render(self, "page.html")
        except RuntimeError as exc:
            self.write_message(str(exc))


class NoLimitHandler(EchoHandler):
    max_message_size = None


@pytest.fixture
def told():
    return []


@pytest.fixture
def closed(loop):
    return Event()


@pytest.fixture
def app(compat, told, closed):
    handlers = [
        ("/echo", EchoHandler),
        ("/get/legacy", LegacyGetHandler),
        ("/get/asynchronous", AsynchronousGetHandler),
        ("/get/modern", ModernGetHandler),
        ("/get/returning", ReturningGetHandler),
        ("/stream", StreamHandler),
        ("/stream/hidden", HiddenStreamHandler),
        ("/stream/own", OwnStreamHandler),
        ("/stream/method", OwnStreamMethodHandler),
        ("/callback", AsyncCallbackHandler),
        ("/callback/protocol", ProtocolCallbackHandler),
        ("/scheme", SchemeHandler),
        ("/error", SendErrorHandler),
        ("/protocol", LegacyProtocolHandler),
        ("/methods", LegacyMethodsHandler),
        ("/limit", NoLimitHandler),
    ]
    return web.Application(handlers, told=told, closed=closed)


@pytest.fixture
def url(http_server, http_port):
    return f"ws://127.0.0.1:{http_port}"


@pytest.fixture
def run(loop):
    """Return what runs a coroutine function on the test's loop."""
    return lambda function: loop.run_sync(function, timeout=PATIENCE_S)


@pytest.fixture
def ask(run, url, closed):
    """Return what sends messages, reads one, and waits until all is closed."""

    def ask(path, *messages, **options):
        async def main():
            connection = await websocket_connect(url + path, **options)
            answer = await read(connection, *messages)
            await closed.wait()
            return answer

        return run(main)

    return ask


async def read(connection, *sent):
    """Send messages, read one, and close."""
    for message in sent:
        connection.write_message(message)
    answer = await connection.read_message()
    connection.close()
    return answer


# The client.


@uses("tornado.websocket.websocket_connect")
@pytest.mark.parametrize(
    ("places", "names"),
    [
        pytest.param(("loop", "callback"), {}, id="by position"),
        pytest.param((None, "callback"), {}, id="no loop, by position"),
        pytest.param(("loop",), {"callback": "callback"}, id="callback by name"),
        pytest.param((), {"io_loop": "loop", "callback": "callback"}, id="by name"),
        pytest.param((), {"io_loop": None, "callback": "callback"}, id="None by name"),
        pytest.param(("loop", "callback", 5.0), {}, id="with a time-out"),
        pytest.param((None, "callback", 5.0, None, None), {}, id="and more"),
        pytest.param(("callback",), {}, id="today's"),
        pytest.param((), {"callback": "callback"}, id="today's, by name"),
    ],
)
def test_connect_calls_back_with_the_future(loop, run, url, closed, places, names):
    called = gen.Future()
    known = {"loop": loop, "callback": called.set_result, None: None}
    args = [known.get(place, place) for place in places]
    kwargs = {name: known[value] for name, value in names.items()}

    async def main():
        returned = tornado.websocket.websocket_connect(f"{url}/echo", *args, **kwargs)
        future = await called
        assert future is returned
        return await read(future.result(), "hello")

    assert run(main) == "hello"


@pytest.mark.parametrize(
    "args", [(), (None, 5.0), (None, None, None, {}), (None, None, None, None, 3600)]
)
def test_connect_with_todays_arguments(run, url, args):
    async def main():
        connection = await tornado.websocket.websocket_connect(f"{url}/echo", *args)
        return await read(connection, "hello")

    assert run(main) == "hello"


def test_connect_with_callback_for_messages_in_its_place_of_once(run, url):
    messages = gen.Future()

    async def main():
        places = (None, None, None, messages.set_result)
        connection = await tornado.websocket.websocket_connect(f"{url}/echo", *places)
        connection.write_message("hello")
        answer = await messages
        connection._on_message_callback = lambda message: None
        connection.close()
        return answer

    assert run(main) == "hello"


def test_connect_before_the_loop_runs(loop, http_server, url):
    answers = []

    @gen.engine
    def go_on(future):
        connection = future.result()
        connection.write_message("hello")
        answers.append((yield connection.read_message()))
        connection.close()
        loop.stop()

    websocket = tornado.websocket
    websocket.websocket_connect(f"{url}/echo", loop, go_on, 5.0)
    loop.start()

    assert answers == ["hello"]


def test_no_limit_is_the_usual_one(ask):
    assert ask("/limit", "hello", max_message_size=None) == "hello"


def test_failure_to_connect_is_in_the_future(loop, run, url):
    async def main():
        called = gen.Future()
        tornado.websocket.websocket_connect(f"{url}/no", loop, called.set_result)
        (await called).result()

    with pytest.raises(HTTPError) as caught:
        run(main)
    assert caught.value.code == 404


@uses("tornado.websocket.WebSocketClientConnection.__init__")
@pytest.mark.parametrize("is_legacy", [True, False])
def test_connection_is_made_on_a_loop(loop, run, url, is_legacy):
    async def main():
        request = HTTPRequest(f"{url}/echo", connect_timeout=5.0, request_timeout=5.0)
        args = (loop, request) if is_legacy else (request,)
        connection = WebSocketClientConnection(*args)
        assert connection.io_loop is loop
        return await read(await connection.connect_future, "hello")

    assert run(main) == "hello"


# The handler.


@uses("tornado.websocket.WebSocketHandler.get")
@pytest.mark.parametrize("kind", ["legacy", "asynchronous", "modern", "returning"])
def test_get_of_a_subclass_opens_the_connection(ask, kind):
    assert ask(f"/get/{kind}", "hello") == "hello"


@pytest.mark.parametrize("kind", ["legacy", "asynchronous"])
@pytest.mark.parametrize(
    ("query", "headers", "code"),
    [
        pytest.param("?refuse=1", {}, 401, id="refused by the subclass"),
        pytest.param("", {"Origin": "http://elsewhere.test"}, 500, id="error"),
        pytest.param("", {"Sec-WebSocket-Version": "76"}, 426, id="other version"),
        pytest.param("", {"Upgrade": "tea"}, 400, id="no upgrade"),
    ],
)
def test_get_of_a_subclass_answers(run, url, kind, query, headers, code, caplog):
    caplog.set_level(logging.CRITICAL)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }

    async def main():
        return await AsyncHTTPClient().fetch(
            f"http{url.removeprefix('ws')}/get/{kind}{query}",
            headers={**upgrade, **headers},
            raise_error=False,
        )

    assert run(main).code == code


@uses(
    "tornado.websocket.WebSocketHandler._detach_stream",
    "tornado.websocket.WebSocketHandler.stream",
    "tornado.websocket.WebSocketHandler.client_terminated",
)
@pytest.mark.parametrize("path", ["/stream", "/stream/hidden"])
def test_stream_is_there_while_the_connection_is_and_after(ask, told, path):
    ask(path, "hello")

    assert told == [None, False, True, False, True, True]
    assert WebSocketHandler.stream is None


@pytest.mark.parametrize("kind", ["own", "method"])
def test_a_handlers_own_stream_is_left_alone(ask, told, kind):
    assert ask(f"/stream/{kind}") is None
    assert told == ["mine"]


@uses("tornado.websocket.WebSocketHandler.async_callback")
def test_error_of_async_callback_closes_the_connection(ask, caplog):
    assert ask("/callback") is None
    assert "ZeroDivisionError: bound given" in caplog.text


@uses("tornado.websocket.WebSocketProtocol.async_callback")
@pytest.mark.parametrize(("message", "answer"), [("2", "0.5"), ("0", None)])
def test_protocol_has_async_callback_too(ask, caplog, message, answer):
    assert ask("/callback/protocol", message) == answer
    assert ("ZeroDivisionError" in caplog.text) == (answer is None)


@uses(
    "tornado.websocket.WebSocketHandler.allow_draft76",
    "tornado.websocket.WebSocketHandler.get_websocket_scheme",
)
def test_what_draft_76_asked_for(ask):
    assert ask("/scheme") == "ws False"


@uses("tornado.websocket.WebSocketHandler.send_error")
def test_send_error_closes_an_open_connection_and_answers_before(ask):
    assert ask("/error") is None
    with pytest.raises(HTTPError) as caught:
        ask("/error?early=1")
    assert caught.value.code == 403


# What stands below.


@uses(
    "tornado.websocket.WebSocketProtocol13.__init__",
    "tornado.websocket._PerMessageDeflateDecompressor.__init__",
)
def test_protocol_takes_compression_options(run, url):
    async def main():
        connection = await websocket_connect(f"{url}/protocol", compression_options={})
        assert connection.headers["Sec-WebSocket-Extensions"] == "permessage-deflate"
        return await read(connection, "a" * 1000)

    assert run(main) == "a" * 1000


@pytest.mark.parametrize("rest", [(), (None,), ({"mem_level": 8},), (1 << 20, {})])
def test_decompressor_takes_options_of_once(compat, rest):
    module = tornado.websocket
    compressor = module._PerMessageDeflateCompressor(True, None)
    decompressor = module._PerMessageDeflateDecompressor(True, None, *rest)

    assert decompressor.decompress(compressor.compress(b"hello")) == b"hello"


@uses(
    "tornado.websocket.WebSocketProtocol13._apply_mask",
    "tornado.websocket._websocket_mask_python",
)
def test_masks(compat):
    mask = tornado.websocket._websocket_mask_python

    assert mask(b"abcd", b"hello") == WebSocketProtocol13._apply_mask(
        None, b"abcd", b"hello"
    )


@uses("tornado.websocket._wrap_method")
def test_wrapped_method_is_not_for_open_connections(ask):
    assert ask("/methods") == "render() on an open WebSocket; use write_message()"


# Pings.


@pytest.fixture
def frames_of_pings(site):
    """Serve with some settings; return the frames that a client gets and ignores."""

    def frames_of_pings(count, **settings):
        site.serve(WebSocketHandler, websocket_ping_interval=0.01, **settings)
        return site.run(lambda: read_frames(site, count))

    return frames_of_pings


async def read_frames(site, count):
    """Open a WebSocket; read that many frames, or until one closes it."""
    stream = await site.connect()
    await stream.write(
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n"
    )
    await stream.read_until(b"\r\n\r\n")
    frames = []
    while len(frames) < count and CLOSE not in frames:
        opcode, size = await stream.read_bytes(2)
        await stream.read_bytes(size)
        frames.append(opcode & 0xF)
    stream.close()
    return frames


CLOSE, PING = 0x8, 0x9


@uses(
    "tornado.websocket.WebSocketProtocol13.periodic_ping",
    "tornado.websocket.WebSocketProtocol13.ping_timeout",
)
@pytest.mark.parametrize("settings", [{}, {"websocket_ping_timeout": 1000}])
def test_pings_go_on_until_the_timeout(frames_of_pings, settings):
    assert frames_of_pings(5, **settings) == [PING] * 5


@pytest.mark.parametrize("timeout_s", [0.001, 0.05])
def test_client_that_answers_no_ping_is_closed(frames_of_pings, timeout_s):
    frames = frames_of_pings(sys.maxsize, websocket_ping_timeout=timeout_s)

    assert frames[-2:] == [PING, CLOSE]


def test_client_that_answers_stays(run, url):
    async def main():
        pings = Event()
        connection = await websocket_connect(
            f"{url}/echo", ping_interval=0.01, ping_timeout=0.05
        )
        connection.on_pong = lambda data: pings.set()
        for _ in range(10):
            await pings.wait()
            pings.clear()
        return await read(connection, "hello")

    assert run(main) == "hello"
