"""tornado.web as code of Tornado 2 to 5 uses it: asynchronous handlers."""

import asyncio
import contextlib
import re
import sys

import pytest
import tornado.web
from tornado import gen
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.ioloop import IOLoop
from tornado.web import (
    Application,
    GZipContentEncoding,
    HTTPError,
    OutputTransform,
    RequestHandler,
    StaticFileHandler,
    stream_request_body,
    url,
)

import gencoro.compat
import gencoro.gen
from gencoro.legacy.engine import engine
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    StackContext,
    run_with_stack_context,
)
from tests.helpers.compat.rows import uses


def asynchronous(method):
    """Decorate when the class is made: the name is there while compat is installed."""
    return tornado.web.asynchronous(method)


def later(function, *args, **kwargs):
    IOLoop.current().add_callback(function, *args, **kwargs)


def later_with(value, callback):
    later(callback, value)


class Boom(Exception):
    pass


def fail(*_args):
    raise Boom("boom")


def _raise(error):
    raise error


# The decorator.


def _writes_and_finishes_later(self):
    self.write("first ")
    later(self.finish, "last")


def _refuses_later(self):
    later(_raise, HTTPError(418, reason="Short and stout"))


def _finishes_and_fails(self):
    self.finish("done")
    fail()


@gen.coroutine
def _waits_for_a_cancelled_future(self):
    future = asyncio.get_running_loop().create_future()
    later(future.cancel)
    yield future


def _yielding(gen_module, then):
    @gen_module.coroutine
    def get(self):
        yield gen.sleep(0)
        then(self)

    return get


async def _awaits(self):
    await asyncio.sleep(0)
    self.write("native")


@engine
def _waits_in_an_engine(self):
    self.finish((yield gencoro.gen.Task(later_with, "engine")))


@engine
def _fails_in_an_engine(self):
    yield gencoro.gen.moment
    fail()


def _is_a_plain_generator(self):
    yield gencoro.gen.moment


# In the words of Python, which are others since 3.14.
AWAITS_A_GENERATOR = (
    "TypeError: object generator can't be used in 'await' expression"
    if sys.version_info < (3, 14)
    else "TypeError: 'generator' object can't be awaited"
)

# What stands below the decorator; the status and the body; what is logged.
METHODS = {
    "finishes later": (_writes_and_finishes_later, 200, b"first last", ""),
    "fails later": (lambda self: later(later, fail), 500, b"500", "Boom: boom"),
    "refuses later": (_refuses_later, 418, b"418: Short and stout", "418 GET /"),
    "fails at once": (lambda self: fail(), 500, b"500", "Uncaught exception GET /"),
    "fails when finished": (_finishes_and_fails, 200, b"done", "Boom: boom"),
    "is cancelled": (_waits_for_a_cancelled_future, 500, b"500", ""),
    "coroutine": (
        _yielding(gencoro.gen, lambda self: self.write("co")),
        200,
        b"co",
        "",
    ),
    "Tornado's": (_yielding(gen, lambda self: self.write("co")), 200, b"co", ""),
    "failing coroutine": (_yielding(gencoro.gen, fail), 500, b"500", "Boom: boom"),
    "Tornado's that fails": (_yielding(gen, fail), 500, b"500", "Boom: boom"),
    "native coroutine": (_awaits, 200, b"native", ""),
    "engine": (_waits_in_an_engine, 200, b"engine", ""),
    "failing engine": (_fails_in_an_engine, 500, b"500", "Boom: boom"),
    "plain generator": (_is_a_plain_generator, 500, b"500", AWAITS_A_GENERATOR),
    "returns a text": (lambda self: "text", 500, b"500", "BadYieldError"),
}


@uses(
    "tornado.web.asynchronous",
    "tornado.web.RequestHandler._stack_context_handle_exception",
)
@pytest.mark.parametrize("name", METHODS)
def test_asynchronous_method_answers(site, caplog, name):
    method, code, body, logged = METHODS[name]

    class Handler(RequestHandler):
        get = asynchronous(method)

    response = site.serve(Handler).fetch()

    assert response.code == code
    assert body in response.body
    assert logged in caplog.text


def test_error_goes_through_methods_of_the_handler(site):
    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            later(fail)

        def _handle_request_exception(self, e):
            site.log.append(sys.exc_info()[1] is e)
            super()._handle_request_exception(e)

        def log_exception(self, typ, value, tb):
            site.log.append((typ, tb is not None))

        def write_error(self, status_code, **kwargs):
            self.finish(f"{status_code} {kwargs['exc_info'][1]!r}")

    assert site.serve(Handler).fetch().body == b"500 Boom('boom')"
    assert site.log == [True, (Boom, True)]


def test_error_after_the_response_has_begun_closes_it(site, caplog):
    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            self.set_header("Content-Length", "100")
            self.write("begun")
            self.flush()
            later(fail)

    site.serve(Handler)

    assert site.send(b"GET / HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\nbegun")
    assert "Boom: boom" in caplog.text
    assert "Cannot send error response after headers written" in caplog.text


def leave(site, ended, before_leaving=None):
    """Have a client leave once a handler is in the log; wait until that has ended."""

    async def leave():
        with contextlib.closing(await site.connect()) as stream:
            await stream.write(b"GET / HTTP/1.0\r\n\r\n")
            while not site.log:
                await asyncio.sleep(0)
            if before_leaving:
                before_leaving(site.log[0])
        await ended.wait()

    site.run(leave)


def test_error_when_the_client_has_gone_is_logged(site, caplog):
    has_failed = asyncio.Event()

    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            site.log.append(self)

        def on_connection_close(self):
            later(fail)

        def log_exception(self, *exc_info):
            super().log_exception(*exc_info)
            has_failed.set()

    def set_callback(handler):
        with ExceptionStackContext(handler._stack_context_handle_exception):
            handler.request.connection.set_close_callback(handler.on_connection_close)

    leave(site.serve(Handler), has_failed, set_callback)

    assert "Boom: boom" in caplog.text
    assert site.log[0]._finished


def test_closed_connection_of_a_client_is_not_an_error(site, caplog):
    has_left = asyncio.Event()
    answered = asyncio.Event()

    class Handler(RequestHandler):
        @asynchronous
        @gen.coroutine
        def get(self):
            site.log.append(self)
            yield has_left.wait()
            try:
                yield self.finish("too late")
            finally:
                later(later, answered.set)

        def on_connection_close(self):
            has_left.set()

    leave(site.serve(Handler), answered)

    assert "Uncaught exception" not in caplog.text


def test_asynchronous_below_a_coroutine_or_an_engine(site):
    class Handler(RequestHandler):
        @gencoro.gen.coroutine
        @asynchronous
        def get(self):
            later(self.finish, "below")

        @gencoro.gen.engine
        @asynchronous
        def post(self):
            answer = yield gencoro.gen.Task(later_with, "generator")
            self.finish(answer)

    site.serve(Handler)

    assert site.fetch().body == b"below"
    assert site.fetch(method="POST", body="").body == b"generator"


def test_prepare_may_be_asynchronous(site):
    class Handler(RequestHandler):
        @asynchronous
        def prepare(self):
            later(self.on_later)

        def on_later(self):
            self.finish("prepared")

        def get(self):
            self.write("got ")

    assert site.serve(Handler).fetch().body == b"got prepared"


def test_asynchronous_with_streamed_body(site):
    @stream_request_body
    class Handler(RequestHandler):
        @gencoro.gen.coroutine
        def prepare(self):
            self.chunks = []
            yield gencoro.gen.moment

        def data_received(self, chunk):
            self.chunks.append(chunk)

        @asynchronous
        def post(self):
            later(self.finish, b"".join(self.chunks))

        @asynchronous
        def put(self):
            later(fail)

    site.serve(Handler)

    assert site.fetch(method="POST", body="a body").body == b"a body"
    assert site.fetch(method="PUT", body="a body").code == 500


@uses("tornado.web.RequestHandler.async_callback")
def test_async_callback_brings_errors_to_the_handler(site, caplog):
    class Handler(RequestHandler):
        def get(self):
            self._auto_finish = False
            assert self.async_callback(None) is None
            callback = self.async_callback(self.on_later, "bound", two=2)
            asyncio.get_running_loop().call_soon(callback, "given")

        def on_later(self, *args, **kwargs):
            site.log.append((args, kwargs))
            if self.get_argument("flush", None):
                self.flush()
                asyncio.get_running_loop().call_soon(self.finish)
            raise HTTPError(404)

    site.serve(Handler)

    assert site.fetch().code == 404
    assert site.fetch("/?flush=1").code == 200
    assert site.log == [(("bound", "given"), {"two": 2})] * 2
    assert "after the headers were sent" in caplog.text


# Handlers that enter contexts around everything.


@pytest.fixture
def entered():
    return []


@pytest.fixture
def request_context(entered):
    @contextlib.contextmanager
    def request_context():
        entered.append("in")
        yield
        entered.pop()

    return request_context


@pytest.fixture
def base(request_context):
    class Base(RequestHandler):
        def _execute(self, transforms, *args, **kwargs):
            with StackContext(request_context):
                return super()._execute(transforms, *args, **kwargs)

    return Base


@uses("tornado.web.RequestHandler._execute")
def test_contexts_of_execute_reach_everything(site, base, entered):
    class Handler(base):
        async def prepare(self):
            site.log.append(list(entered))
            await asyncio.sleep(0)
            site.log.append(list(entered))

        @gen.coroutine
        def get(self):
            yield gen.sleep(0)
            site.log.append(list(entered))
            later(self.on_later)
            yield gen.sleep(0)
            self.write("ok")

        def on_later(self):
            site.log.append(list(entered))

    assert site.serve(Handler).fetch().body == b"ok"
    assert site.log == [["in"]] * 4
    assert entered == []


def test_contexts_of_execute_take_errors_of_callbacks(site):
    class Handler(RequestHandler):
        def _execute(self, *args, **kwargs):
            return run_with_stack_context(
                ExceptionStackContext(self.on_error),
                lambda: super(Handler, self)._execute(*args, **kwargs),
            )

        async def get(self):
            self._auto_finish = False
            await asyncio.sleep(0)
            later(fail)

        def on_error(self, typ, value, tb):
            self.finish(repr(value))
            return True

    assert site.serve(Handler).fetch().body == b"Boom('boom')"


@uses("tornado.web._HandlerDelegate.execute")
@pytest.mark.parametrize("has_contexts", [True, False])
def test_execute_need_not_return_anything(site, request_context, entered, has_contexts):
    class Handler(RequestHandler):
        def _execute(self, transforms, *args, **kwargs):
            with (
                StackContext(request_context)
                if has_contexts
                else (contextlib.nullcontext())
            ):
                super()._execute(transforms, *args, **kwargs)
            assert "_execute" not in vars(self)

        def get(self, name):
            self.write(f"{name} {entered}")

    site.serve(("/(.*)", Handler))

    assert site.fetch("/me").body == (b"me ['in']" if has_contexts else b"me []")


def test_contexts_do_not_leak_into_the_next_request(site, base, entered):
    class Other(RequestHandler):
        def get(self):
            self.write(str(entered))

    class Handler(base):
        def get(self):
            self.write(str(entered))

    site.serve(("/in", Handler), ("/out", Other))
    answer = site.send(
        b"GET /in HTTP/1.1\r\nHost: a\r\n\r\n"
        b"GET /out HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )

    assert re.findall(rb"\[.*\]", answer) == [b"['in']", b"[]"]


def test_modern_handler_has_its_own_task(site):
    class Handler(RequestHandler):
        async def get(self):
            async with asyncio.timeout(5):
                await asyncio.sleep(0)
            self.write(asyncio.current_task().get_coro().cr_code.co_name)

    class Overriding(Handler):
        async def _execute(self, *args, **kwargs):
            await super()._execute(*args, **kwargs)

    site.serve(("/", Handler), ("/own", Overriding))

    assert site.fetch("/").body == b"_execute"
    assert site.fetch("/own").body == b"_execute"


def test_execute_outside_of_contexts_is_the_original_coroutine(site):
    class Handler(RequestHandler):
        pass

    class NativeHandler(RequestHandler):
        async def _execute(self, *args, **kwargs):
            await super()._execute(*args, **kwargs)

    for handler_class in Handler, NativeHandler:
        handler = handler_class.__new__(handler_class)
        coroutine = RequestHandler._execute(handler, [])
        assert asyncio.iscoroutine(coroutine)
        coroutine.close()


# What a response is made with.


@uses("tornado.web.RequestHandler.flush")
@pytest.mark.parametrize("by_name", [True, False])
def test_flush_calls_back_when_written(site, by_name):
    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            self.count = 0
            self.go_on()

        def go_on(self):
            self.count += 1
            if self.count == 4:
                self.finish()
                return
            self.write(str(self.count))
            if by_name:
                assert self.flush(callback=self.go_on) is None
            else:
                assert self.flush(False, self.go_on) is None

    assert site.serve(Handler).fetch().body == b"123"


def test_flush_of_head_calls_back(site):
    class Handler(RequestHandler):
        @asynchronous
        def head(self):
            self.flush(callback=lambda: self.flush(callback=self.on_written))

        def on_written(self):
            site.log.append("written")
            self.finish()

    assert site.serve(Handler).fetch(method="HEAD").code == 200
    assert site.log == ["written"]


def test_flush_callback_has_contexts(site):
    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            self.set_header("Content-Length", "1")
            self.write("1")
            with ExceptionStackContext(self.on_error):
                self.flush(callback=fail)

        def on_error(self, typ, value, tb):
            site.log.append(value)
            self.finish()
            return True

    assert site.serve(Handler).fetch().body == b"1"
    assert [type(error) for error in site.log] == [Boom]


def test_finish_may_follow_flush_with_callback(site):
    class Handler(RequestHandler):
        def get(self):
            self.write("1")
            self.flush(callback=lambda: site.log.append("written"))

    assert site.serve(Handler).fetch().body == b"1"
    assert site.log == ["written"]


@uses(
    "tornado.web.RequestHandler.get_error_html",
    "tornado.web.RequestHandler.write_error",
)
def test_get_error_html_makes_the_page(site):
    class Handler(RequestHandler):
        def get(self):
            fail()

        def post(self):
            self.send_error(403)

        def get_error_html(self, status_code, **kwargs):
            error = kwargs.get("exception")
            return f"{status_code} {error!r} {sys.exc_info()[1] is error}"

    class Plain(RequestHandler):
        def get(self):
            fail()

    site.serve(("/", Handler), ("/plain", Plain))

    assert site.fetch("/").body == b"500 Boom('boom') True"
    assert site.fetch("/", method="POST", body="").body == b"403 None True"
    assert b"<title>500: Internal Server Error</title>" in site.fetch("/plain").body


def test_get_error_html_may_call_the_original(site):
    class Handler(RequestHandler):
        def get(self):
            self.send_error(404, reason="<None>")

        def get_error_html(self, status_code, **kwargs):
            return "mine: " + super().get_error_html(status_code, **kwargs)

    body = site.serve(Handler).fetch().body

    assert body.startswith(b"mine: <html><title>404:")


@uses(
    "tornado.web.RequestHandler.clear_cookie",
    "tornado.web.RequestHandler.clear_all_cookies",
)
def test_cookies_are_cleared_by_position(site):
    class Handler(RequestHandler):
        def get(self):
            self.clear_cookie("a", "/path", "example.com")
            self.clear_cookie("b", path="/path")
            self.clear_cookie("c")

        def post(self):
            self.clear_all_cookies("/path", "example.com")

    site.serve(Handler)
    cleared = site.fetch().headers.get_list("Set-Cookie")
    all_cleared = site.fetch(method="POST", body="", headers={"Cookie": "x=1; y=2"})

    assert "Domain=example.com" in cleared[0]
    assert ["Path=/path" in each for each in cleared] == [True, True, False]
    assert len(all_cleared.headers.get_list("Set-Cookie")) == 2
    for each in all_cleared.headers.get_list("Set-Cookie"):
        assert "Domain=example.com" in each and "Path=/path" in each


@uses("tornado.web.RequestHandler.set_status")
def test_reason_may_be_bytes(site):
    class Handler(RequestHandler):
        def get(self):
            self.set_status(404, reason=b"Gone Fishing")

        def post(self):
            self.set_status(404)

    site.serve(Handler)

    assert site.fetch().reason == "Gone Fishing"
    assert site.fetch(method="POST", body="").reason == "Not Found"


class DroppingFileHandler(StaticFileHandler):
    def get(self, path, include_body=True):
        super().get(path, include_body)


class ReturningFileHandler(StaticFileHandler):
    def get(self, path, include_body=True):
        return super().get(path, include_body)


class WaitingFileHandler(StaticFileHandler):
    @gen.coroutine
    def get(self, path, include_body=True):
        yield super().get(path, include_body)


class ModernFileHandler(StaticFileHandler):
    async def get(self, path, include_body=True):
        await super().get(path, include_body)
        assert not self._finished


class AuthenticatedFileHandler(ModernFileHandler):
    get = tornado.web.authenticated(ModernFileHandler.get)

    def get_current_user(self):
        return "me"


@uses("tornado.web.StaticFileHandler.get")
@pytest.mark.parametrize(
    "handler",
    [
        StaticFileHandler,
        DroppingFileHandler,
        ReturningFileHandler,
        WaitingFileHandler,
        ModernFileHandler,
        AuthenticatedFileHandler,
    ],
)
def test_static_files_of_subclasses(site, tmp_path, handler):
    (tmp_path / "file.txt").write_bytes(b"x" * 100_000)
    site.serve(("/(.*)", handler, {"path": str(tmp_path)}))

    assert site.fetch("/file.txt").body == b"x" * 100_000
    assert site.fetch("/file.txt", method="HEAD").headers["Content-Length"] == "100000"
    assert site.fetch("/missing.txt").code == 404


# Applications.


@uses("tornado.web.Application.__init__")
@pytest.mark.parametrize(
    ("args", "settings", "is_wsgi"),
    [
        (([], "", None, True), {}, True),
        (([],), {"wsgi": True, "debug": True}, True),
        (([],), {}, False),
    ],
)
def test_application_takes_wsgi(compat, args, settings, is_wsgi):
    app = Application(*args, **settings)

    assert app._wsgi is is_wsgi
    assert not app.settings.get("autoreload")


class Nothing(RequestHandler):
    pass


@uses("tornado.web.Application.handlers", "tornado.web.Application.named_handlers")
def test_handlers_of_application_are_listed(compat):
    app = Application([url("/a", Nothing, name="a"), ("/b", Nothing)])
    app.add_handlers(r"example\.com", [url("/c", Nothing, name="c")])

    listed = [
        (host.pattern, [spec.regex.pattern for spec in specs])
        for host, specs in app.handlers
    ]

    assert listed == [(r"example\.com$", ["/c$"]), (".*$", ["/a$", "/b$"])]
    assert {name: spec.regex.pattern for name, spec in app.named_handlers.items()} == {
        "a": "/a$",
        "c": "/c$",
    }


def test_application_may_have_handlers_of_its_own(compat):
    class Modern(Application):
        def __init__(self):
            self.handlers = [("/", Nothing)]
            super().__init__(self.handlers)

    assert Modern().handlers == [("/", Nothing)]
    assert Application.handlers is not None


@uses(
    "tornado.web.URLSpec._find_groups",
    "tornado.web.URLSpec._group_count",
    "tornado.web.URLSpec._path",
)
def test_url_tells_its_path(compat):
    spec = url("/user/([0-9]+)/(.*)", Nothing)

    assert spec._find_groups() == ("/user/%s/%s", 2)
    assert (spec._path, spec._group_count) == ("/user/%s/%s", 2)


class Shouting(OutputTransform):
    """As in Tornado 2.2, where a transform did not know of the status."""

    def transform_first_chunk(self, headers, chunk, finishing):
        headers, chunk = super().transform_first_chunk(headers, chunk, finishing)
        headers["X-Shout"] = "1"
        return headers, chunk.upper()

    def transform_chunk(self, chunk, finishing):
        return chunk.upper()


class Whispering(OutputTransform):
    def transform_first_chunk(self, status_code, headers, chunk, finishing):
        headers["X-Whisper"] = str(status_code)
        return super().transform_first_chunk(status_code, headers, chunk, finishing)


class TwoChunks(RequestHandler):
    def get(self):
        self.set_status(201)
        self.write("one ")
        self.flush()
        self.write("two")


@uses(
    "tornado.web.Application.add_transform",
    "tornado.web.OutputTransform.transform_first_chunk",
)
def test_transforms_need_not_know_of_the_status(site):
    app = Application([("/", TwoChunks)], None, [Shouting])
    app.add_transform(Whispering)
    app.add_transform(Shouting)
    response = site.serve(app).fetch()

    assert (response.code, response.body) == (201, b"ONE TWO")
    assert (response.headers["X-Shout"], response.headers["X-Whisper"]) == ("1", "201")


def test_transforms_of_today_are_taken_as_they_are(compat):
    app = Application([], None, [Whispering, GZipContentEncoding])
    app.add_transform(Whispering)

    assert app.transforms == [Whispering, GZipContentEncoding, Whispering]


@uses("tornado.web.GZipContentEncoding.transform_first_chunk")
def test_compression_need_not_know_of_the_status(compat):
    start_line = RequestStartLine("GET", "/", "HTTP/1.0")
    request = HTTPServerRequest(
        start_line=start_line, headers=HTTPHeaders({"Accept-Encoding": "gzip"})
    )
    transform = GZipContentEncoding(request)
    headers = HTTPHeaders({"Content-Type": "text/plain"})

    headers, chunk = transform.transform_first_chunk(headers, b"x" * 2000, True)

    assert headers["Content-Encoding"] == "gzip"
    assert chunk.startswith(b"\x1f\x8b")


@uses("tornado.web.ChunkedTransferEncoding")
def test_chunked_transfer_encoding_is_the_connections(site):
    encoding = tornado.web.ChunkedTransferEncoding
    response = site.serve(Application([("/", TwoChunks)], "", [encoding])).fetch()

    assert response.body == b"one two"
    assert response.headers["Transfer-Encoding"] == "chunked"


# Names.


@uses(
    "tornado.web.RequestHandler._ARG_DEFAULT",
    "tornado.web.RequestHandler._clear_headers_for_304",
    "tornado.web.RequestHandler._cookie_signature",
)
def test_handlers_have_their_former_helpers(site):
    class Handler(RequestHandler):
        def get_argument(self, name, default=None, strip=True):
            return super().get_argument(name, default or self._ARG_DEFAULT, strip)

        def get(self):
            self.set_header("Content-Language", "en")
            self._clear_headers_for_304()
            assert "Content-Language" not in self._headers
            self.write(self.get_argument("a") + " ")
            self.write(self._cookie_signature("a", b"b"))

    site.serve(Handler, cookie_secret="secret")

    assert site.fetch("/").code == 400
    assert site.fetch("/?a=1").body == (
        b"1 " + tornado.web._create_signature_v1("secret", "ab")
    )


@uses(
    "tornado.web.RequestHandler._INVALID_HEADER_CHAR_RE",
    "tornado.web._unquote_or_none",
)
def test_module_has_its_former_names(compat):
    assert RequestHandler._INVALID_HEADER_CHAR_RE.search("a\nb")
    assert not RequestHandler._INVALID_HEADER_CHAR_RE.search("a b")
    assert tornado.web._unquote_or_none("a%20b+c") == b"a b+c"
    assert tornado.web._unquote_or_none(None) is None


def test_asynchronous_handlers_outlive_uninstall(site):
    class Handler(RequestHandler):
        @asynchronous
        def get(self):
            gencoro.compat.uninstall()
            IOLoop.current().add_callback(self.fail)

        def fail(self):
            raise HTTPError(418)

    site.serve(Handler)
    try:
        assert site.fetch().code == 418
    finally:
        gencoro.compat.install()  # the fixture takes it away
