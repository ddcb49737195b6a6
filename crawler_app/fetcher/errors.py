"""What an `AsyncHTTPClient` fails with, in one word each, whichever client it is."""

import socket
import ssl

from tornado.httpclient import HTTPClientError
from tornado.iostream import UnsatisfiableReadError
from tornado.simple_httpclient import HTTPTimeoutError

from crawler_app.errors import FetchError
from crawler_app.httpclient import BadResponseError, ResponseTooLargeError

__all__ = ["fetch_error"]

# libcurl's CURLE_ codes that have a name of their own here, and whether they may pass.
REASON_BY_CURL_ERROR = {
    3: ("bad_request", False),  # URL_MALFORMAT
    6: ("dns", True),  # COULDNT_RESOLVE_HOST
    7: ("refused", True),  # COULDNT_CONNECT
    28: ("timeout", True),  # OPERATION_TIMEDOUT
    35: ("tls", False),  # SSL_CONNECT_ERROR
    60: ("tls", False),  # PEER_FAILED_VERIFICATION
    100: ("too_large", False),  # TOO_LARGE: the head, or what a chunk unpacks to
}


def fetch_error(exc: Exception) -> FetchError:
    """Say what went wrong, and whether it passes.

    >>> error = fetch_error(ConnectionRefusedError("nobody listens"))
    >>> error.reason, error.is_passing
    ('refused', True)
    """
    text = str(exc) or type(exc).__name__
    if isinstance(exc, ssl.SSLError):
        return FetchError("tls", text, is_passing=False)
    if isinstance(exc, socket.gaierror):
        return FetchError("dns", text, is_passing=True)
    if isinstance(exc, ConnectionRefusedError):
        return FetchError("refused", text, is_passing=True)
    if isinstance(exc, OSError):
        return FetchError("network", text, is_passing=True)
    if isinstance(exc, UnsatisfiableReadError):
        return FetchError("too_large", f"the head: {text}", is_passing=False)
    if isinstance(exc, ResponseTooLargeError):
        return FetchError("too_large", text, is_passing=False)
    if isinstance(exc, BadResponseError):
        return FetchError("bad_response", text, is_passing=False)
    if isinstance(exc, HTTPClientError):  # code 599: the clients' own faults
        return _client_error(exc, text.removeprefix("HTTP 599: "))
    return FetchError("bad_request", f"{type(exc).__name__}: {text}", is_passing=False)


def _client_error(exc: HTTPClientError, text: str) -> FetchError:
    reason, is_passing = REASON_BY_CURL_ERROR.get(getattr(exc, "errno", 0), ("", True))
    if not reason or text.startswith("CONNECT tunnel"):  # of 7, too: by the proxy
        is_late = isinstance(exc, HTTPTimeoutError)
        reason = "timeout" if is_late else "connection_closed"
    return FetchError(reason, text, is_passing=is_passing)
