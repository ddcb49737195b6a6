"""Calls of a WSGI application by Tornado's server, as until Tornado 6.2.

Rule: nothing is caught.  What the application raises, or what is wrong with its response,
reaches the caller of the container, which then closes the connection or sends an error page.
"""

from collections.abc import Callable, Iterable
from typing import Any

import tornado
from tornado.escape import utf8
from tornado.httputil import HTTPHeaders, HTTPServerRequest, ResponseStartLine
from tornado.wsgi import WSGIContainer

__all__ = ["answer"]

# What an application passes to start_response.
_Start = tuple[str, list[tuple[str, str]]]


def answer(container: WSGIContainer, request: HTTPServerRequest) -> None:
    """Call the application of a container, and write its response.

    Raises:
        RuntimeError: the application did not call ``start_response``.
    """
    (status, headers), body = _call(
        container.wsgi_application, container.environ(request)
    )
    code, reason = status.split(" ", 1)
    for name, value in _defaults(int(code), body):
        if name.lower() not in {own.lower() for own, _ in headers}:
            headers.append((name, value))
    fields = HTTPHeaders()
    for name, value in headers:
        fields.add(name, value)
    start_line = ResponseStartLine("HTTP/1.1", int(code), reason)
    assert request.connection is not None, "a server has made the request"
    request.connection.write_headers(start_line, fields, chunk=body)
    request.connection.finish()
    # Tornado's own access log, which has no public function.
    container._log(int(code), request)


def _call(
    application: Callable[..., Iterable[bytes]], environ: dict[str, Any]
) -> tuple[_Start, bytes]:
    starts: list[_Start] = []
    chunks: list[bytes] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], object]:
        del exc_info
        starts.append((status, headers))
        return chunks.append

    result = application(environ, start_response)
    try:
        chunks.extend(result)
    finally:
        if hasattr(result, "close"):
            result.close()
    if not starts:
        raise RuntimeError("the WSGI application did not call start_response")
    # An application that fails may start its response again.
    return starts[-1], utf8(b"".join(chunks))


def _defaults(code: int, body: bytes) -> list[tuple[str, str]]:
    """Return the headers of a response that does not have them itself."""
    of_body = [
        ("Content-Length", str(len(body))),
        ("Content-Type", "text/html; charset=UTF-8"),
    ]
    server = ("Server", f"TornadoServer/{tornado.version}")
    return [*(of_body if code != 304 else []), server]
