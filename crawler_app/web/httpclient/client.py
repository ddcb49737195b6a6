"""The client: Tornado's interface, a queue, and a connection pool.

Rule: it belongs to one event loop, and is used only on that loop's thread.
"""

import asyncio
import collections
from collections.abc import Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.netutil import OverrideResolver, Resolver
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.web.httpclient.decode_queue import DecodeQueue
from crawler_app.web.httpclient.dialing import AddressCheck, Dialer
from crawler_app.web.httpclient.fetch import ClientContext, Fetch
from crawler_app.web.httpclient.pool import ConnectionPool
from crawler_app.web.httpclient.response import PooledHTTPResponse

__all__ = ["PooledAsyncHTTPClient"]

# The limits of Tornado and of many servers.
MAX_HEADER_BYTES = 64 * 1024
MAX_BUFFER_BYTES = 100 * 1024 * 1024

# Servers keep an idle connection for 5 s (Apache, Node) to 75 s (nginx); a connection
# that they have just closed costs a retry.  Precedents: aiohttp 15, httpx 5.
IDLE_TIMEOUT_S = 15.0


# Turns of the loop needed to cancel a connection attempt and close its sockets.
CLOSING_TURNS = 5


class PooledAsyncHTTPClient(AsyncHTTPClient):
    """An `AsyncHTTPClient` with keep-alive connections.

    Create it with `AsyncHTTPClient` after `AsyncHTTPClient.configure`, or directly with
    ``force_instance=True``.  Every option of `HTTPRequest` is honored, or refused with a
    `ValueError`; a response is a `PooledHTTPResponse`.

    Args:
        max_clients: Concurrent fetches.  Further ones wait in a queue, and their timeouts
            start when they leave it.
        hostname_mapping: See `tornado.netutil.OverrideResolver`.
        resolver: The resolver; the caller closes it.
        max_buffer_size: The value of max_body_size if that is not given.
        max_body_size: Maximum size of a body in bytes, both encoded and decoded, also
            with a streaming_callback.
        max_header_size: Maximum size of a response's head in bytes; 64 KiB if not given.  A
            head has at most 5000 lines in any case.
        idle_timeout: Seconds for which an idle connection is kept.
        max_idle: Maximum number of idle connections, to all hosts; max_clients if not
            given.
        check_address: Called with a host and each of its addresses before connecting, also
            for each redirect; raises to refuse.  Not called with a proxy, which resolves
            the names itself.
        lenient: Whether to accept what browsers accept and RFC 9112 allows, and note it in
            the response: header lines that are folded, malformed, end in a bare line feed or
            contain control characters, an irregular status line, equal lengths, spaces after
            a chunk size, a compressed body without its checksum.  What remains ambiguous is
            refused with AmbiguousResponseError.
        resends: Whether a request is sent again at once if the server closes the idle
            connection that it is sent on; otherwise it fails with ConnectionWasIdleError.

    >>> from gencoro.ioloop import IOLoop
    >>> async def main():
    ...     client = PooledAsyncHTTPClient(force_instance=True)
    ...     try:
    ...         await client.fetch("ftp://a.test/")
    ...     except ValueError as exc:
    ...         print(exc)
    ...     client.close()
    >>> IOLoop.current().run_sync(main)
    Unsupported url scheme: ftp://a.test/
    """

    def initialize(  # type: ignore[override]  # each client has options of its own
        self,
        max_clients: int = 10,
        hostname_mapping: dict[Any, Any] | None = None,
        max_buffer_size: int = MAX_BUFFER_BYTES,
        resolver: Resolver | None = None,
        defaults: dict[str, Any] | None = None,
        max_header_size: int | None = None,
        max_body_size: int | None = None,
        idle_timeout: float = IDLE_TIMEOUT_S,
        max_idle: int | None = None,
        check_address: AddressCheck | None = None,
        lenient: bool = False,
        resends: bool = True,
    ) -> None:
        super().initialize(defaults=defaults)
        self.max_clients = max_clients
        self.queue: collections.OrderedDict[Fetch, None] = collections.OrderedDict()
        self._active: set[Fetch] = set()
        self._own_resolver: Resolver | None = None
        if resolver is None:
            resolver = self._own_resolver = Resolver()
        if hostname_mapping is not None:
            resolver = OverrideResolver(resolver=resolver, mapping=hostname_mapping)
        # Every Tornado loop wraps an asyncio loop, though its annotations do not include it.
        self._loop: asyncio.AbstractEventLoop = self.io_loop.asyncio_loop  # type: ignore[attr-defined]
        self._pool = ConnectionPool(
            self._loop, max_clients if max_idle is None else max_idle, idle_timeout
        )
        self._context = ClientContext(
            loop=self._loop,
            pool=self._pool,
            dialer=Dialer(self._loop, resolver, check_address, self._pool.discard),
            decode_queue=DecodeQueue(self._loop),
            defaults=self.defaults,
            max_head_bytes=max_header_size or MAX_HEADER_BYTES,
            max_body_bytes=max_body_size or max_buffer_size,
            is_lenient=lenient,
            resends=resends,
        )

    def fetch(
        self, request: str | HTTPRequest, raise_error: bool = True, **kwargs: Any
    ) -> "asyncio.Future[HTTPResponse]":
        """Fetch; see `AsyncHTTPClient.fetch`.

        Cancelling the Future ends the exchange and closes its connection immediately.
        Unless ``raise_error`` is false, that logs a warning.
        """
        # Not AsyncHTTPClient.fetch, which creates its Future without the loop argument, so
        # that asyncio has to look up the loop each time.
        if self._closed:
            raise RuntimeError("fetch() called on closed AsyncHTTPClient")
        if not isinstance(request, HTTPRequest):
            request = HTTPRequest(request, **kwargs)
        elif kwargs:
            raise ValueError("with an HTTPRequest, set the options in the HTTPRequest")
        future: asyncio.Future[HTTPResponse] = self._loop.create_future()

        def deliver(response: HTTPResponse) -> None:
            if future.cancelled():
                return  # the fetch is about to be cancelled too
            is_status = isinstance(response, PooledHTTPResponse)
            if response.error is None or (is_status and not raise_error):
                future.set_result(response)
            else:
                future.set_exception(response.error)

        fetch = self._begin(request, deliver)
        if fetch is not None and not fetch.is_over:
            fetch.follow(future, warns=raise_error)
        return future

    def fetch_impl(
        self, request: HTTPRequest, callback: Callable[[HTTPResponse], None]
    ) -> None:
        """Fetch for a callback, which receives errors in the response."""
        # Tornado passes a proxy object that combines the request with its defaults.
        self._begin(getattr(request, "request", request), callback)

    def _begin(
        self, request: HTTPRequest, callback: Callable[[HTTPResponse], None]
    ) -> Fetch | None:
        """Queue a request; if it is invalid, call the callback and return None."""
        try:
            self._require_loop()
            fetch = Fetch(request, callback, self._on_end, self._context)
        except Exception as exc:  # ValueError, or due to a value of a wrong type
            # Without the traceback, which refers to the Future that will hold the error.
            error = exc.with_traceback(None)
            callback(HTTPResponse(request, 599, error=error, request_time=0.0))
            return None
        self.queue[fetch] = None
        if self._loop.is_running():
            self._process_queue()
        else:
            self._loop.call_soon(self._process_queue)
        return fetch

    def _require_loop(self) -> None:
        if not self._loop.is_running() and _is_loop_running():
            raise RuntimeError(
                "this client belongs to another event loop; create it on the loop that "
                "uses it"
            )

    def close(self) -> None:
        """Close every connection; fetches under way fail with HTTPStreamClosedError."""
        if self._closed:
            return
        super().close()
        for fetch in [*self._active, *self.queue]:
            fetch.fail(HTTPStreamClosedError("the client was closed"))
        self._pool.close()
        if self._own_resolver is not None:
            self._own_resolver.close()
        self._let_sockets_close()

    def _process_queue(self) -> None:
        while self.queue and len(self._active) < self.max_clients:
            fetch, _ = self.queue.popitem(last=False)
            self._active.add(fetch)
            fetch.start()

    def _on_end(self, fetch: Fetch) -> None:
        self._active.discard(fetch)
        self.queue.pop(fetch, None)
        if not self._closed:
            self._process_queue()

    def _let_sockets_close(self) -> None:
        """Run the loop for some turns, because transports close their sockets later.

        Any other callbacks that are ready run too.
        """
        if self._loop.is_closed() or self._loop.is_running() or _is_loop_running():
            return
        for _ in range(CLOSING_TURNS):
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()


def _is_loop_running() -> bool:
    """Return whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
