"""Legacy `tornado.wsgi`: Tornado applications called by a WSGI server.

Rule: a call returns when the request is answered.  Meanwhile it runs its own loop, so
that coroutines work; features that need the server's loop, such as WebSockets, need
Tornado's server.
"""

import asyncio
import contextlib
import functools
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tornado.escape import native_str
from tornado.http1connection import parse_int
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPInputError,
    HTTPOutputError,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.web import Application
from tornado.wsgi import WSGIContainer, dummy_executor

from gencoro.compat.calls.io_loop_arguments import running_loop_replaced
from gencoro.compat.calls.wsgi_applications import answer
from gencoro.compat.modules.concurrent import Future

__all__ = [
    "HTTPRequest",
    "WSGIAdapter",
    "WSGIApplication",
    "WSGIConnection",
    "WSGIRequestContext",
    "call_container",
    "dummy_future",
    "environ",
    "from_wsgi_str",
]


# The longest wait for tasks that a request has left running, in seconds.
END_WITHIN_S = 1.0


def from_wsgi_str(s: str) -> bytes:
    """Return the bytes of a WSGI string.

    >>> from_wsgi_str("caf\\xc3\\xa9").decode()
    'café'
    """
    return s.encode("latin1")


# Always done: a WSGI server passes the whole request, so there is nothing to wait for.
dummy_future: Future[None] = Future()
dummy_future.set_result(None)


class WSGIRequestContext:
    """The client's address and protocol of a request."""

    def __init__(self, remote_ip: str, protocol: str) -> None:
        self.remote_ip = remote_ip
        self.protocol = protocol

    def __str__(self) -> str:
        return self.remote_ip


class WSGIConnection(HTTPConnection):
    """Collects the response to one request.

    Attributes:
        is_finished: Whether the response is complete.
        error: Why it cannot be completed.
        chunks: Its body so far.
    """

    def __init__(
        self,
        method: str,
        start_response: Callable[[str, list[tuple[str, str]]], object],
        context: WSGIRequestContext,
    ) -> None:
        self.method = method
        self.start_response = start_response
        self.context = context
        self.is_finished = False
        self.error: HTTPOutputError | None = None
        self.chunks: list[bytes] = []
        self._bytes_to_come: int | None = None

    def set_close_callback(self, callback: Callable[[], object] | None) -> None:
        """Do nothing: a WSGI server does not report that a client has disconnected."""

    def write_headers(
        self,
        start_line: "RequestStartLine | ResponseStartLine",
        headers: HTTPHeaders,
        chunk: bytes | None = None,
        callback: Callable[[], object] | None = None,
    ) -> Any:
        """Start the response."""
        assert isinstance(start_line, ResponseStartLine)
        if self.method == "HEAD":
            self._bytes_to_come = 0
        elif "Content-Length" in headers:
            self._bytes_to_come = int(headers["Content-Length"])
        self.start_response(
            f"{start_line.code} {start_line.reason}",
            [
                (native_str(name), native_str(value))
                for name, value in headers.get_all()
            ],
        )
        return self.write(chunk or b"", callback)

    def write(self, chunk: bytes, callback: Callable[[], object] | None = None) -> Any:
        """Add a chunk to the body.

        Raises:
            HTTPOutputError: the body is longer than its Content-Length.
        """
        if self._bytes_to_come is not None:
            self._bytes_to_come -= len(chunk)
            if self._bytes_to_come < 0:
                self._fail(-self._bytes_to_come, "more")
        self.chunks.append(chunk)
        if callback is not None:
            callback()
        return dummy_future

    def finish(self) -> None:
        """Finish the response.

        Raises:
            HTTPOutputError: the body is shorter than its Content-Length.
        """
        if self._bytes_to_come:
            self._fail(self._bytes_to_come, "less")
        self.is_finished = True

    def _fail(self, size_bytes: int, direction: str) -> None:
        self.error = HTTPOutputError(
            f"wrote {size_bytes} bytes {direction} than Content-Length says"
        )
        raise self.error


class WSGIAdapter:
    """Makes a Tornado application callable as a WSGI application.

    Args:
        application: A `tornado.web.Application`, or a function that takes a request.

    >>> from tornado.web import Application
    >>> from wsgiref.util import setup_testing_defaults
    >>> environ = {}
    >>> setup_testing_defaults(environ)
    >>> WSGIAdapter(Application())(environ, lambda status, headers: print(status))
    404 Not Found
    [b'<html><title>404: Not Found</title><body>404: Not Found</body></html>']
    """

    def __init__(self, application: Callable[[HTTPServerRequest], object]) -> None:
        self._of_tornado = self.application = application
        if isinstance(application, WSGIApplication):
            # Its own __call__ creates an adapter.
            self.application = functools.partial(Application.__call__, application)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        """Handle one request."""
        context = WSGIRequestContext(
            environ.get("REMOTE_ADDR", ""), environ["wsgi.url_scheme"]
        )
        connection = WSGIConnection(environ["REQUEST_METHOD"], start_response, context)
        try:
            request = HTTPServerRequest(
                connection=connection, **_request_arguments(environ)
            )
            if not isinstance(self._of_tornado, Application):  # which parses it later
                request._parse_body()
        except (HTTPInputError, ValueError):
            start_response("400 Bad Request", [("Content-Type", "text/plain")])
            return [b"Bad Request"]
        with _own_loop() as loop:
            loop.run_until_complete(self._answer(request, connection))
        if connection.error is not None:
            raise connection.error
        if not connection.is_finished:
            raise RuntimeError(
                f"{request.method} {request.uri} returned without a response; a WSGI "
                "server waits for coroutines, but not for callbacks: use "
                "tornado.httpserver"
            )
        return connection.chunks

    async def _answer(
        self, request: HTTPServerRequest, connection: WSGIConnection
    ) -> None:
        this_task = asyncio.current_task()
        self.application(request)
        while tasks := asyncio.all_tasks() - {this_task}:
            # First the tasks that handle the request, then those that they have started.
            await asyncio.wait(tasks)
            if connection.is_finished:
                break


class WSGIApplication(Application):
    """A Tornado application that is a WSGI application too."""

    def __call__(  # type: ignore[override]
        self, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        """Handle one request."""
        return WSGIAdapter(self)(environ, start_response)  # type: ignore[arg-type]


class _RequestType(type):
    """Makes every HTTPServerRequest an instance: that is the class's name today."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, HTTPServerRequest)


class HTTPRequest(HTTPServerRequest, metaclass=_RequestType):
    """A request, created from a WSGI ``environ``, as in Tornado 3, or as today."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        environ = kwargs.get("environ", args[0] if args else None)
        if not isinstance(environ, dict):
            super().__init__(*args, **kwargs)
            return
        super().__init__(**_request_arguments(environ))
        self.remote_ip = environ.get("REMOTE_ADDR", "")
        self.protocol = environ["wsgi.url_scheme"]
        self._parse_body()


_OF_BODY = ("CONTENT_LENGTH", "CONTENT_TYPE")


def _request_arguments(environ: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request for a WSGI ``environ``, and read its body.

    Raises:
        HTTPInputError: a header is invalid.
        ValueError: the length of the body is not a number.
    """
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    uri = urllib.parse.quote(from_wsgi_str(path))
    if environ.get("QUERY_STRING"):
        uri += "?" + environ["QUERY_STRING"]
    headers = HTTPHeaders()
    for key, value in environ.items():
        name = key.removeprefix("HTTP_")
        # The length and the type come from the server, and never from a client's header.
        if value and (key in _OF_BODY or (name != key and name not in _OF_BODY)):
            headers.add(name.replace("_", "-"), value)
    if "Host" not in headers:
        headers["Host"] = environ["SERVER_NAME"]
    size_bytes = parse_int(headers.get("Content-Length", "0"))
    return {
        "start_line": RequestStartLine(environ["REQUEST_METHOD"], uri, "HTTP/1.1"),
        "headers": headers,
        "body": environ["wsgi.input"].read(size_bytes) if size_bytes else b"",
    }


@contextlib.contextmanager
def _own_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Use a new event loop in a ``with`` block, even while another one is running."""
    loop = asyncio.new_event_loop()
    with running_loop_replaced():
        try:
            yield loop
        finally:
            _end_tasks(loop)
            loop.close()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=END_WITHIN_S))


def call_container(original: Callable[..., None]) -> Callable[..., None]:
    """Answer a request before the call returns, and raise the application's error.

    The caller of the container then closes the connection, or sends its own error page.
    Containers with an executor or with a method ``handle_request`` of their own work as
    today.  An application of Tornado, which servers such as gunicorn 20 pass too, answers
    by itself.
    """

    @functools.wraps(original)
    def wrapper(self: WSGIContainer, request: HTTPServerRequest) -> None:
        own = type(self).handle_request
        if _is_no_wsgi(self.wsgi_application):
            self.wsgi_application(request)  # type: ignore[arg-type, call-arg]
        elif self.executor is dummy_executor and own is WSGIContainer.handle_request:
            answer(self, request)
        else:
            original(self, request)

    return wrapper


def _is_no_wsgi(application: Any) -> bool:
    return isinstance(application, Application) and not isinstance(
        application, WSGIApplication
    )


def environ(original: Any) -> Callable[..., dict[str, Any]]:
    """Allow a method to be called on the class, with only the request."""

    @functools.wraps(original)
    def wrapper(self: Any, request: HTTPServerRequest | None = None) -> dict[str, Any]:
        if request is None:
            made: dict[str, Any] = original(_ON_THIS_THREAD, self)
        else:
            made = original(self, request)
        return made

    return wrapper


def _no_application(
    _environ: dict[str, Any], _start_response: Callable[..., object]
) -> Iterable[bytes]:
    return []


_ON_THIS_THREAD = WSGIContainer(_no_application)
