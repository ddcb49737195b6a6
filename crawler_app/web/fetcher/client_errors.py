"""Turns the exceptions of any `AsyncHTTPClient` into a `FetchError`."""

import socket
import ssl

from tornado.httpclient import HTTPClientError
from tornado.iostream import UnsatisfiableReadError
from tornado.simple_httpclient import HTTPTimeoutError

from crawler_app.base.errors import FetchError, StaleConnectionError
from crawler_app.base.reasons import HOST_FAULTS, Reason
from crawler_app.web.httpclient import (
    AmbiguousResponseError,
    BadResponseError,
    ConnectionWasIdleError,
    ProxyError,
    ResponseTooLargeError,
)

__all__ = ["fetch_error", "of_proxy"]

# libcurl's CURLE_ codes that have a reason of their own.
REASON_BY_CURL_ERROR = {
    3: Reason.BAD_REQUEST,  # URL_MALFORMAT
    5: Reason.DNS,  # COULDNT_RESOLVE_PROXY
    6: Reason.DNS,  # COULDNT_RESOLVE_HOST
    7: Reason.CONNECTION_REFUSED,  # COULDNT_CONNECT
    28: Reason.TIMEOUT,  # OPERATION_TIMEDOUT
    35: Reason.TLS,  # SSL_CONNECT_ERROR
    60: Reason.TLS,  # PEER_FAILED_VERIFICATION
    100: Reason.TOO_LARGE,  # TOO_LARGE: the head, or a decompressed chunk
}


def fetch_error(exc: Exception) -> FetchError:
    """Return the error with its reason, which tells whether it is worth a retry.

    >>> error = fetch_error(ConnectionRefusedError("connection refused"))
    >>> error.reason, error.is_passing
    (<Reason.CONNECTION_REFUSED: 'refused'>, True)
    """
    text = str(exc) or type(exc).__name__
    if isinstance(exc, ssl.SSLError):
        return FetchError(Reason.TLS, text)
    if isinstance(exc, socket.gaierror):
        return FetchError(Reason.DNS, text)
    if isinstance(exc, ConnectionRefusedError):
        return FetchError(Reason.CONNECTION_REFUSED, text)
    if isinstance(exc, ConnectionError):
        # Reset, or aborted, after it was made: this may be due to the request.
        return FetchError(Reason.CONNECTION_CLOSED, text)
    if isinstance(exc, OSError):
        return FetchError(Reason.NETWORK, text)
    if isinstance(exc, UnsatisfiableReadError):
        return FetchError(Reason.TOO_LARGE, f"the head: {text}")
    if isinstance(exc, ResponseTooLargeError):
        return FetchError(Reason.TOO_LARGE, text)
    if isinstance(exc, ProxyError):
        return FetchError(Reason.PROXY_ERROR, text)
    if isinstance(exc, ConnectionWasIdleError):
        return StaleConnectionError(Reason.CONNECTION_CLOSED, text)
    if isinstance(exc, AmbiguousResponseError):
        return FetchError(Reason.DANGEROUS, text)
    if isinstance(exc, BadResponseError):
        return FetchError(Reason.BAD_RESPONSE, text)
    if isinstance(exc, HTTPClientError):  # code 599: errors of the client itself
        return _client_error(exc, text.removeprefix("HTTP 599: "))
    return FetchError(Reason.BAD_REQUEST, f"{type(exc).__name__}: {text}")


def of_proxy(error: FetchError) -> FetchError:
    """Return the error of a fetch through a proxy, which alone connects to the host.

    >>> of_proxy(FetchError(Reason.CONNECTION_REFUSED, "connection refused")).reason
    <Reason.PROXY_ERROR: 'proxy_error'>
    """
    return (
        FetchError(Reason.PROXY_ERROR, str(error))
        if error.reason in HOST_FAULTS
        else error
    )


def _client_error(exc: HTTPClientError, text: str) -> FetchError:
    if text.startswith("CONNECT tunnel"):
        return FetchError(Reason.PROXY_ERROR, text)
    reason = REASON_BY_CURL_ERROR.get(getattr(exc, "errno", 0))
    if reason is None:
        is_late = isinstance(exc, HTTPTimeoutError)
        reason = Reason.TIMEOUT if is_late else Reason.CONNECTION_CLOSED
    return FetchError(reason, text)
