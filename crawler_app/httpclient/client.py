"""The client: a queue, a pool, and Tornado's interface.

Rule: it belongs to one event loop, and is used on that loop's thread alone.
"""

import asyncio
import collections
from collections.abc import Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.netutil import OverrideResolver, Resolver
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient.dialing import AddressCheck, Dialer
from crawler_app.httpclient.fetch import Equipment, Fetch
from crawler_app.httpclient.pool import ConnectionPool
from crawler_app.httpclient.response import PooledHTTPResponse

__all__ = ["PooledAsyncHTTPClient"]

# Tornado's, and that of many servers.
MAX_HEADER_BYTES = 64 * 1024
MAX_BUFFER_BYTES = 100 * 1024 * 1024

# Servers keep an idle connection for 5 s (Apache, Node) to 75 s (nginx); a connection
# that they have just closed costs a second try.  Precedents: aiohttp 15, httpx 5.
IDLE_TIMEOUT_S = 15.0


# What it takes to cancel a connection in the making, and to close what it has.
CLOSING_TURNS = 5


class PooledAsyncHTTPClient(AsyncHTTPClient):
    """An `AsyncHTTPClient` that keeps its connections.

    Made by `AsyncHTTPClient` after `AsyncHTTPClient.configure`, or by itself with
    ``force_instance=True``.  Every option of `HTTPRequest` is honored, or refused with a
    `ValueError`; a response is a `PooledHTTPResponse`.

    Args:
        max_clients: Fetches under way at once.  Others wait, and while they do no time
            limit of theirs runs.
        hostname_mapping: As in `tornado.netutil.OverrideResolver`.
        resolver: Owned by the caller.
        max_buffer_size: Bytes of a body, where max_body_size is not given.
        max_body_size: Bytes of a body, before and after its coding is undone, also
            with a streaming_callback.
        max_header_size: Bytes of a response's head; 64 KiB if not given.
        idle_timeout: Seconds for which an unused connection is kept.
        max_idle: Unused connections kept, to all hosts; max_clients if not given.
        check_address: Called with a host and each address it resolved to before that
            is connected to, at each hop of a redirect too; raises to refuse.  With a
            proxy it is not called: there it is the proxy that resolves.

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
        # Every loop of Tornado's is over one of asyncio's; its types do not say so.
        self._loop: asyncio.AbstractEventLoop = self.io_loop.asyncio_loop  # type: ignore[attr-defined]
        self._pool = ConnectionPool(
            self._loop, max_clients if max_idle is None else max_idle, idle_timeout
        )
        self._equipment = Equipment(
            loop=self._loop,
            pool=self._pool,
            dialer=Dialer(self._loop, resolver, check_address, self._pool.discard),
            defaults=self.defaults,
            max_head_bytes=max_header_size or MAX_HEADER_BYTES,
            max_body_bytes=max_body_size or max_buffer_size,
        )

    def fetch(
        self, request: str | HTTPRequest, raise_error: bool = True, **kwargs: Any
    ) -> "asyncio.Future[HTTPResponse]":
        """Fetch; see `AsyncHTTPClient.fetch`.

        To cancel the Future is to end the exchange: its connection is closed at once.
        Unless errors are not to be raised, a warning in the log tells of it.
        """
        # Not by way of AsyncHTTPClient: it makes its Future without naming the loop,
        # for which asyncio asks the system each time.
        if self._closed:
            raise RuntimeError("fetch() called on closed AsyncHTTPClient")
        if not isinstance(request, HTTPRequest):
            request = HTTPRequest(request, **kwargs)
        elif kwargs:
            raise ValueError("options belong in the HTTPRequest, where there is one")
        future: asyncio.Future[HTTPResponse] = self._loop.create_future()

        def deliver(response: HTTPResponse) -> None:
            if future.cancelled():
                return  # and the fetch is about to hear of it
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
        """Fetch for a callback, which gets errors in the response."""
        # What Tornado hands over is the request with its defaults.
        self._begin(getattr(request, "request", request), callback)

    def _begin(
        self, request: HTTPRequest, callback: Callable[[HTTPResponse], None]
    ) -> Fetch | None:
        """Queue a request; None if it cannot be sent, and the callback was called."""
        try:
            self._require_loop()
            fetch = Fetch(request, callback, self._on_end, self._equipment)
        except Exception as exc:  # ValueError, or about a value of a wrong type
            # Without the traceback, which holds the Future that will hold the error.
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
                "this client was made for another event loop; make it where it is used"
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
        """A transport closes its socket some turns later, for which a loop must run.

        Whatever else is ready then runs too.
        """
        if self._loop.is_closed() or self._loop.is_running() or _is_loop_running():
            return
        for _ in range(CLOSING_TURNS):
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()


def _is_loop_running() -> bool:
    """Return whether any loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
