"""One URL -> Fetched, or FetchError: one HTTP exchange, redirects not followed.

The client is any implementation of Tornado's `AsyncHTTPClient`; nothing here knows
which.  Rule: the caller asks for no more fetches at once than the client has
connections, so that waiting in the client's queue is never taken for a slow server.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Generator
from typing import Any, Protocol

import tornado
from tornado.httpclient import (
    AsyncHTTPClient,
    HTTPClientError,
    HTTPRequest,
    HTTPResponse,
)
from tornado.iostream import UnsatisfiableReadError
from tornado.netutil import Resolver
from tornado.simple_httpclient import HTTPTimeoutError
from tornado.util import import_object

from crawler_app.config import CLASS_BY_CLIENT, CrawlConfig
from crawler_app.errors import ConfigError, FetchError
from crawler_app.httpclient import (
    BadResponseError,
    PooledAsyncHTTPClient,
    ResponseTooLargeError,
)
from crawler_app.models import Fetched
from crawler_app.resolver import CachingResolver
from gencoro import gen

__all__ = ["Fetcher", "HttpFetcher", "client_class"]

# How far beyond the limit a client may read before it gives up by itself.  Its own
# limit closes the connection, which looks like any other fault; ours is reached first.
BODY_MARGIN_BYTES = 256 * 1024

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

HEADERS = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Fetcher(Protocol):
    """What the crawler needs of whatever fetches."""

    def fetch(self, url: str) -> "gen.Future[Fetched]":
        """Return a Future for the response; it fails with FetchError, and only that."""
        ...

    def close(self) -> None:
        """Let go of what is kept for later fetches; those under way may fail."""
        ...


class HttpFetcher:
    """Fetches with a Tornado client of its own.

    Raises:
        ConfigError: the configuration names a client that is not installed.
    """

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._resolver = CachingResolver()
        self._client = _make_client(config, self._resolver)

    @gen.coroutine
    def fetch(self, url: str) -> Generator[Any, Any, Fetched]:
        """Fetch a URL once; see `Fetcher`."""
        started_at = time.monotonic()
        if isinstance(self._client, PooledAsyncHTTPClient):
            response, body = yield from self._fetch(url)
        else:
            response, body = yield from self._fetch_bounded(url)
        took_s = time.monotonic() - started_at
        return Fetched(url, response.code, response.headers, body, took_s)

    def close(self) -> None:
        """Close the client; see `Fetcher`."""
        self._client.close()
        self._resolver.close()

    def _fetch(self, url: str) -> Generator[Any, Any, tuple[HTTPResponse, bytes]]:
        try:
            response = yield self._client.fetch(self._request(url), raise_error=False)
        except Exception as exc:  # sockets, TLS, time limits, broken HTTP: all of them
            raise _fetch_error(exc) from exc
        return response, response.body

    def _fetch_bounded(
        self, url: str
    ) -> Generator[Any, Any, tuple[HTTPResponse, bytes]]:
        """Fetch with a client that does not tell a body over the limit from a fault."""
        body = _Body(self._config.max_body_bytes)
        request = self._request(
            url, header_callback=body.take_header, streaming_callback=body.take_chunk
        )
        exchange = self._client.fetch(request, raise_error=False)
        # Should we be cancelled, nobody else looks at how it ends.
        exchange.add_done_callback(_retrieve)
        try:
            # Shielded: a client whose Future was cancelled under it logs how its
            # connection ends all the same.
            response = yield asyncio.shield(exchange)
        except Exception as exc:  # as above
            body.refuse_too_large()
            raise _fetch_error(exc) from exc
        body.refuse_too_large()
        return response, b"".join(body.chunks)

    def _request(self, url: str, **callbacks: Any) -> HTTPRequest:
        return HTTPRequest(
            url,
            headers=HEADERS,
            user_agent=self._config.user_agent,
            connect_timeout=self._config.connect_timeout_s,
            request_timeout=self._config.request_timeout_s,
            follow_redirects=False,
            decompress_response=True,
            **callbacks,
        )


def _retrieve(exchange: "asyncio.Future[Any]") -> None:
    if not exchange.cancelled():
        exchange.exception()


class _Body:
    """Collects a body up to a limit on what it is after decompression."""

    def __init__(self, max_bytes: int) -> None:
        self.chunks: list[bytes] = []
        self.is_too_large = False
        self._max_bytes = max_bytes
        self._size = 0

    def take_header(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            digits = value.strip()[:20]
            if digits.isascii() and digits.isdecimal():
                self.is_too_large |= int(digits) > self._max_bytes

    def take_chunk(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self.is_too_large |= self._size > self._max_bytes
        if self.is_too_large:
            self.chunks.clear()
        else:
            self.chunks.append(chunk)

    def refuse_too_large(self) -> None:
        if self.is_too_large:
            raise FetchError(
                "too_large",
                f"the body has more than {self._max_bytes} bytes",
                is_passing=False,
            ) from None


def client_class(name: str) -> type[AsyncHTTPClient]:
    """Return the class of a client.

    Raises:
        ConfigError: it is not installed.

    >>> client_class("simple").__name__
    'SimpleAsyncHTTPClient'
    """
    try:
        found: type[AsyncHTTPClient] = import_object(CLASS_BY_CLIENT[name])
    except ImportError as exc:
        raise ConfigError(
            f"the client {name!r} is not installed ({exc}); "
            "pip install pycurl, or use the client 'pooled'"
        ) from None
    return found


def _make_client(config: CrawlConfig, resolver: Resolver) -> AsyncHTTPClient:
    options: dict[str, Any] = {"max_clients": config.concurrency}
    if config.client != "curl":  # libcurl has its own
        options["resolver"] = resolver
    if config.client == "pooled":
        options["max_body_size"] = config.max_body_bytes
    elif config.client == "simple" or tornado.version_info >= (6, 6):
        # Before 6.6 curl_httpclient has no limit: it reads on until the request's time
        # is over, and what comes beyond ours is dropped as it comes.
        options["max_body_size"] = config.max_body_bytes + BODY_MARGIN_BYTES
    return client_class(config.client)(force_instance=True, **options)


def _fetch_error(exc: Exception) -> FetchError:
    """Say in one word what went wrong, whichever client met it, and whether it passes."""
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
    if not reason:
        is_late = isinstance(exc, HTTPTimeoutError)
        reason = "timeout" if is_late else "connection_closed"
    return FetchError(reason, text, is_passing=is_passing)
