"""tornado.httpserver and the modules below it, as code of Tornado 2 to 5 uses it."""

import asyncio
import contextlib
import gzip
import socket
import subprocess
import sys
import threading
import warnings

import pytest
import tornado.http1connection
import tornado.httpserver
import tornado.httputil
from tornado import gen, web
from tornado.http1connection import (
    HTTP1Connection,
    HTTP1ServerConnection,
    _GzipMessageDelegate,
)
from tornado.httpserver import HTTPRequest, HTTPServer
from tornado.httputil import (
    HTTPHeaders,
    HTTPInputError,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream
from tornado.simple_httpclient import SimpleAsyncHTTPClient, _HTTPConnection
from tornado.tcpserver import TCPServer
from tornado.testing import bind_unused_port

import gencoro.compat
from gencoro.ioloop import IOLoop
from gencoro.legacy.stack_context import ExceptionStackContext
from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import Site


class Hello(web.RequestHandler):
    def get(self):
        self.write("hello")


def answer(request):
    """Answer as in Tornado 2: all of the response is one text."""
    body = b"You asked for %s" % request.uri.encode()
    request.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
    request.write(body)
    request.finish()


# The server.


@uses(
    "tornado.httputil.HTTPServerRequest.finish",
    "tornado.httputil.HTTPServerRequest.supports_http_1_1",
    "tornado.httputil.HTTPServerRequest.write",
)
def test_callback_writes_the_response_itself(site):
    def callback(request):
        site.log.append(request.supports_http_1_1())
        answer(request)
        site.log.append(request.request_time() == request.request_time())

    site.serve(callback)

    assert site.fetch("/a?b=1").body == b"You asked for /a?b=1"
    assert site.send(b"GET /c HTTP/1.0\r\n\r\n").endswith(b"for /c")
    assert site.log == [True, True, False, True]


CHUNKS = b"4\r\nasdf\r\n4\r\nqwer\r\n0\r\n\r\n"


@uses("tornado.http1connection.HTTP1Connection._read_chunked_body")
@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
def test_client_gets_each_chunk(site, is_gzip):
    body = CHUNKS
    if is_gzip:
        parts = [gzip.compress(b"asdf"), gzip.compress(b"qwer")]
        body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        body += b"0\r\n\r\n"

    def callback(request):
        encoding = "Content-Encoding: gzip\r\n" if is_gzip else ""
        head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{encoding}\r\n"
        request.write(head.encode() + body)
        request.finish()

    response = site.serve(callback).fetch(streaming_callback=site.log.append)

    assert site.log == [b"asdf", b"qwer"]
    assert response.body == b""


def test_handler_of_a_stream_gets_each_chunk(site):
    @web.stream_request_body
    class Handler(web.RequestHandler):
        def data_received(self, chunk):
            site.log.append(chunk)

        def post(self):
            self.write("done")

    head = b"POST / HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = site.serve(Handler).send(head + CHUNKS)

    assert answer.endswith(b"done")
    assert site.log == [b"asdf", b"qwer"]


def test_connection_of_such_a_response_is_kept(site):
    site.serve(answer)

    answers = site.send(
        b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
        b"GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )

    assert answers.count(b"HTTP/1.1 200 OK") == 2


def test_request_is_written_to_with_a_callback(site):
    def callback(request):
        text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        request.write(text, lambda: request.write(b"ok", callback=request.finish))

    assert site.serve(callback).fetch().body == b"ok"


@uses("tornado.httpserver.HTTPServer.initialize")
@pytest.mark.parametrize("by_name", [True, False])
def test_server_takes_a_loop(by_name):
    gencoro.compat.install()
    other = IOLoop(make_current=False)
    try:
        site = Site(other)
        if by_name:
            server = HTTPServer(answer, io_loop=other, xheaders=True)
        else:
            server = HTTPServer(answer, True, other, True)
        site.serve_by(server)

        assert site.fetch("/", headers={"X-Real-Ip": "1.2.3.4"}).body
        assert server.xheaders
        assert server.no_keep_alive is not by_name
        site.close()
    finally:
        other.close()
        gencoro.compat.uninstall()


def test_none_for_a_loop_is_none(loop):
    server = HTTPServer(answer, False, None, True)

    assert server.xheaders is True
    assert server.ssl_options is None


def test_application_listens_on_a_loop(site):
    probe, port = bind_unused_port()
    probe.close()
    application = web.Application([("/", Hello)])
    site.server = application.listen(port, "127.0.0.1", io_loop=site.loop)
    site.port = port

    assert site.fetch().body == b"hello"


@uses("tornado.http1connection.HTTP1Connection.address")
@uses("tornado.http1connection.HTTP1Connection.xheaders")
@uses("tornado.httpserver._ProxyAdapter.__init__")
@pytest.mark.parametrize("xheaders", [True, False])
def test_connection_tells_whether_a_proxy_is_believed(site, xheaders):
    def callback(request):
        site.log.append((request.connection.xheaders, request.remote_ip))
        site.log.append(isinstance(request.connection.stream, IOStream))
        site.log.append(request.connection.address[0])
        answer(request)

    site.serve(callback, xheaders=xheaders)
    site.fetch(headers={"X-Real-Ip": "1.2.3.4"})

    assert site.log[0] == (xheaders, "1.2.3.4" if xheaders else "127.0.0.1")
    assert site.log[1:] == [True, "127.0.0.1"]


@uses("tornado.httpserver.HTTPConnection")
def test_server_makes_connections_of_its_own(site):
    class Server(HTTPServer):
        def handle_stream(self, stream, address):
            connection = tornado.httpserver.HTTPConnection(
                stream, address, self.request_callback, self.no_keep_alive, True
            )
            site.log.append(connection)

    def callback(request):
        site.log.append(request.remote_ip)
        assert isinstance(request.connection, tornado.httpserver.HTTPConnection)
        site.log[0].set_close_callback(None)  # the method of the request's connection
        answer(request)

    site.serve_by(Server(callback))

    headers = {"X-Real-Ip": "1.2.3.4", "Connection": "close"}
    assert site.fetch("/", headers=headers).code == 200
    assert site.log[1] == "1.2.3.4"
    assert isinstance(site.log[0], tornado.httpserver.HTTPConnection)
    assert not hasattr(site.log[0], "no_such_method")
    site.log[0].close()
    assert site.log[0].stream.closed()


def test_methods_of_connections_are_patched_by_their_former_name(site):
    """So gunicorn's Tornado worker counts requests."""
    cls = tornado.httpserver.HTTPConnection
    plain = cls.finish

    def finish(self):
        site.log.append(type(self))
        plain(self)

    site.serve(Hello)
    cls.finish = finish
    site.fetch()  # by a client whose connection is of the same class
    cls.finish = plain
    site.fetch()

    assert site.log == [HTTP1Connection]


@uses("tornado.httpserver._BadRequestException")
def test_bad_request_is_refused_by_a_callback(site):
    def callback(request):
        raise tornado.httpserver._BadRequestException("no")

    site.serve(callback)

    assert site.send(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 400")


@uses("tornado.httpserver.HTTPServer.close_all_connections")
def test_connections_are_closed_without_a_waiter(site):
    site.serve(Hello)

    @gen.coroutine
    def leave_open():
        stream = yield site.connect()
        with contextlib.closing(stream):
            yield stream.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            yield stream.read_until(b"hello")
            site.server.close_all_connections()
            return (yield stream.read_until_close())

    assert site.run(leave_open) == b""


# The connection.


@uses(
    "tornado.http1connection.HTTP1Connection.write",
    "tornado.http1connection.HTTP1Connection.write_headers",
)
@pytest.mark.parametrize("by_name", [True, False])
def test_connection_calls_back_when_written(site, by_name):
    def callback(request):
        connection = request.connection
        start_line = ResponseStartLine("", 200, "OK")
        headers = HTTPHeaders({"Content-Length": "4"})

        def write_more():
            if by_name:
                assert connection.write(b"cd", callback=connection.finish) is None
            else:
                assert connection.write(b"cd", connection.finish) is None

        if by_name:
            connection.write_headers(start_line, headers, b"ab", callback=write_more)
        else:
            connection.write_headers(start_line, headers, b"ab", write_more)

    assert site.serve(callback).fetch().body == b"abcd"


def test_connection_that_is_closed_does_not_call_back(site):
    def callback(request):
        request.connection.stream.close()
        request.connection.write(b"x", lambda: site.log.append("written"))
        site.loop.add_callback(closed.set)

    closed = asyncio.Event()
    site.serve(callback)

    async def ask():
        with contextlib.closing(await site.connect()) as stream:
            await stream.write(b"GET / HTTP/1.0\r\n\r\n")
            await closed.wait()

    site.run(ask)

    assert site.log == []


def test_callback_of_connection_has_contexts(site):
    def callback(request):
        def on_error(typ, value, tb):
            site.log.append(typ)
            request.finish()
            return True

        def fail():
            raise ZeroDivisionError

        with ExceptionStackContext(on_error):
            request.connection.write(
                b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", fail
            )

    assert site.serve(callback).fetch().code == 200
    assert site.log == [ZeroDivisionError]


@uses("tornado.http1connection.HTTP1Connection.set_close_callback")
@pytest.mark.parametrize("in_context", [True, False])
def test_close_callback_has_contexts(site, in_context):
    called = asyncio.Event()

    def on_close():
        called.set()
        if in_context:
            raise ZeroDivisionError

    def on_error(typ, value, tb):
        site.log.append(typ)
        return True

    def callback(request):
        context = ExceptionStackContext(on_error)
        with context if in_context else contextlib.nullcontext():
            request.connection.set_close_callback(on_close)
        arrived.set()

    arrived = asyncio.Event()
    site.serve(callback)

    async def leave():
        with contextlib.closing(await site.connect()) as stream:
            await stream.write(b"GET / HTTP/1.0\r\n\r\n")
            await arrived.wait()
        await called.wait()
        await asyncio.sleep(0)

    site.run(leave)

    assert site.log == ([ZeroDivisionError] if in_context else [])


class Collector(HTTPMessageDelegate):
    """Collects a response, and says when that is complete."""

    def __init__(self, on_end):
        self.body = b""
        self.on_end = on_end

    def data_received(self, chunk):
        self.body += chunk

    def finish(self):
        self.on_end(self.body)


@uses("tornado.http1connection.HTTP1Connection.read_response")
def test_client_reads_without_a_waiter(site):
    site.serve(Hello)
    stream = IOStream(socket.socket())

    def connected(future):
        future.result()
        stream.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        HTTP1Connection(stream, True).read_response(Collector(body.set_result))

    @gen.coroutine
    def fetch():
        connecting = stream.connect(("127.0.0.1", site.port))
        site.loop.add_future(connecting, connected)
        yield body

    body = gen.Future()
    with contextlib.closing(stream):
        site.run(fetch)

    assert body.result() == b"hello"


class OtherProtocol:
    """A connection that knows how a response looks, and passes it on by plain calls."""

    def write_headers(self, *request):
        pass

    finish = write_headers

    def read_response(self, delegate):
        decoder = _GzipMessageDelegate(delegate, 1024)
        headers = HTTPHeaders({"Content-Encoding": "gzip"})
        decoder.headers_received(ResponseStartLine("HTTP/2.0", 200, "OK"), headers)
        decoder.data_received(gzip.compress(b"hello"))
        decoder.finish()
        return gen.moment


class OtherClient(SimpleAsyncHTTPClient):
    class _Connection(_HTTPConnection):
        def _create_connection(self, stream):
            return OtherProtocol()

    def _connection_class(self):
        return self._Connection


@uses(
    "tornado.http1connection._GzipMessageDelegate.__init__",
    "tornado.http1connection._GzipMessageDelegate.data_received",
    "tornado.simple_httpclient._HTTPConnection.headers_received",
)
def test_connection_of_another_protocol_waits_for_no_delegate(site):
    site.serve(Hello)

    @gen.coroutine
    def fetch():
        with contextlib.closing(OtherClient(force_instance=True)) as client:
            return (yield client.fetch(f"http://127.0.0.1:{site.port}/"))

    assert site.run(fetch).body == b"hello"


@uses("tornado.http1connection.HTTP1ServerConnection.close")
def test_connection_of_a_server_is_closed_without_a_waiter(site):
    class ClosingServer(TCPServer):
        def handle_stream(self, stream, address):
            connection = HTTP1ServerConnection(stream)
            connection.start_serving(HTTPServerConnectionDelegate())
            connection.close()

    server = ClosingServer()
    listening, port = bind_unused_port()
    server.add_socket(listening)

    @gen.coroutine
    def read():
        with contextlib.closing(IOStream(socket.socket())) as stream:
            yield stream.connect(("127.0.0.1", port))
            return (yield stream.read_until_close())

    assert site.run(read) == b""
    server.stop()


def test_client_reads_before_the_loop_runs(site):
    site.serve(Hello)
    body = gen.Future()

    with contextlib.closing(site.run(site.connect)) as stream:
        stream.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        HTTP1Connection(stream, True).read_response(Collector(body.set_result))
        site.run(lambda: body)

    assert body.result() == b"hello"


# Requests and headers.

HEADERS = HTTPHeaders({"Host": "example.com:80", "X-A": "1"})


@uses("tornado.httputil.HTTPServerRequest.__init__")
def test_request_is_made_as_in_tornado_3(compat):
    made = [
        HTTPRequest("GET", "/a?b=c", remote_ip="1.2.3.4", protocol="https"),
        HTTPRequest("GET", "/a?b=c", "HTTP/1.0", None, None, "1.2.3.4", "https"),
        HTTPRequest(
            *("GET", "/a?b=c", "HTTP/1.0", HTTPHeaders(), b"", "1.2.3.4", "https"),
            *("127.0.0.1", {}, None),
        ),
    ]

    for request in made:
        assert (request.remote_ip, request.protocol) == ("1.2.3.4", "https")
        assert (request.method, request.path, request.query) == ("GET", "/a", "b=c")
        assert request.full_url() == "https://127.0.0.1/a?b=c"
        assert request.arguments == {"b": [b"c"]}


def test_request_of_http_1_1_needs_no_host(compat):
    request = HTTPRequest("GET", "/", "HTTP/1.1")

    assert (request.version, request.host) == ("HTTP/1.1", "127.0.0.1")
    assert "Host" not in request.headers


def test_request_with_a_host_is_as_today(compat):
    with warnings.catch_warnings(action="error"):
        request = HTTPRequest("POST", "/", "HTTP/1.1", HEADERS, b"body", None, {})

    assert (request.host, request.host_name) == ("example.com:80", "example.com")
    assert request.body == b"body"
    assert request.files == {}


def test_requests_of_today_need_no_host_either(site):
    site.serve(Hello)

    answers = site.send(
        b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    )

    assert answers.count(b"HTTP/1.1 200 OK") == 2


def test_host_of_a_request_is_as_strict_as_today(compat):
    start_line = RequestStartLine("GET", "/", "HTTP/1.1")

    with pytest.raises(HTTPInputError, match="Invalid Host"):
        HTTPServerRequest(start_line=start_line, headers=HTTPHeaders({"Host": "a/b"}))


@uses(
    "tornado.httputil.HTTPHeaders._NORMALIZED_HEADER_RE",
    "tornado.httputil.HTTPHeaders._normalize_name",
    "tornado.httputil.HTTPHeaders._normalized_headers",
    "tornado.httputil._CRLF_RE",
    "tornado.httputil._NormalizedHeaderCache",
    "tornado.httputil._OctalPatt",
    "tornado.httputil._QuotePatt",
    "tornado.httputil._normalized_headers",
    "tornado.httputil._nulljoin",
)
def test_httputil_has_its_former_names(compat):
    assert HTTPHeaders._normalize_name("coNtent-TYPE") == "Content-Type"
    assert HTTPHeaders()._normalize_name("x") == "X"
    assert HTTPHeaders._normalized_headers["x-y"] == "X-Y"
    assert HTTPHeaders._NORMALIZED_HEADER_RE.match("X-Y")
    assert not HTTPHeaders._NORMALIZED_HEADER_RE.match("X-y")
    assert tornado.httputil._normalized_headers["etag"] == "Etag"
    assert tornado.httputil._NormalizedHeaderCache(2)["a-b"] == "A-B"
    assert tornado.httputil._CRLF_RE.split("a\r\nb\nc") == ["a", "b", "c"]
    assert tornado.httputil._OctalPatt.search(r"a\101")
    assert tornado.httputil._QuotePatt.search(r"a\"")
    assert tornado.httputil._nulljoin(["a", "b"]) == "ab"


def test_httputil_is_patched_without_a_server():
    program = """
import gencoro.compat
gencoro.compat.install()
from tornado.httputil import HTTPServerRequest, _normalized_headers
print(HTTPServerRequest("GET", "/", remote_ip="1.2.3.4").remote_ip)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("1.2.3.4\n", 0), done.stderr


def test_server_works_on_a_thread_of_its_own(compat):
    answered = []

    def serve():
        with contextlib.closing(IOLoop()) as own:
            site = Site(own).serve(Hello)
            answered.append(site.fetch().body)
            site.close()

    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()

    assert answered == [b"hello"]
