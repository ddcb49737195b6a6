"""tornado.wsgi as code of Tornado 2 to 5 uses it."""

import asyncio
import contextlib
import io
import threading
import wsgiref.simple_server
from concurrent.futures import ThreadPoolExecutor
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
import tornado.web
import tornado.wsgi
from tornado import gen
from tornado.httputil import HTTPOutputError, HTTPServerRequest, RequestStartLine
from tornado.ioloop import IOLoop
from tornado.web import Application, HTTPError, RequestHandler
from tornado.wsgi import WSGIContainer

import gencoro.compat
import gencoro.gen
from tests.helpers.compat.rows import uses


class Echo(RequestHandler):
    def get(self, name="nobody"):
        self.write(f"{name} {self.get_argument('a', '-')} {self.request.remote_ip}")

    def post(self, name=None):
        self.write({key: self.get_argument(key) for key in self.request.arguments})

    def put(self, name=None):
        raise HTTPError(409)

    def delete(self, name=None):
        raise ZeroDivisionError


class Coroutines(RequestHandler):
    @gencoro.gen.coroutine
    def get(self):
        yield gencoro.gen.sleep(0.001)
        self.write("waited")

    async def post(self):
        self.left = asyncio.ensure_future(asyncio.sleep(1000))
        self.finish("finished")
        await asyncio.sleep(0)
        self.settings["log"].append("went on")


class Lengths(RequestHandler):
    def get(self):
        self.set_header("Content-Length", "2")
        self.finish("too much")

    def post(self):
        self.set_header("Content-Length", "200")
        self.finish("too little")


class Chunks(RequestHandler):
    def get(self):
        self.request.connection.set_close_callback(None)
        self.write("a")
        self.flush(callback=lambda: self.write("b"))
        self.flush()
        self.write("c")


@pytest.fixture
def log():
    return []


@pytest.fixture
def app(compat, log):
    handlers = [
        ("/", Echo),
        ("/echo/(.*)", Echo),
        ("/coroutines", Coroutines),
        ("/lengths", Lengths),
        ("/chunks", Chunks),
    ]
    return Application(handlers, log=log)


def call(application, path="/", method="GET", body=b"", **environ):
    """Call a WSGI application, as a server that is strict does: (status, headers, body)."""
    setup_testing_defaults(environ)
    environ.setdefault("QUERY_STRING", "")
    environ.update(
        REQUEST_METHOD=method,
        PATH_INFO=path,
        REMOTE_ADDR="1.2.3.4",
        **{"wsgi.input": io.BytesIO(body)},
    )
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
        environ["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
    begun = []
    result = validator(application)(
        environ, lambda status, headers, exc_info=None: begun.append((status, headers))
    )
    with contextlib.closing(result):
        text = b"".join(result)
    [(status, headers)] = begun
    return status, dict(headers), text


@uses(
    "tornado.wsgi.WSGIAdapter",
    "tornado.wsgi._WSGIConnection",
    "tornado.wsgi._WSGIRequestContext",
)
def test_application_answers_a_wsgi_server(app):
    status, headers, body = call(tornado.wsgi.WSGIAdapter(app), QUERY_STRING="a=1")

    assert (status, body) == ("200 OK", b"nobody 1 1.2.3.4")
    assert headers["Content-Length"] == "16"
    context = tornado.wsgi._WSGIRequestContext("1.2.3.4", "https")
    assert (str(context), context.protocol) == ("1.2.3.4", "https")
    assert issubclass(tornado.wsgi._WSGIConnection, tornado.httputil.HTTPConnection)


@pytest.mark.parametrize(
    ("path", "method", "body", "status", "answer"),
    [
        ("/echo/a b\u00c3\u00a9", "GET", b"", "200 OK", "a b\u00e9 - 1.2.3.4".encode()),
        ("/echo/x", "POST", b"a=1&b=2", "200 OK", b'{"a": "1", "b": "2"}'),
        ("/", "PUT", b"", "409 Conflict", b"409: Conflict"),
        ("/", "DELETE", b"", "500 Internal Server Error", b"500: Internal"),
        ("/missing", "GET", b"", "404 Not Found", b"404: Not Found"),
        ("/", "HEAD", b"", "405 Method Not Allowed", b""),
        ("/chunks", "GET", b"", "200 OK", b"abc"),
        ("/coroutines", "GET", b"", "200 OK", b"waited"),
    ],
)
def test_requests_of_all_kinds(app, path, method, body, status, answer):
    got = call(tornado.wsgi.WSGIAdapter(app), path, method, body)

    assert got[0] == status
    assert answer in got[2]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_length_that_is_not_kept_is_an_error(app, method):
    with pytest.raises(HTTPOutputError, match=r"bytes (more|less) than Content-Length"):
        call(tornado.wsgi.WSGIAdapter(app), "/lengths", method)


def test_handler_goes_on_and_what_it_leaves_is_ended(app, log):
    got = call(tornado.wsgi.WSGIAdapter(app), "/coroutines", "POST")

    assert got[2] == b"finished"
    assert log == ["went on"]


def test_asynchronous_handler_is_refused(compat):
    class Waiting(RequestHandler):
        @tornado.web.asynchronous
        def get(self):
            IOLoop.current().call_later(1000, self.finish)

    adapter = tornado.wsgi.WSGIAdapter(Application([("/", Waiting)]))

    with pytest.raises(RuntimeError, match="returned without a response"):
        call(adapter)


@pytest.mark.parametrize(
    "environ", [{"HTTP_HOST": "a b"}, {"CONTENT_LENGTH": "-1"}, {"HTTP_A": "a\0"}]
)
def test_malformed_request_is_refused(app, environ):
    begun = []
    setup_testing_defaults(environ)

    tornado.wsgi.WSGIAdapter(app)(environ, lambda status, _: begun.append(status))

    assert begun == ["400 Bad Request"]


def test_length_is_not_taken_from_a_header(app):
    got = call(
        tornado.wsgi.WSGIAdapter(app), "/", "POST", b"a=1", HTTP_CONTENT_LENGTHS="9"
    )

    assert got[2] == b'{"a": "1"}'
    environ = {**ENVIRON, "HTTP_CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"b=2")}
    assert tornado.wsgi.HTTPRequest(environ).body == b"b=2"


def test_callback_is_served_with_its_arguments(compat, log):
    def callback(request):
        log.append((request.host, request.arguments, request.protocol))
        headers = tornado.httputil.HTTPHeaders({"Content-Type": "text/plain"})
        start_line = tornado.httputil.ResponseStartLine("", 200, "Fine")
        request.connection.write_headers(start_line, headers)
        request.connection.write(b"ok")
        request.connection.finish()

    got = call(tornado.wsgi.WSGIAdapter(callback), "/", "POST", b"a=1")

    assert (got[0], got[2]) == ("200 Fine", b"ok")
    assert log == [("127.0.0.1", {"a": [b"1"]}, "http")]


@uses("tornado.wsgi.WSGIApplication")
def test_wsgi_application_is_an_application(compat):
    application = tornado.wsgi.WSGIApplication([("/", Echo)], "", debug=True, wsgi=True)

    assert call(application)[2] == b"nobody - 1.2.3.4"
    assert isinstance(application, Application)


def test_application_serves_a_real_server(app):
    class Silent(wsgiref.simple_server.WSGIRequestHandler):
        def log_message(self, *args):
            pass

    server = wsgiref.simple_server.make_server(
        "127.0.0.1", 0, validator(tornado.wsgi.WSGIAdapter(app)), handler_class=Silent
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        client = tornado.httpclient.HTTPClient()
        with contextlib.closing(client):
            answer = client.fetch(f"http://127.0.0.1:{server.server_port}/?a=1")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert answer.body == b"nobody 1 127.0.0.1"


def test_application_answers_where_a_loop_runs(app, loop):
    async def within():
        before = asyncio.get_running_loop(), asyncio.current_task()
        got = call(tornado.wsgi.WSGIAdapter(app), "/coroutines")
        assert (asyncio.get_running_loop(), asyncio.current_task()) == before
        await asyncio.sleep(0)
        return got[2]

    assert loop.run_sync(within) == b"waited"


def test_container_serves_such_an_application(app, site):
    site.serve(WSGIContainer(validator(tornado.wsgi.WSGIAdapter(app))))
    assert site.fetch("/echo/me?a=1").body == b"me 1 127.0.0.1"


def _raises(environ, start_response):
    raise ZeroDivisionError


def _raises_while_it_answers(environ, start_response):
    start_response("200 OK", [])
    yield b"begun"
    raise ZeroDivisionError


def _says_more_than_it_writes(environ, start_response):
    start_response("200 OK", [("Content-Length", "42")])
    return [b"ok"]


def _says_less_than_it_writes(environ, start_response):
    start_response("200 OK", [("Content-Length", "1")])
    return [b"ok"]


def _says_nothing(environ, start_response):
    return [b"ok"]


# The last error that is logged.
FAULTS = {
    _raises: "ZeroDivisionError",
    _raises_while_it_answers: "ZeroDivisionError",
    _says_more_than_it_writes: "40 bytes less than Content-Length",
    _says_less_than_it_writes: "more data than Content-Length",
    _says_nothing: "did not call start_response",
}


@uses("tornado.wsgi.WSGIContainer.__call__")
@pytest.mark.parametrize("application", FAULTS)
def test_fault_of_an_application_closes_the_connection(site, caplog, application):
    site.serve(WSGIContainer(application))

    answer = site.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    expected = b"ok" if application is _says_more_than_it_writes else b""
    assert answer.rpartition(b"\r\n\r\n")[2] == expected
    assert FAULTS[application] in caplog.text


def test_application_of_tornado_in_a_container_answers_by_itself(site):
    class Page(tornado.web.RequestHandler):
        async def get(self):
            await asyncio.sleep(0)
            self.write("page")

    site.serve(WSGIContainer(tornado.web.Application([("/", Page)])))

    assert site.fetch().body == b"page"


def test_error_of_an_application_is_answered_by_its_handler(site, caplog):
    container = {"fallback": WSGIContainer(_raises)}
    site.serve(("/", tornado.web.FallbackHandler, container))

    assert site.fetch().code == 500
    assert "ZeroDivisionError" in caplog.text


def test_container_answers_before_it_returns(site):
    class Container(WSGIContainer):
        def __call__(self, request):
            super().__call__(request)
            site.log.append(request.connection._response_start_line)

    def application(environ, start_response):
        start_response("200 OK", [("X-A", "1")])
        write = start_response("418 Teapot", [("X-A", "2")], None)
        write(b"written ")
        return [b"returned"]

    answer = site.serve(Container(application)).fetch()

    assert (answer.code, answer.body) == (418, b"written returned")
    assert answer.headers["X-A"] == "2"
    assert answer.headers["Content-Type"] == "text/html; charset=UTF-8"
    assert answer.headers["Server"].startswith("TornadoServer/")
    assert [line.code for line in site.log] == [418]


@pytest.mark.parametrize("way", ["executor", "method"])
def test_containers_of_today_work_as_today(site, way):
    class Container(WSGIContainer):
        async def handle_request(self, request):
            site.log.append("method")
            await super().handle_request(request)

    def application(environ, start_response):
        site.log.append(asyncio._get_running_loop())
        start_response("200 OK", [])
        return [b"ok"]

    with ThreadPoolExecutor() as executor:
        containers = {
            "executor": lambda: WSGIContainer(application, executor),
            "method": lambda: Container(application),
        }
        site.serve(containers[way]())
        assert site.fetch().body == b"ok"
    assert site.log[0] == (None if way == "executor" else "method")


ENVIRON = {
    "REQUEST_METHOD": "POST",
    "SCRIPT_NAME": "/app",
    "PATH_INFO": "/a b",
    "QUERY_STRING": "q=1",
    "CONTENT_TYPE": "application/x-www-form-urlencoded",
    "CONTENT_LENGTH": "3",
    "HTTP_X_OTHER": "2",
    "SERVER_NAME": "example.com",
    "REMOTE_ADDR": "1.2.3.4",
    "wsgi.url_scheme": "https",
}


@uses("tornado.wsgi.HTTPRequest")
def test_request_is_made_of_an_environment(compat):
    request = tornado.wsgi.HTTPRequest({**ENVIRON, "wsgi.input": io.BytesIO(b"b=2...")})

    assert request.full_url() == "https://example.com/app/a%20b?q=1"
    assert request.arguments == {"q": [b"1"], "b": [b"2"]}
    assert (request.body, request.remote_ip) == (b"b=2", "1.2.3.4")
    assert request.headers["X-Other"] == "2"
    assert isinstance(request, HTTPServerRequest)


def test_request_is_made_as_today(compat):
    start_line = RequestStartLine("GET", "/", "HTTP/1.0")

    assert tornado.wsgi.HTTPRequest(start_line=start_line).uri == "/"
    request = HTTPServerRequest(start_line=start_line)
    assert isinstance(request, tornado.wsgi.HTTPRequest)


@uses("tornado.wsgi.WSGIContainer.environ")
def test_environment_is_made_without_a_container(compat):
    request = HTTPServerRequest(start_line=RequestStartLine("GET", "/a", "HTTP/1.0"))
    container = WSGIContainer(print)

    for environ in WSGIContainer.environ(request), container.environ(request):
        assert environ["PATH_INFO"] == "/a"
        assert environ["wsgi.multithread"] is False


@uses("tornado.wsgi._dummy_future", "tornado.wsgi.from_wsgi_str")
def test_module_has_its_former_names(compat):
    async def wait():
        return await tornado.wsgi._dummy_future

    assert asyncio.run(wait()) is None
    assert tornado.wsgi.from_wsgi_str("caf\u00c3\u00a9").decode() == "caf\u00e9"
    assert gen.is_future(tornado.wsgi._dummy_future)
