"""What comes out of a fetch besides Tornado's own errors, as one tree::

    tornado.httpclient.HTTPClientError
    +-- ProxyError                     the proxy would not let us through
    +-- tornado.simple_httpclient.HTTPStreamClosedError
        +-- BadResponseError           what came is no HTTP/1.x, or its coding is broken
        +-- ResponseTooLargeError      a head or a body beyond its limit

All have the code 599, as every failure of Tornado's clients without a usable response.
Sockets and TLS fail with `OSError` and `ssl.SSLError`, time limits with
`tornado.simple_httpclient.HTTPTimeoutError`, and a request that cannot be sent with
`ValueError`.
"""

from tornado.httpclient import HTTPClientError
from tornado.simple_httpclient import HTTPStreamClosedError

__all__ = ["BadResponseError", "ProxyError", "ResponseTooLargeError"]


class BadResponseError(HTTPStreamClosedError):
    """The peer sent what is no valid HTTP/1.x response, and its connection was closed."""


class ResponseTooLargeError(HTTPStreamClosedError):
    """The response went beyond ``max_header_size`` or ``max_body_size``."""


class ProxyError(HTTPClientError):
    """The proxy refused a tunnel."""

    def __init__(self, message: str) -> None:
        super().__init__(599, message)
