"""The exceptions of the HTTP client, as one tree::

    tornado.httpclient.HTTPClientError
    +-- ProxyError                     the proxy refused the tunnel
    +-- tornado.simple_httpclient.HTTPStreamClosedError
        +-- BadResponseError           the response is not valid HTTP/1.x or cannot be decoded
        |   +-- AmbiguousResponseError     two readers could understand it differently
        +-- ConnectionWasIdleError     the server closed the connection while it was idle
        +-- ResponseTooLargeError      a head or a body exceeds its limit

All have the code 599, which Tornado's clients use if there is no usable response.  Sockets
and TLS fail with `OSError` and `ssl.SSLError`, timeouts with
`tornado.simple_httpclient.HTTPTimeoutError`, and an invalid request with `ValueError`.
"""

from tornado.httpclient import HTTPClientError
from tornado.simple_httpclient import HTTPStreamClosedError

__all__ = [
    "AmbiguousResponseError",
    "BadResponseError",
    "ConnectionWasIdleError",
    "ProxyError",
    "ResponseTooLargeError",
]


class BadResponseError(HTTPStreamClosedError):
    """The response is not valid HTTP/1.x; the connection was closed.

    Attributes:
        is_tls: Whether the server has answered plain HTTP in TLS, with an alert.
    """

    is_tls = False


class AmbiguousResponseError(BadResponseError):
    """The response could be understood in two ways, which attacks such as smuggling exploit.

    A client that is not lenient rejects most of these as invalid, without a further look.
    """


class ConnectionWasIdleError(HTTPStreamClosedError):
    """The server closed a connection that was kept; a request may be sent again.

    Only with ``resends`` off: otherwise the client does that.
    """


class ResponseTooLargeError(HTTPStreamClosedError):
    """The response exceeds ``max_header_size`` or ``max_body_size``."""


class ProxyError(HTTPClientError):
    """The proxy refused a tunnel."""

    def __init__(self, message: str) -> None:
        super().__init__(599, message)
