"""Turns the exceptions of `requests` into a `FetchError`.

`requests` wraps exceptions of urllib3, which wraps those of http.client, so the reason is
searched for in the whole chain.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator

import requests
import urllib3.exceptions
from tornado.httputil import HTTPInputError

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import Reason
from crawler_app.web.httpclient.errors import BadResponseError, ResponseTooLargeError

__all__ = ["requests_error"]

# The first row that matches any error of the chain wins.  The order matters: an
# InvalidChunkLength is an IncompleteRead, and a RemoteDisconnected is a BadStatusLine.
REASONS: tuple[tuple[Reason, tuple[type[BaseException], ...]], ...] = (
    (Reason.TLS, (ssl.SSLError, requests.exceptions.SSLError)),
    (Reason.DNS, (socket.gaierror,)),
    (Reason.CONNECTION_REFUSED, (ConnectionRefusedError,)),
    (Reason.PROXY_ERROR, (requests.exceptions.ProxyError,)),
    (
        Reason.TIMEOUT,
        (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError),
    ),
    (Reason.TOO_LARGE, (ResponseTooLargeError, http.client.LineTooLong)),
    (Reason.BAD_RESPONSE, (urllib3.exceptions.InvalidChunkLength,)),
    (
        Reason.CONNECTION_CLOSED,
        (
            ConnectionResetError,  # http.client.RemoteDisconnected is one too
            ConnectionAbortedError,
            BrokenPipeError,
            http.client.IncompleteRead,
        ),
    ),
    (
        Reason.BAD_RESPONSE,
        (
            BadResponseError,
            HTTPInputError,
            http.client.BadStatusLine,
            http.client.UnknownProtocol,
            urllib3.exceptions.InvalidHeader,
            requests.exceptions.ContentDecodingError,
        ),
    ),
    (
        Reason.BAD_REQUEST,
        (
            UnicodeError,
            http.client.InvalidURL,
            urllib3.exceptions.LocationValueError,
            requests.exceptions.InvalidURL,
            requests.exceptions.InvalidSchema,
            requests.exceptions.InvalidHeader,
        ),
    ),
)


def requests_error(exc: Exception) -> FetchError:
    """Return the error with its reason, which tells whether it is worth a retry.

    >>> error = requests_error(requests.ConnectTimeout("too late"))
    >>> error.reason, error.is_passing
    (<Reason.TIMEOUT: 'timeout'>, True)
    """
    chain = list(_chain(exc))
    text = str(exc) or type(exc).__name__
    for reason, types in REASONS:
        if any(isinstance(each, types) for each in chain):
            return FetchError(reason, text)
    if any(_is_too_many_headers(each) for each in chain):
        return FetchError(Reason.TOO_LARGE, f"the head: {text}")
    # Only Python's own: the exceptions of requests are OSErrors too.
    if any(
        isinstance(each, OSError) and type(each).__module__ == "builtins"
        for each in chain
    ):
        return FetchError(Reason.NETWORK, text)
    if any(isinstance(each, urllib3.exceptions.ProtocolError) for each in chain):
        return FetchError(Reason.CONNECTION_CLOSED, text)
    if isinstance(exc, requests.RequestException | OSError):
        return FetchError(Reason.NETWORK, text)
    return FetchError(Reason.BAD_REQUEST, f"{type(exc).__name__}: {text}")


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and those it wraps."""
    seen: dict[int, BaseException] = {}
    waiting: list[object] = [exc]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, BaseException) and id(each) not in seen:
            seen[id(each)] = each
            yield each
            reason = getattr(each, "reason", None)
            waiting += [reason, *each.args, each.__cause__, each.__context__]


def _is_too_many_headers(exc: BaseException) -> bool:
    """Return whether http.client found too many headers; it has no class for that."""
    return type(exc) is http.client.HTTPException
