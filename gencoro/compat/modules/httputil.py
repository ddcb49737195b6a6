"""Legacy `tornado.httputil`: requests with a ``write`` method, and other names."""

import functools
import re
import time
from collections.abc import Callable
from typing import Any

from tornado.escape import utf8
from tornado.httputil import (
    HTTPHeaders,
    HTTPServerRequest,
    RequestStartLine,
    _normalize_header,
)

__all__ = [
    "CRLF",
    "NORMALIZED_HEADERS",
    "OCTAL_ESCAPE",
    "QUOTED_CHARACTER",
    "WORDS_OF_HEADER",
    "NormalizedHeaderCache",
    "finish",
    "join",
    "normalize_name",
    "request",
    "supports_http_1_1",
    "write",
]

CRLF = re.compile(r"\r?\n")
OCTAL_ESCAPE = re.compile(r"\\[0-3][0-7]{2}")
QUOTED_CHARACTER = re.compile(r"\\.")
WORDS_OF_HEADER = re.compile(r"^[A-Z0-9][a-z0-9]*(-[A-Z0-9][a-z0-9]*)*$")

join = "".join

normalize_name = staticmethod(_normalize_header)


class NormalizedHeaderCache(dict[str, str]):
    """Maps header names to their normalized form.

    Args:
        size: Has no effect; today's Tornado decides about the size of its cache.

    >>> NormalizedHeaderCache(10)["coNtent-TYPE"]
    'Content-Type'
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __missing__(self, key: str) -> str:
        return _normalize_header(key)


NORMALIZED_HEADERS = NormalizedHeaderCache(1000)


def supports_http_1_1(self: HTTPServerRequest) -> bool:
    """Return True if the request is of HTTP/1.1."""
    return self.version == "HTTP/1.1"


def write(
    self: HTTPServerRequest,
    chunk: bytes | str,
    callback: Callable[[], object] | None = None,
) -> None:
    """Write a part of the raw response, including its first line."""
    connection: Any = self.connection
    if callback is None:
        connection.write(utf8(chunk))
    else:
        connection.write(utf8(chunk), callback=callback)


def finish(self: HTTPServerRequest) -> None:
    """Finish the response."""
    connection: Any = self.connection
    connection.finish()
    self._finish_time = time.time()  # type: ignore[assignment]


# The positional parameters until Tornado 3, and from 4 on.
_ARGUMENTS_UNTIL_3 = (
    *("method", "uri", "version", "headers", "body", "remote_ip", "protocol", "host"),
    *("files", "connection"),
)
_ARGUMENTS = (
    *("method", "uri", "version", "headers", "body", "host", "files", "connection"),
    *("start_line", "server_connection"),
)


# Parameters that today's request does not have.
_GONE = ("remote_ip", "protocol")


def request(original: Callable[..., None]) -> Callable[..., None]:
    """Accept the parts of the first line, an address and a protocol, and a missing host."""

    @functools.wraps(original)
    def wrapper(self: HTTPServerRequest, *args: Any, **kwargs: Any) -> None:
        given = {**_by_name(args), **kwargs}
        after = {name: given.pop(name) for name in _GONE if name in given}
        # Tornado 6.7 accepts no other form.
        method, uri = given.pop("method", None), given.pop("uri", None)
        version = given.pop("version", None) or "HTTP/1.0"
        line = given.pop("start_line", None)
        if line is None:
            line = RequestStartLine(method or "GET", uri or "/", version)
        if host := given.pop("host", None):
            given["headers"] = HTTPHeaders(given.get("headers") or {})
            given["headers"]["Host"] = host
        if "Host" not in (given.get("headers") or ()):
            # Create an HTTP/1.0 request, which needs no host, and set the version later.
            after["version"] = line.version
            line = line._replace(version="HTTP/1.0")
        original(self, start_line=line, **given)
        for name, value in after.items():
            if value is not None:
                setattr(self, name, value)

    return wrapper


def _by_name(args: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments by name; a string in places 6 to 7 is from Tornado 3."""
    names = _ARGUMENTS
    if any(isinstance(value, str) for value in args[6:8]):
        names = _ARGUMENTS_UNTIL_3
    return dict(zip(names, args, strict=False))
