"""One call of ``fetch``: redirects, one retry, timeouts.

Rule: the callback is always called exactly once, unless the fetch was cancelled.
"""

import asyncio
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.log import app_log
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.web.httpclient.body import (
    CountedBody,
    KeptBody,
    StreamedBody,
    undo_coding,
)
from crawler_app.web.httpclient.codings import AnyDecoder
from crawler_app.web.httpclient.connection import Connection
from crawler_app.web.httpclient.decode_queue import DecodeQueue
from crawler_app.web.httpclient.dialing import Dialer, DialProgress
from crawler_app.web.httpclient.errors import (
    ConnectionWasIdleError,
    ResponseTooLargeError,
)
from crawler_app.web.httpclient.http_exchange import HttpExchange
from crawler_app.web.httpclient.pool import ConnectionPool
from crawler_app.web.httpclient.redirect import redirected
from crawler_app.web.httpclient.request import outgoing, settings_of
from crawler_app.web.httpclient.response import PooledHTTPResponse, ResponseHead

__all__ = ["ClientContext", "Fetch"]

# Limits for the body of a redirect, which is read only to keep the connection.
MAX_REDIRECT_BODY_BYTES = 64 * 1024
REDIRECT_BODY_WITHIN_S = 1.0

# The dial progress of a request on an existing connection.
NOT_DIALED = DialProgress()

_USERINFO = re.compile(r"//[^/@]*@")
# Six digits are eleven days; a longer number is not a timeout.
_KEEP_ALIVE_TIMEOUT = re.compile(r"\btimeout\s*=\s*(\d{1,6})\b", re.IGNORECASE)


@dataclass(frozen=True)
class ClientContext:
    """The objects that all fetches of a client share."""

    loop: asyncio.AbstractEventLoop
    pool: ConnectionPool
    dialer: Dialer
    decode_queue: DecodeQueue
    defaults: Mapping[str, Any]
    max_head_bytes: int
    max_body_bytes: int
    is_lenient: bool
    resends: bool


class Fetch:
    """One fetch.

    Args:
        callback: Receives the response, which may contain an error.
        on_end: Called just before the callback, or when the fetch is cancelled.

    Raises:
        ValueError: the request is invalid.

    Attributes:
        is_over: Whether the fetch has ended.
    """

    def __init__(
        self,
        request: HTTPRequest,
        callback: Callable[[HTTPResponse], None],
        on_end: Callable[["Fetch"], None],
        context: ClientContext,
    ) -> None:
        self.is_over = False
        self._original = request
        self._callback: Callable[[HTTPResponse], None] | None = callback
        self._on_end = on_end
        self._context = context
        self._loop = context.loop
        self._take_request(request)
        self._redirects_left = 0
        if self._settings["follow_redirects"]:
            self._redirects_left = self._settings["max_redirects"]
        # Start of the call, of the fetch, and of its last exchange, on the loop's clock.
        self._called_at = self._started_at = self._hop_began_at = self._loop.time()
        self._start_time: float | None = None  # _hop_began_at as wall-clock time
        self._timer: asyncio.TimerHandle | None = None
        self._future: asyncio.Future[HTTPResponse] | None = None
        self._warns = False
        self._progress = NOT_DIALED
        self._dialing: asyncio.Future[Connection] | None = None
        self._exchange: HttpExchange | None = None
        self._body: CountedBody | None = None
        self._coding: AnyDecoder | None = None

    def __repr__(self) -> str:
        url = _USERINFO.sub("//", self._request.url, count=1)  # for logs
        return f"<fetch {self._outgoing.method} {url}>"

    def start(self) -> None:
        """Start the fetch and its timeouts."""
        self._started_at = self._loop.time()
        try:
            self._send()
        except Exception as exc:
            self._fail_or_raise(exc)

    def cancel(self) -> None:
        """End without calling the callback."""
        self._leave()
        if self._dialing is not None:
            self._dialing.cancel()
        if self._exchange is not None:
            self._exchange.cancel()

    def follow(self, future: "asyncio.Future[HTTPResponse]", warns: bool) -> None:
        """Cancel the fetch when the Future is cancelled.

        Args:
            warns: Whether to log that; Tornado's clients log errors in that case.
        """
        self._future, self._warns = future, warns
        future.add_done_callback(self._notice_end)

    def _notice_end(self, future: "asyncio.Future[HTTPResponse]") -> None:
        if future.cancelled() and not self.is_over:
            self.cancel()
            if self._warns:
                text = "Exception after Future was cancelled: aborted %s"
                app_log.warning(text, self)

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        if self.is_over:
            return
        self.cancel()
        if isinstance(error, StopIteration):  # a Future does not accept it
            error = RuntimeError(f"a callback raised {error!r}")
        elif isinstance(error, asyncio.CancelledError):
            # Not CancelledError, because the caller of fetch was not cancelled.
            error = HTTPStreamClosedError("a callback was cancelled")
        response = HTTPResponse(
            self._original,
            599,
            error=error,
            effective_url=self._request.url,
            request_time=self._loop.time() - self._hop_began_at,
            start_time=self._start_time,
            time_info=self._time_info(),
        )
        self._call_back(response)

    def _call_back(self, response: HTTPResponse) -> None:
        # Cleared first: it refers to the Future, whose exception may refer to this object.
        callback, self._callback = self._callback, None
        assert callback is not None
        callback(response)

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._future is not None:
            self._future.remove_done_callback(self._notice_end)
            self._future = None
        self._body = None  # it refers to this object
        if not self.is_over:
            self.is_over = True
            self._on_end(self)

    def _take_request(self, request: HTTPRequest) -> None:
        if not isinstance(request.headers, HTTPHeaders):
            request.headers = HTTPHeaders(request.headers)
        self._request = request
        self._settings = settings_of(request, self._context.defaults)
        self._outgoing = outgoing(self._settings)

    def _fail_or_raise(self, error: Exception) -> None:
        """Fail the fetch, so that its caller does not wait for ever; raise if it is over."""
        if self.is_over:
            raise error
        self.fail(error)

    def _send(self) -> None:
        """Send the request, on an idle connection or on a new one."""
        self._hop_began_at = self._loop.time()
        self._start_time = time.time()
        request = self._outgoing
        connection = self._context.pool.take(request.key, request.is_repeatable)
        if connection is not None:
            self._progress = NOT_DIALED
            self._begin_exchange(connection)
        else:
            self._dial()

    def _dial(self) -> None:
        self._set_timer(self._settings["connect_timeout"], self._on_connect_timeout)
        self._progress = DialProgress()
        key = self._outgoing.key
        self._dialing = self._context.dialer.dial(key, self._progress)
        self._dialing.add_done_callback(self._dialed)

    def _dialed(self, dialing: "asyncio.Future[Connection]") -> None:
        self._dialing = None
        if dialing.cancelled():
            self.fail(HTTPStreamClosedError("connecting was cancelled"))
        elif (error := dialing.exception()) is not None:
            self.fail(error)
        elif self.is_over:
            dialing.result().abort()
        else:
            self._begin_exchange(dialing.result())

    def _begin_exchange(self, connection: Connection) -> None:
        if connection.is_closed:  # before anything was sent
            closed = HTTPStreamClosedError("Connection closed")
            self.fail(connection.error or closed)
            return
        self._set_timer(0, self._on_request_timeout)
        self._exchange = HttpExchange(
            self._outgoing,
            connection,
            self,
            self._context.max_head_bytes,
            self._loop,
            is_lenient=self._context.is_lenient,
        )
        self._exchange.start()

    def _set_timer(self, timeout_s: float, on_timeout: Callable[[], None]) -> None:
        """Set the timeout of a phase; the request timeout limits it too."""
        if self._timer is not None:
            self._timer.cancel()
        end_at = self._loop.time() + timeout_s if timeout_s else math.inf
        request_timeout = self._settings["request_timeout"]
        if request_timeout:
            end_at = min(end_at, self._started_at + request_timeout)
        self._timer = None
        if end_at < math.inf:
            self._timer = self._loop.call_at(end_at, on_timeout)

    def _on_connect_timeout(self) -> None:
        self.fail(HTTPTimeoutError(f"Timeout {self._progress.phase}"))

    def _on_request_timeout(self) -> None:
        self.fail(HTTPTimeoutError("Timeout during request"))

    def _on_late_body(self) -> None:
        exchange = self._exchange
        assert exchange is not None
        exchange.fail(HTTPStreamClosedError("the body of a redirect timed out"))

    def head_received(self, head: ResponseHead, has_body: bool) -> CountedBody:
        """Process the head, and return the handler for the body."""
        if self._follows(head):
            self._set_timer(REDIRECT_BODY_WITHIN_S, self._on_late_body)
            self._body = CountedBody(MAX_REDIRECT_BODY_BYTES)
            return self._body
        max_bytes = self._context.max_body_bytes
        if has_body:
            _check_length(head, max_bytes)
        if self._settings["header_callback"] is not None:
            for line in head.lines():
                self._settings["header_callback"](line)
        coding = None
        if self._settings["decompress_response"]:
            coding = undo_coding(head, max_bytes, self._context.is_lenient)
        self._coding = coding
        exchange, decode_queue = self._exchange, self._context.decode_queue
        assert exchange is not None
        callback = self._settings["streaming_callback"]
        if callback is None:
            self._body = KeptBody(coding, max_bytes, exchange, decode_queue)
        else:
            self._body = StreamedBody(
                coding, max_bytes, exchange, decode_queue, callback
            )
        return self._body

    def _follows(self, head: ResponseHead) -> bool:
        return self._redirects_left > 0 and head.is_redirect

    def exchange_ended(self) -> None:
        """Return the connection to the pool; follow a redirect, or end."""
        try:
            self._go_on()
        except Exception as exc:
            self._fail_or_raise(exc)

    def _go_on(self) -> None:
        exchange = self._exchange
        assert exchange is not None and exchange.head is not None
        if exchange.is_reusable:
            server_timeout_s = _keep_alive_timeout_s(exchange.head)
            self._context.pool.put(exchange.connection, server_timeout_s)
        if self._follows(exchange.head):
            self._redirect(exchange.head)
        else:
            self._respond(exchange, exchange.head)

    def exchange_failed(self, error: BaseException) -> None:
        """Retry if the server closed the connection before it read the request; or fail."""
        try:
            self._recover(error)
        except Exception as exc:
            self._fail_or_raise(exc)

    def _recover(self, error: BaseException) -> None:
        exchange, self._exchange = self._exchange, None
        assert exchange is not None
        if exchange.head is not None and self._follows(exchange.head):
            self._redirect(exchange.head)  # its body is not needed
        elif (
            exchange.connection.is_reused
            and not exchange.is_begun
            and self._outgoing.is_repeatable
            and isinstance(error, OSError | HTTPStreamClosedError)
        ):
            if self._context.resends:
                # On a new connection: the server may have closed the other idle ones too.
                self._dial()
            else:
                self.fail(ConnectionWasIdleError(str(error)))
        else:
            self.fail(error)

    def _redirect(self, head: ResponseHead) -> None:
        self._exchange = None
        self._redirects_left -= 1
        try:
            self._take_request(redirected(self._request, self._original, head))
        except ValueError as exc:
            self.fail(exc)
        else:
            self._send()

    def _respond(self, exchange: HttpExchange, head: ResponseHead) -> None:
        self._exchange = None
        body, encoded = b"", None
        if isinstance(self._body, KeptBody):
            body, encoded = self._body.contents()
        response = PooledHTTPResponse(
            self._original,
            head.status,
            reason=head.reason,
            headers=head.headers,
            buffer=BytesIO(body),
            effective_url=self._request.url,
            request_time=self._loop.time() - self._hop_began_at,
            start_time=self._start_time,
            time_info=self._time_info(exchange),
        )
        response.raw_head = head.raw
        response.encoded_body = encoded
        response.request_head = self._outgoing.head
        response.peer_address = exchange.connection.peer_address
        response.trailers = exchange.trailers()
        response.notes = exchange.notes
        if self._coding is not None:
            response.notes += self._coding.notes
        self._leave()
        self._call_back(response)

    def _time_info(self, exchange: HttpExchange | None = None) -> dict[str, float]:
        """Return the duration of each phase in seconds, under libcurl's names.

        All except ``queue`` and ``redirect`` are measured from the start of the last
        exchange.
        """
        begun_at = self._hop_began_at
        progress = self._progress
        ready_at = progress.secured_at or progress.connected_at or begun_at
        return {
            "queue": self._started_at - self._called_at,
            "redirect": begun_at - self._started_at,
            "namelookup": max(progress.resolved_at - begun_at, 0.0),
            "connect": max(progress.connected_at - begun_at, 0.0),
            "appconnect": max(progress.secured_at - begun_at, 0.0),
            "pretransfer": ready_at - begun_at,
            "starttransfer": exchange.first_byte_at - begun_at if exchange else 0.0,
            "total": self._loop.time() - begun_at,
        }


def _check_length(head: ResponseHead, max_bytes: int) -> None:
    """Refuse a body that is too long before reading it."""
    length = head.fields.get("content-length")
    if length is not None and int(length) > max_bytes:
        raise ResponseTooLargeError(
            f"Content-Length too long: {length} bytes, more than {max_bytes}"
        )


def _keep_alive_timeout_s(head: ResponseHead) -> float | None:
    """Return how long the server keeps the connection; None if it does not say."""
    value = head.fields.get("keep-alive")
    found = _KEEP_ALIVE_TIMEOUT.search(value) if value else None
    # A little less, because a request may be in transit when the time ends.
    return max(int(found[1]) - 1.0, 0.0) if found else None
