"""The fetcher over any implementation of Tornado's `AsyncHTTPClient`.

Rule: the caller starts no more fetches at a time than the client has connections, so that
time spent in the client's queue never counts as request time.
"""

import resource
import socket
import time
from collections.abc import Generator
from typing import Any, cast
from urllib.parse import urlsplit

import tornado
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.netutil import Resolver
from tornado.util import import_object

from crawler_app.base.config import REQUESTS, CrawlConfig
from crawler_app.base.errors import ConfigError, FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import origin_of
from crawler_app.web.fetcher.client_errors import (
    fetch_error,
    of_proxy,
    refuse_answer,
    wrong_scheme,
)
from crawler_app.web.fetcher.cookies import OnCookies
from crawler_app.web.fetcher.curl import CurlExchange
from crawler_app.web.fetcher.request_policy import RequestPolicy
from crawler_app.web.fetcher.resolver import CachingResolver
from crawler_app.web.fetcher.response_collector import ResponseCollector, decoded
from crawler_app.web.fetcher.tls_files import own_context
from crawler_app.web.httpclient.client import PooledAsyncHTTPClient
from crawler_app.web.httpclient.codings import ACCEPTED
from crawler_app.web.httpclient.dialing import AddressCheck, allowed_addresses
from crawler_app.web.httpclient.request import Proxy
from crawler_app.web.httpclient.response import PooledHTTPResponse
from gencoro import gen
from gencoro.concurrent import Future, chain_future

__all__ = ["HttpFetcher", "class_of", "request_options"]

# Implementations of AsyncHTTPClient, and one of a fetcher; by name, since what they import may not
# be installed.
CLASS_BY_CLIENT = {
    "pooled": "crawler_app.web.httpclient.client.PooledAsyncHTTPClient",
    "simple": "tornado.simple_httpclient.SimpleAsyncHTTPClient",
    "curl": "tornado.curl_httpclient.CurlAsyncHTTPClient",
    REQUESTS: "crawler_app.web.fetcher.requests_backend.RequestsFetcher",
}
PACKAGE_BY_CLIENT = {"curl": "pycurl", REQUESTS: "requests"}

# How far beyond our limit a client may read before its own limit applies.  The client's
# limit closes the connection, which looks like any other error; ours is reached first.
BODY_MARGIN_BYTES = 256 * 1024

# The limit of Chromium.
MAX_HEAD_BYTES = 256 * 1024

# Idle connections to all hosts.  A crawl returns to each of its hosts, so more than the 256 of
# Chromium save connections.
MAX_IDLE = 1024


def class_of(client: str) -> Any:
    """Return the class of a client, by its name in the configuration.

    Raises:
        ConfigError: the client's package is not installed.

    >>> class_of("simple").__name__
    'SimpleAsyncHTTPClient'
    """
    try:
        return import_object(CLASS_BY_CLIENT[client])
    except ImportError as exc:
        raise ConfigError(
            f"the client {client!r} is not installed ({exc}); "
            f"pip install {PACKAGE_BY_CLIENT[client]}, or use the client 'pooled'"
        ) from None


class HttpFetcher:
    """Fetches with a Tornado client of its own.

    Args:
        on_cookies: As `CookieStore` has it.

    Raises:
        ConfigError: the client is not installed, or does not support an option.
    """

    def __init__(
        self, config: CrawlConfig, on_cookies: OnCookies | None = None
    ) -> None:
        self._config = config
        self.policy = RequestPolicy(config, ACCEPTED, on_cookies)
        self._options = request_options(config, self.policy.proxy)
        self._own_options = self._options
        self._own_origins: frozenset[str] = frozenset()
        if config.client_cert:
            context = own_context(config, is_own=True)
            self._own_options = {**self._options, "ssl_options": context}
            self._own_origins = frozenset(map(origin_of, config.seeds))
        self._resolver = CachingResolver()
        check_address = self.policy.check_address
        self._client = _make_client(config, self._resolver, check_address)

    @gen.coroutine
    def fetch(self, request: Request) -> Generator[Any, Any, Fetched]:
        """Fetch a URL once; see `Fetcher`."""
        started_at = time.monotonic()
        self.policy.require_public_host(request.url)
        headers = self.policy.headers_for(request.url, request.headers)
        is_own = isinstance(self._client, PooledAsyncHTTPClient)
        fetch = self._fetch if is_own else self._fetch_bounded
        fetched = yield from fetch(request, headers)
        fetched.took_s = time.monotonic() - started_at
        refuse_answer(fetched, self.policy.proxy)
        self.policy.take_cookies(request.url, fetched.headers)
        return fetched

    def allow(self, concurrency: int) -> None:
        """Change the maximum number of fetches; see `Fetcher`."""
        if self._config.client != "curl":  # which has a fixed number of handles
            cast(PooledAsyncHTTPClient, self._client).max_clients = concurrency

    def close(self) -> None:
        """Close the client; see `Fetcher`."""
        self._client.close()
        self._resolver.close()

    def _fetch(self, request: Request, headers: HTTPHeaders) -> Subgenerator[Fetched]:
        url = request.url
        sent = HTTPRequest(
            url,
            request.method,
            headers=headers,
            body=request.body,
            decompress_response=True,
            **self._options_for(url),
        )
        try:
            response = yield self._client.fetch(sent, raise_error=False)
        except FetchError:
            raise
        except Exception as exc:  # sockets, TLS, timeouts, invalid HTTP, and others
            raise self._error(url, exc) from exc
        return _fetched(url, response)

    def _options_for(self, url: str) -> dict[str, Any]:
        """Return the options of a request; a client certificate is for the seeds only."""
        is_own = self._own_origins and origin_of(url) in self._own_origins
        return self._own_options if is_own else self._options

    def _error(self, url: str, exc: Exception) -> FetchError:
        if error := wrong_scheme(url, exc):
            return error
        return of_proxy(fetch_error(exc), self.policy.proxy)

    def _fetch_bounded(
        self, request: Request, headers: HTTPHeaders
    ) -> Subgenerator[Fetched]:
        """Fetch with a client that cannot tell a too large body from other errors."""
        url = request.url
        collector = ResponseCollector(self._config.max_body_bytes)
        curl = CurlExchange(
            collector,
            url,
            self.policy.check_address,
            self.policy.proxy,
        )
        sent = self._bounded_request(request, headers, collector, curl)
        try:
            response = yield from self._exchange(sent)
            collector.refuse_too_large()
            body, notes = decoded(
                collector.body, response.headers, self._config.max_body_bytes
            )
        except FetchError:
            raise
        except Exception as exc:  # as above
            collector.refuse_too_large()
            raise curl.refusal or self._error(url, exc) from exc
        return Fetched(
            url,
            response.code,
            response.headers,
            body,
            0.0,
            request_head=curl.request_head or _sent_head(sent),
            raw_head=collector.raw_head,
            encoded_body=collector.body,
            peer=curl.peer,
            notes=notes,
        )

    def _bounded_request(
        self,
        request: Request,
        headers: HTTPHeaders,
        collector: ResponseCollector,
        curl: CurlExchange,
    ) -> HTTPRequest:
        is_curl = self._config.client == "curl"
        return HTTPRequest(
            request.url,
            request.method,
            headers=headers,
            body=request.body,
            user_agent=headers["User-Agent"],  # also sent to a proxy
            # We decompress, because the archive needs the encoded body.
            decompress_response=False,
            header_callback=None if is_curl else collector.take_line,
            streaming_callback=collector.take_chunk,
            prepare_curl_callback=curl.prepare if is_curl else None,
            **self._options_for(request.url),
        )

    def _exchange(self, request: HTTPRequest) -> Subgenerator[HTTPResponse]:
        exchange = self._client.fetch(request, raise_error=False)
        # If we are cancelled, nothing else retrieves its exception.
        exchange.add_done_callback(_retrieve)
        # Not yielded itself, which would cancel it with us: a client still logs an error
        # when the connection ends.  asyncio.shield logs one since Python 3.14.
        answered: Future[HTTPResponse] = Future()
        chain_future(exchange, answered)
        response: HTTPResponse = yield answered
        return response


def _fetched(url: str, response: HTTPResponse) -> Fetched:
    """Return the response of our own client."""
    response = cast(PooledHTTPResponse, response)
    address = response.peer_address
    return Fetched(
        url,
        response.code,
        response.headers,
        response.body,
        0.0,
        response.request_head,
        response.raw_head,
        response.encoded_body or b"",
        address[0] if isinstance(address, tuple) else "",
        response.notes,
    )


def _sent_head(request: HTTPRequest) -> bytes:
    """Return the head that simple_httpclient sent; it adds headers to the request."""
    parts = urlsplit(request.url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    fields = [f"{name}: {value}\r\n" for name, value in request.headers.get_all()]
    lines = [f"{request.method} {target} HTTP/1.1\r\n", *fields, "\r\n"]
    return "".join(lines).encode("latin-1", "replace")


def _retrieve(exchange: Future[Any]) -> None:
    if not exchange.cancelled():
        exchange.exception()


class _CheckingResolver(Resolver):
    """Removes the addresses that must not be connected to.

    It also sees a literal address in a URL, which resolves to itself.
    """

    def initialize(self, resolver: Resolver, check_address: AddressCheck) -> None:
        self._resolver = resolver
        self._check_address = check_address

    @gen.coroutine
    def resolve(
        self, host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> Generator[Any, Any, list[tuple[int, Any]]]:
        """Return a Future for the allowed addresses, as `tornado.netutil.Resolver` does.

        Raises:
            FetchError: none of them is allowed.
        """
        addresses = yield self._resolver.resolve(host, port, family)
        return allowed_addresses(host, addresses, self._check_address)


def request_options(config: CrawlConfig, proxy: Proxy | None) -> dict[str, Any]:
    """Return the options that all requests share.

    Raises:
        ConfigError: a file cannot be used.
    """
    options: dict[str, Any] = {
        "connect_timeout": config.connect_timeout_s,
        "request_timeout": config.request_timeout_s,
        "follow_redirects": False,
    }
    if config.client == "simple" or config.ca_file:
        # Its own context takes a name in the subject of a certificate, as libcurl does.
        options["ssl_options"] = own_context(config, is_own=False)
    if proxy is not None:
        scheme = "socks5h://" if proxy.is_socks else ""
        options |= {"proxy_host": scheme + proxy.host, "proxy_port": proxy.port}
        if proxy.username:
            options["proxy_username"] = proxy.username
            options["proxy_password"] = proxy.password
    return options


def _make_client(
    config: CrawlConfig, resolver: Resolver, check_address: AddressCheck | None
) -> AsyncHTTPClient:
    options: dict[str, Any] = {"max_clients": config.concurrency}
    if config.client != "curl":
        options["max_header_size"] = MAX_HEAD_BYTES
    if config.client == "pooled":
        options["lenient"] = True
        options["resends"] = False  # the crawl does, when the host may be asked again
        options["max_idle"] = _max_idle(config.concurrency)
        options["resolver"] = resolver
        options["check_address"] = check_address
        options["max_body_size"] = config.max_body_bytes
    elif config.client == "simple" or tornado.version_info >= (6, 6):
        # Before 6.6 curl_httpclient has no limit: it reads until the request times out, and
        # the bytes beyond our limit are dropped on arrival.
        options["max_body_size"] = config.max_body_bytes + BODY_MARGIN_BYTES
    if config.client == "simple":
        if check_address is not None:
            resolver = _CheckingResolver(resolver, check_address)
        options["resolver"] = resolver
    client: AsyncHTTPClient = class_of(config.client)(force_instance=True, **options)
    return client


def _max_idle(concurrency: int) -> int:
    """Return the maximum number of idle connections, which are to several hosts.

    A quarter of the files that may be open, because the crawl needs the others for fetches
    and for its own files.
    """
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if open_files == resource.RLIM_INFINITY:
        return max(MAX_IDLE, concurrency)
    return max(min(MAX_IDLE, open_files // 4), concurrency)
