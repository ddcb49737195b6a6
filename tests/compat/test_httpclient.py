"""tornado.httpclient and its implementations, as code of Tornado 2 to 5 uses them."""

import asyncio
import contextlib
import functools
import gc
import http.server
import inspect
import logging
import os
import socket
import threading
import weakref

import pytest
import tornado.httpclient
import tornado.simple_httpclient
from tornado import gen, web
from tornado.httpclient import (
    AsyncHTTPClient,
    HTTPClient,
    HTTPError,
    HTTPRequest,
    HTTPResponse,
)
from tornado.simple_httpclient import SimpleAsyncHTTPClient

import gencoro.compat
from gencoro.ioloop import IOLoop
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    NullContext,
    _state,
)
from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import PATIENCE_S, called_back


class HelloHandler(web.RequestHandler):
    def get(self):
        self.write("hello")

    def post(self):
        self.write(self.request.body)


class SilentHandler(web.RequestHandler):
    async def get(self):
        await asyncio.Event().wait()

    def on_connection_close(self):
        self.detach()


class ModernClient(SimpleAsyncHTTPClient):
    """A client of today, which was there before compat."""

    def fetch(self, request, raise_error=True, **kwargs):
        return super().fetch(request, raise_error, **kwargs)


MODERN_FETCH = vars(ModernClient)["fetch"]


@pytest.fixture
def app():
    return web.Application(
        [
            ("/hello", HelloHandler),
            ("/silent", SilentHandler),
        ]
    )


@pytest.fixture
def client(loop):
    with contextlib.closing(AsyncHTTPClient(force_instance=True)) as client:
        yield client


@pytest.fixture(
    params=[
        "simple_httpclient.SimpleAsyncHTTPClient",
        "curl_httpclient.CurlAsyncHTTPClient",
    ]
)
def implementation(request):
    """Each of Tornado's implementations."""
    module, _, name = f"tornado.{request.param}".rpartition(".")
    return getattr(pytest.importorskip(module), name)


@pytest.fixture
def configuration():
    """Put the configured client back at the end."""
    saved = AsyncHTTPClient._save_configuration()
    yield
    AsyncHTTPClient._restore_configuration(saved)


@pytest.fixture
def refused_url():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/"


@pytest.fixture
def other_base_url():
    """A server on a thread of its own, for those who block theirs."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/hello" else 404)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def modern_implementation():
    """Make a class of a client that has its own fetch, and a queue, as it may be today."""

    class Implementation(AsyncHTTPClient):
        def initialize(self):
            super().initialize()
            self.contexts = []

        def fetch(self, request, raise_error=True, **kwargs):
            self.contexts.append(_state.contexts)
            request = HTTPRequest(request, **kwargs)
            if request.streaming_callback is not None:
                request.streaming_callback(b"chunk")
            future = asyncio.Future()
            self.fetch_impl(request, future.set_result)
            return future

        def fetch_impl(self, request, callback):
            callback(HTTPResponse(request, 200))

    return Implementation


@uses("tornado.httpclient.AsyncHTTPClient.fetch")
@pytest.mark.parametrize(
    "fetch",
    [
        lambda client, url, callback: client.fetch(url, callback),
        lambda client, url, callback: client.fetch(url, callback=callback),
        lambda client, url, callback: client.fetch(HTTPRequest(url), callback),
        lambda client, url, callback: client.fetch(
            callback=callback, request=HTTPRequest(url)
        ),
        lambda client, url, callback: client.fetch(url, callback, method="GET"),
        lambda client, url, callback: client.fetch(url, callback, False),
        lambda client, url, callback: client.fetch(
            url, raise_error=1, callback=callback
        ),
    ],
)
def test_callback_gets_the_response(loop, client, http_server, base_url, fetch):
    response = called_back(loop, lambda cb: fetch(client, base_url + "/hello", cb))

    assert (response.code, response.body, response.error) == (200, b"hello", None)
    assert response.request.url == response.effective_url == base_url + "/hello"
    response.rethrow()


def test_callback_gets_a_status_that_is_an_error(loop, client, http_server, base_url):
    url = base_url + "/missing"
    response = called_back(loop, lambda cb: client.fetch(url, cb))

    assert response.code == response.error.code == 404
    assert response.error.response is response
    assert b"404" in response.body
    with pytest.raises(HTTPError):
        response.rethrow()


def test_callback_is_called_when_the_connection_is_refused(loop, client, refused_url):
    response = called_back(
        loop, lambda cb: client.fetch(refused_url, cb, method="PUT", body=b"put")
    )

    assert response.code == 599
    assert isinstance(response.error, ConnectionRefusedError)
    assert (response.request.url, response.request.method) == (refused_url, "PUT")
    assert response.effective_url == refused_url
    assert 0 <= response.request_time < PATIENCE_S
    assert not response.body
    with pytest.raises(ConnectionRefusedError):
        response.rethrow()


def test_callback_gets_what_no_server_was_asked_for(loop, client):
    response = called_back(loop, lambda cb: client.fetch("ftp://a.test/", cb))

    assert response.code == 599
    assert isinstance(response.error, ValueError)


def test_a_wrong_argument_is_raised(loop, client):
    with pytest.raises(TypeError, match="speed"):
        client.fetch("http://a.test/", print, speed=3)
    with pytest.raises(ValueError, match="kwargs"):
        client.fetch(HTTPRequest("http://a.test/"), print, method="GET")


def test_a_closed_client_raises(loop):
    client = AsyncHTTPClient(force_instance=True)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.fetch("http://a.test/", print)


@pytest.mark.parametrize("args", [(), (None,), (None, True), (True,)])
def test_without_callback_errors_are_raised(loop, client, http_server, base_url, args):
    async def main():
        with pytest.raises(HTTPError, match="404"):
            await client.fetch(base_url + "/missing", *args)

    loop.run_sync(main)


@pytest.mark.parametrize("args", [(None, False), (False,)])
def test_raise_error_is_found(loop, client, http_server, base_url, args):
    response = loop.run_sync(lambda: client.fetch(base_url + "/missing", *args))

    assert response.code == 404


@pytest.mark.parametrize("args", [(print, False), (None, False)])
def test_errors_are_in_the_response_if_they_are_not_to_be_raised(
    loop, client, refused_url, args, capsys
):
    response = loop.run_sync(lambda: client.fetch(refused_url, *args))

    assert response.code == 599
    assert isinstance(response.error, ConnectionRefusedError)


def test_not_to_raise_errors_means_today_what_it_does(loop, client, refused_url):
    with pytest.raises(ConnectionRefusedError):
        loop.run_sync(lambda: client.fetch(refused_url, raise_error=False))


def test_future_has_the_response_too(loop, client, http_server, base_url):
    futures = []
    response = called_back(
        loop, lambda cb: futures.append(client.fetch(base_url + "/hello", cb))
    )

    assert futures[0].result() is response


def test_error_of_the_future_is_known_to_the_callback(
    loop, client, http_server, base_url, caplog
):
    response = called_back(loop, lambda cb: client.fetch(base_url + "/missing", cb))
    del response
    gc.collect()

    assert [r for r in caplog.records if r.name == "asyncio"] == []


def test_callback_is_called_in_a_later_turn(loop):
    order = []
    client = modern_implementation()(force_instance=True)

    def start(callback):
        client.fetch(
            "http://a.test/", lambda response: callback(order.append("called"))
        )
        order.append("returned")

    called_back(loop, lambda cb: loop.add_callback(start, cb))

    assert order == ["returned", "called"]


def test_cancelled_fetch_does_not_call_back(loop, client, http_server, base_url):
    calls = []
    with ExceptionStackContext(lambda *exc_info: calls.append(exc_info)):
        future = client.fetch(base_url + "/hello", calls.append)
    future.cancel()
    loop.run_sync(lambda: client.fetch(base_url + "/hello"))

    assert calls == []


def test_error_in_the_callback_goes_to_the_contexts(
    loop, client, http_server, base_url
):
    def start(callback):
        def handle(typ, value, traceback):
            callback(typ)
            return True

        with ExceptionStackContext(handle):
            client.fetch(base_url + "/hello", lambda response: 1 / 0)

    assert called_back(loop, start) is ZeroDivisionError


def test_error_in_the_callback_is_logged(loop, client, http_server, base_url, caplog):
    @gen.coroutine
    def fail(response):
        yield gen.moment
        loop.add_callback(loop.add_callback, loop.stop)
        raise ZeroDivisionError

    client.fetch(base_url + "/hello", lambda response: fail(response))
    loop.start()

    (record,) = [r for r in caplog.records if r.name == "tornado.application"]
    assert record.exc_info[0] is ZeroDivisionError


def test_client_keeps_no_contexts_of_a_request(loop, http_server, base_url):
    seen = []

    class Client(AsyncHTTPClient):
        def fetch_impl(self, request, callback):
            seen.append(_state.contexts)
            self.io_loop.add_callback(self.respond, request, callback)

        def respond(self, request, callback):
            seen.append(_state.contexts)
            callback(HTTPResponse(request, 200))

    client = Client(force_instance=True)

    def start(callback):
        with ExceptionStackContext(print):
            client.fetch("http://a.test/", callback)

    called_back(loop, start)
    with ExceptionStackContext(print):
        called_back(
            loop, lambda cb: loop.add_future(client.fetch("http://b.test/"), cb)
        )

    assert seen == [((), None)] * 4


def test_client_does_not_keep_the_contexts_it_was_made_in(
    loop, http_server, base_url, implementation
):
    context = ExceptionStackContext(print)
    made_in = weakref.ref(context)
    with context:
        client = implementation(loop, True)
        called_back(loop, lambda cb: client.fetch(base_url + "/hello", cb))
    del context
    called_back(loop, lambda cb: client.fetch(base_url + "/hello", cb))
    gc.collect()

    assert made_in() is None
    client.close()


@uses(
    "tornado.httpclient.HTTPRequest.body_producer",
    "tornado.httpclient.HTTPRequest.header_callback",
    "tornado.httpclient.HTTPRequest.streaming_callback",
)
@pytest.mark.parametrize("option", ["request", "kwargs"])
@pytest.mark.parametrize(
    "name", ["streaming_callback", "header_callback", "body_producer"]
)
def test_callbacks_of_a_request_run_where_it_was_made(
    loop, client, http_server, base_url, name, option
):
    seen = []
    made_in = ExceptionStackContext(print)

    def note(*args):
        seen.append(_state.contexts[1])
        if name == "body_producer":
            return args[0](b"body")
        return None

    options = {name: note}
    if name == "body_producer":
        options |= {"method": "POST", "headers": {"Content-Length": "4"}}

    def start(callback):
        if option == "kwargs":
            with made_in:
                client.fetch(base_url + "/hello", callback, **options)
        else:
            with made_in:
                request = HTTPRequest(base_url + "/hello", **options)
            with ExceptionStackContext(print):
                client.fetch(request, callback)

    response = called_back(loop, start)

    assert response.error is None
    assert set(seen) == {made_in}


@uses("tornado.httpclient.HTTPRequest.prepare_curl_callback")
def test_curl_is_prepared_where_the_request_was_made(loop, http_server, base_url):
    curl_httpclient = pytest.importorskip("tornado.curl_httpclient")
    seen = []
    made_in = ExceptionStackContext(print)
    with (
        contextlib.closing(curl_httpclient.CurlAsyncHTTPClient(loop, True)) as client,
        made_in,
    ):
        request = HTTPRequest(
            base_url + "/hello",
            prepare_curl_callback=lambda curl: seen.append(_state.contexts[1]),
        )
        with NullContext():
            response = called_back(loop, lambda cb: client.fetch(request, cb))

    assert response.body == b"hello"
    assert seen == [made_in]


def test_callbacks_of_a_request_are_its_own_where_no_context_is(compat):
    request = HTTPRequest("http://a.test/", streaming_callback=print)
    assert request.streaming_callback is print

    request.streaming_callback = repr
    assert request.streaming_callback is repr
    assert request.header_callback is None


def test_requests_outlive_install_and_uninstall():
    before = HTTPRequest("http://a.test/", header_callback=print)
    gencoro.compat.install()
    assert before.header_callback is print

    meanwhile = HTTPRequest("http://a.test/", header_callback=print)
    gencoro.compat.uninstall()

    assert meanwhile.header_callback is print
    assert not isinstance(
        inspect.getattr_static(HTTPRequest, "header_callback", None), property
    )


@uses(
    "tornado.httpclient.AsyncHTTPClient.__new__",
    "tornado.httpclient.AsyncHTTPClient.initialize",
    "tornado.simple_httpclient.SimpleAsyncHTTPClient.initialize",
)
@pytest.mark.parametrize("cls", [AsyncHTTPClient, SimpleAsyncHTTPClient])
@pytest.mark.parametrize(
    "make",
    [
        lambda cls, other: cls(other),
        lambda cls, other: cls(io_loop=other),
        lambda cls, other: cls(other, True),
        lambda cls, other: cls(other, force_instance=True),
        lambda cls, other: cls(other, 7, True),
        lambda cls, other: cls(io_loop=other, max_clients=7, force_instance=True),
    ],
)
def test_client_of_another_loop(loop, other_loop, base_url, cls, make):
    client = make(cls, other_loop)

    assert isinstance(client, SimpleAsyncHTTPClient)
    assert client.io_loop is other_loop
    assert client.max_clients in (7, 10)
    assert IOLoop.current() is loop
    client.close()


def test_client_is_made_once_for_a_loop(loop, configuration):
    first = AsyncHTTPClient(loop)

    assert AsyncHTTPClient() is AsyncHTTPClient(None) is AsyncHTTPClient(io_loop=None)
    assert AsyncHTTPClient(loop) is first
    assert AsyncHTTPClient(loop, True) is not first
    assert AsyncHTTPClient(None, True) is not first
    assert AsyncHTTPClient(True) is not first
    assert AsyncHTTPClient(force_instance=True) is not first
    first.close()


@uses("tornado.httpclient.AsyncHTTPClient._DEFAULT_MAX_CLIENTS")
def test_number_of_clients(loop):
    assert AsyncHTTPClient(None, 7, True).max_clients == 7
    assert AsyncHTTPClient(force_instance=True, max_clients=7).max_clients == 7
    default = AsyncHTTPClient(loop, force_instance=True).max_clients
    assert default == AsyncHTTPClient._DEFAULT_MAX_CLIENTS


@uses("tornado.curl_httpclient.CurlAsyncHTTPClient.initialize")
@pytest.mark.parametrize("by_name", [False, True])
def test_fetch_before_another_loop_is_started(
    loop, other_loop, other_base_url, implementation, by_name
):
    if by_name:
        client = implementation(io_loop=other_loop, max_clients=2)
    else:
        client = implementation(other_loop, max_clients=2)
    url = other_base_url + "/hello"

    assert client.io_loop is other_loop
    assert called_back(other_loop, lambda cb: client.fetch(url, cb)).body == b"hello"
    future = client.fetch(url)
    assert other_loop.run_sync(lambda: future).body == b"hello"
    client.close()


def test_connections_at_once_may_be_limited_as_in_tornado_2(loop, configuration):
    AsyncHTTPClient.configure(None, max_simultaneous_connections=3, max_clients=2)

    assert AsyncHTTPClient(force_instance=True).max_clients == 2


class LegacyClient(SimpleAsyncHTTPClient):
    """As the documentation of Tornado 4 has it."""

    def initialize(self, io_loop, size=1, **kwargs):
        super().initialize(io_loop, max_clients=size, **kwargs)
        self.given = io_loop


class LegacyClientByName(SimpleAsyncHTTPClient):
    def initialize(self, io_loop=None, **kwargs):
        super().initialize(io_loop=io_loop, max_clients=5, **kwargs)
        self.given = io_loop


class LegacyClientByPlace(SimpleAsyncHTTPClient):
    def initialize(self, io_loop, *args, **kwargs):
        super().initialize(io_loop, 5, {"a.test": "127.0.0.1"}, **kwargs)
        self.given = io_loop


@pytest.mark.parametrize("cls", [LegacyClient, LegacyClientByName, LegacyClientByPlace])
def test_legacy_implementation_is_given_the_loop(loop, other_loop, configuration, cls):
    AsyncHTTPClient.configure(cls)
    clients = [
        AsyncHTTPClient(force_instance=True),
        cls(force_instance=True),
        AsyncHTTPClient(other_loop, force_instance=True),
        cls(other_loop, defaults={"user_agent": "legacy"}),
    ]

    loops = [loop, loop, other_loop, other_loop]
    assert [client.given for client in clients] == loops
    assert [client.io_loop for client in clients] == loops
    assert {client.max_clients for client in clients} <= {1, 5}
    assert clients[3].defaults["user_agent"] == "legacy"
    for client in clients:
        client.close()


def test_implementation_of_tornado_2(loop, configuration):
    class Client(AsyncHTTPClient):
        def initialize(self, io_loop=None, max_clients=10):
            self.io_loop = io_loop
            self.max_clients = max_clients

        def fetch(self, request, callback, **kwargs):
            self.io_loop.add_callback(
                callback, HTTPResponse(HTTPRequest(request, **kwargs), 200)
            )

    AsyncHTTPClient.configure(Client, max_clients=3)
    client = AsyncHTTPClient(loop)

    assert client.max_clients == 3
    response = called_back(
        loop, lambda cb: client.fetch("http://a.test/", cb, method="HEAD")
    )
    assert response.request.method == "HEAD"


def test_curl_client_is_configured(loop, configuration, refused_url):
    curl_httpclient = pytest.importorskip("tornado.curl_httpclient")
    AsyncHTTPClient.configure(
        "tornado.curl_httpclient.CurlAsyncHTTPClient", max_clients=3
    )
    client = AsyncHTTPClient(loop)
    response = called_back(loop, lambda cb: client.fetch(refused_url, cb))

    assert isinstance(client, curl_httpclient.CurlAsyncHTTPClient)
    assert len(client._curls) == 3
    assert response.code == 599
    assert isinstance(response.error, curl_httpclient.CurlError)
    client.close()


def test_curl_client_of_tornado_2(loop):
    curl_httpclient = pytest.importorskip("tornado.curl_httpclient")

    class Client(curl_httpclient.CurlAsyncHTTPClient):
        def initialize(self, io_loop, max_clients=10):
            super().initialize(io_loop, max_clients, max_simultaneous_connections=5)

    client = Client(loop, 4)
    assert (client.io_loop, len(client._curls)) == (loop, 4)
    client.close()


@uses("tornado.curl_httpclient.CurlAsyncHTTPClient._handle_force_timeout")
def test_curl_looks_after_what_it_may_have_forgotten(loop, http_server, base_url):
    curl_httpclient = pytest.importorskip("tornado.curl_httpclient")
    client = curl_httpclient.CurlAsyncHTTPClient(loop, True)

    def start(callback):
        client.fetch(base_url + "/hello", callback)
        client._handle_force_timeout()

    assert called_back(loop, start).code == 200
    client.close()


@uses("tornado.httpclient.AsyncHTTPClient.__init_subclass__")
def test_fetch_of_a_modern_subclass_understands_a_callback(
    loop, http_server, base_url, refused_url
):
    class LaterClient(SimpleAsyncHTTPClient):
        async def fetch(self, request, raise_error=True, **kwargs):
            return await super().fetch(request, raise_error, **kwargs)

    for cls in (ModernClient, LaterClient):
        client = cls(force_instance=True)
        fetch = functools.partial(client.fetch, base_url + "/hello")
        assert called_back(loop, fetch).code == 200
        fetch = functools.partial(client.fetch, refused_url)
        response = called_back(loop, lambda cb, fetch=fetch: fetch(callback=cb))
        assert isinstance(response.error, ConnectionRefusedError)
        fetch = functools.partial(client.fetch, base_url + "/missing", False)
        assert loop.run_sync(fetch).code == 404
        client.close()


def test_subclasses_of_subclasses_understand_a_callback(loop):
    class Client(modern_implementation()):
        def fetch(self, request, raise_error=True, **kwargs):
            return super().fetch(f"http://{request}/", raise_error, **kwargs)

    client = Client(force_instance=True)
    response = called_back(loop, lambda cb: client.fetch("a.test", cb, method="HEAD"))

    assert (response.request.url, response.request.method) == ("http://a.test/", "HEAD")


def test_other_bases_hear_of_subclasses(compat):
    heard = []

    class Base:
        def __init_subclass__(cls, name, **kwargs):
            super().__init_subclass__(**kwargs)
            heard.append((cls, name))

    class Client(AsyncHTTPClient, Base, name="client"):
        pass

    assert heard == [(Client, "client")]


def test_modern_implementation_keeps_no_contexts(loop):
    client = modern_implementation()(force_instance=True)
    made_in = ExceptionStackContext(print)
    seen = []

    def start(callback):
        with made_in:
            client.fetch(
                "http://a.test/",
                callback,
                streaming_callback=lambda chunk: seen.append(_state.contexts[1]),
            )

    called_back(loop, start)

    assert client.contexts == [((), None)]
    assert seen == [made_in]


def test_subclass_that_has_others_fetch_keeps_the_contexts(loop, http_server, base_url):
    seen = []

    class TracedClient(SimpleAsyncHTTPClient):
        @gen.coroutine
        def fetch(self, request, raise_error=True, **kwargs):
            response = yield super().fetch(request, raise_error, **kwargs)
            seen.append(_state.contexts[1])
            return response

    client = TracedClient(force_instance=True)
    called_in = ExceptionStackContext(print)

    def start(callback):
        with called_in:
            client.fetch(base_url + "/hello", callback)

    assert called_back(loop, start).body == b"hello"
    assert seen == [called_in]
    client.close()


def test_fetch_of_a_legacy_subclass_is_left_alone(loop, http_server, base_url):
    calls = []

    class Declaring(SimpleAsyncHTTPClient):
        def fetch(self, request, callback=None, **kwargs):
            calls.append(callback)
            return super().fetch(request, callback, **kwargs)

    class HandingOn(SimpleAsyncHTTPClient):
        def fetch(self, *args, **kwargs):
            calls.append(args[1])
            return super().fetch(*args, **kwargs)

    for cls in (Declaring, HandingOn):
        own = vars(cls)["fetch"]
        client = cls(force_instance=True)
        url = base_url + "/hello"
        response = called_back(loop, lambda cb: client.fetch(url, cb))  # noqa: B023

        assert inspect.isfunction(own)
        assert (response.code, callable(calls.pop())) == (200, True)
        client.close()


def test_subclasses_get_their_own_fetch_back():
    gencoro.compat.install()
    assert ModernClient.fetch is not MODERN_FETCH
    assert ModernClient.fetch.__wrapped__ is MODERN_FETCH

    class LaterClient(ModernClient):
        def fetch(self, request, raise_error=True, **kwargs):
            raise NotImplementedError

    gencoro.compat.uninstall()

    assert ModernClient.fetch is vars(ModernClient)["fetch"] is MODERN_FETCH
    assert inspect.isfunction(LaterClient.fetch)
    assert LaterClient.fetch is vars(LaterClient)["fetch"]
    assert not hasattr(LaterClient.fetch, "__wrapped__")


def test_installing_again_adopts_subclasses_again(compat):
    gencoro.compat.uninstall()
    gencoro.compat.install()

    assert ModernClient.fetch.__wrapped__ is MODERN_FETCH


@uses(
    "tornado.httpclient.HTTPClient.__init__",
    "tornado.httpclient.HTTPClient.close",
    "tornado.httpclient.HTTPClient.fetch",
)
def test_blocking_client(compat, other_base_url):
    client = HTTPClient()
    try:
        assert client.fetch(other_base_url + "/hello").body == b"hello"
        with pytest.raises(HTTPError, match="404"):
            client.fetch(other_base_url + "/missing")
    finally:
        client.close()


def test_blocking_client_in_a_handler(loop, other_base_url):
    async def main():
        running = asyncio.get_running_loop()
        with contextlib.closing(HTTPClient(max_clients=1)) as client:
            body = client.fetch(other_base_url + "/hello").body
        assert asyncio.get_running_loop() is running
        assert IOLoop.current() is loop
        await asyncio.sleep(0)
        return body

    assert loop.run_sync(main) == b"hello"


@uses(
    "tornado.simple_httpclient.SimpleAsyncHTTPClient._handle_request",
    "tornado.simple_httpclient._HTTPConnection.__init__",
)
def test_connection_class_of_tornado_4(loop, http_server, base_url):
    made = []

    class Connection(tornado.simple_httpclient._HTTPConnection):
        def __init__(self, io_loop, client, request, *args):
            made.append((io_loop, client))
            super().__init__(io_loop, client, request, *args)

        def data_received(self, chunk):
            super().data_received(chunk.upper())

    class Client(SimpleAsyncHTTPClient):
        def _connection_class(self):
            return Connection

    client = Client(force_instance=True)
    response = called_back(loop, lambda cb: client.fetch(base_url + "/hello", cb))

    assert made == [(loop, client)]
    assert response.body == b"HELLO"
    client.close()


@uses("tornado.httpclient.HTTPResponse._get_body")
def test_response_is_made_as_ever(compat):
    response = HTTPResponse(HTTPRequest("http://a.test/"), 404, reason="Gone fishing")

    assert response._get_body() == response.body == b""
    assert str(response.error) == "HTTP 404: Gone fishing"
    error = HTTPError(599, "Timeout", response)
    assert (error.code, error.message, error.response) == (599, "Timeout", response)
    assert str(HTTPError(404)) == "HTTP 404: Not Found"


@uses(
    "tornado.simple_httpclient._DEFAULT_CA_CERTS",
    "tornado.simple_httpclient._default_ca_certs",
    "tornado.simple_httpclient.certifi",
)
def test_certificates_of_authorities(compat):
    from tornado.simple_httpclient import _DEFAULT_CA_CERTS, _default_ca_certs, certifi

    assert os.path.isfile(_DEFAULT_CA_CERTS)
    assert _default_ca_certs() == _DEFAULT_CA_CERTS
    assert certifi is None or certifi.where() == _DEFAULT_CA_CERTS


def test_certificates_of_authorities_without_certifi(compat, monkeypatch, tmp_path):
    from gencoro.compat.modules import httpclient

    (tmp_path / "ca.pem").touch()
    monkeypatch.setattr(httpclient, "certifi", None)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    assert httpclient.default_ca_certs() == str(tmp_path / "ca.pem")

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(RuntimeError, match="install certifi"):
        httpclient.default_ca_certs()


def test_waiting_in_the_queue_is_timed_out(loop, http_server, base_url, caplog):
    caplog.set_level(logging.CRITICAL, "tornado.access")
    client = SimpleAsyncHTTPClient(loop, 1, True)
    client.fetch(base_url + "/silent", request_timeout=PATIENCE_S).cancel()
    request = HTTPRequest(base_url + "/hello", connect_timeout=0.05)
    response = called_back(loop, lambda cb: client.fetch(request, cb))

    assert response.code == response.error.code == 599
    assert "in request queue" in str(response.error)
    assert response.request is request
    assert response.request_time >= 0.05
    client.close()
