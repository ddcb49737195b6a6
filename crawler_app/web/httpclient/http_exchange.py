"""One request and its response, on one connection.

The parser is llhttp in strict mode: it determines the message framing, and rejects anything
that two parsers could interpret differently.  Each exchange has a new parser, so that no
data of one response can become part of the next.

A lenient exchange repairs a head that the parser has rejected, and gives it to the parser
again (`crawler_app.web.httpclient.repair`).  It also accepts spaces after a chunk size.  Rule:
its connection is closed afterwards, so that no error in that can change another response.
"""

import asyncio
import re
from typing import Protocol

import httptools
from tornado.httputil import HTTPHeaders
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.web.httpclient.body import CountedBody
from crawler_app.web.httpclient.connection import Connection
from crawler_app.web.httpclient.errors import (
    AmbiguousResponseError,
    BadResponseError,
    ResponseTooLargeError,
)
from crawler_app.web.httpclient.repair import (
    has_status,
    is_response,
    places_of_spaces,
    repaired,
    split_head,
)
from crawler_app.web.httpclient.request import OutgoingRequest
from crawler_app.web.httpclient.response import ResponseHead, parse_fields, parse_head
from crawler_app.web.httpclient.sending import BodySender

__all__ = ["ExchangeOwner", "HttpExchange"]

# Interim responses before the final one; Tornado's limit too.
MAX_INTERIM = 10

# Lines in a head, and trailers: each takes up to 3 us.  Precedent: curl.
MAX_HEADER_LINES = 5000

# A body in one-byte chunks takes six times its size; more overhead is not legitimate.
MAX_CHUNK_OVERHEAD = 8

# RFC 8446, 5.1: how an alert begins.
TLS_ALERT = b"\x15\x03"

# Exactly what the parser recognizes as chunked.
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked *\r\n", re.IGNORECASE)


class ExchangeOwner(Protocol):
    """Is notified about the progress of an exchange."""

    def head_received(self, head: ResponseHead, has_body: bool) -> CountedBody:
        """Return the handler for the body."""
        ...

    def exchange_ended(self) -> None: ...

    def exchange_failed(self, error: BaseException) -> None: ...


class HttpExchange:
    """Sends a request and reads the response to its end.

    The owner is notified once, of the end or of a failure; after a failure the connection
    is closed.

    Attributes:
        head: The head of the final response; None until it is received.
        is_begun: Whether any byte of a response was received.
        is_whole: Whether all of the response was received.
        is_reusable: After the end: whether the connection can carry another exchange.
        first_byte_at: When the first byte was received, on the loop's clock.
        notes: What was repaired in the heads.
    """

    # Initial values.  Defined in the class, because most of them never change, and
    # thousands of exchanges are created per second.
    head: ResponseHead | None = None
    is_begun = False
    is_whole = False
    is_reusable = False
    first_byte_at = 0.0
    notes: tuple[str, ...] = ()
    _is_rejected = False  # by the parser: a head that is not complete yet
    _raw_head = b""  # the head being parsed, as it was before its repair
    _received = b""  # received heads, until the final one is complete
    _interims = 0
    _body: CountedBody | None = None
    _body_bytes = 0
    _wire_bytes = 0
    _is_chunked = False
    _takes_spaces = False  # after a chunk size
    _is_until_close = False
    _must_close = False
    _has_extra = False
    _is_over = False
    _sender: BodySender | None = None  # if the head and the body are sent apart

    def __init__(
        self,
        request: OutgoingRequest,
        connection: Connection,
        owner: ExchangeOwner,
        max_head_bytes: int,
        loop: asyncio.AbstractEventLoop,
        *,
        is_lenient: bool,
    ) -> None:
        self.request = request
        self.connection = connection
        self._owner = owner
        self._max_head_bytes = max_head_bytes
        self._loop = loop
        self._is_lenient = is_lenient
        # What the data being parsed contains of the body.  The parser calls a built-in
        # method, because a body may come in chunks of one byte.
        self._part = bytearray()
        self.on_body = self._part.extend
        self._parser: httptools.HttpResponseParser | None = (
            httptools.HttpResponseParser(self)
        )
        self._has_no_body = request.method == "HEAD"
        self._trailers: list[bytes] = []

    def start(self) -> None:
        """Send the request."""
        self.connection.begin(self)
        request = self.request
        if request.body_producer is None and not request.waits_for_continue:
            self.connection.transport.write(request.head + (request.body or b""))
        else:
            self._sender = BodySender(request, self.connection, self, self._loop)
            self._sender.start()

    def pause_writing(self) -> None:
        """Called by the connection when its write buffer is full."""
        if self._sender is not None:
            self._sender.pause_writing()

    def resume_writing(self) -> None:
        """Called by the connection when its write buffer has room again."""
        if self._sender is not None:
            self._sender.resume_writing()

    def receive(self, data: bytes) -> None:
        """Handle bytes received from the connection."""
        if not self.is_begun:
            self.is_begun = True
            self.first_byte_at = self._loop.time()
        if self.head is None:
            self._received += data
        try:
            try:
                self._parse(data)
            finally:
                if self._part:
                    self._take_part()
            self._check_sizes(data)
        except BaseException as exc:  # from the parser, or anything from a callback
            # No name here for the error, whose traceback has this frame.
            self._fail_by(self._marked(_cause(exc)))
            return
        if self.is_whole:
            self._conclude()

    def _parse(self, data: bytes) -> None:
        if not self._is_rejected:
            self._feed(data)
        if self._is_rejected:
            self._repair(len(self._received) - len(data))

    def _feed(self, data: bytes) -> None:
        assert self._parser is not None
        try:
            if self._is_lenient:
                data = self._feed_leniently(data, self._parser)
            if self._parser is not None:
                self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as exc:
            if self.is_whole:
                self._has_extra = True
            elif not self._can_repair(exc):
                raise
            elif has_status(self._raw_head):
                raise AmbiguousResponseError(f"Ambiguous HTTP message: {exc}") from None
            elif self._raw_head:
                raise
            else:
                self._is_rejected = True
                self._received = self._received.lstrip(b"\r\n")

    def _feed_leniently(
        self, data: bytes, parser: httptools.HttpResponseParser
    ) -> bytes:
        """Feed heads alone, then spaces after a chunk size; return what is not yet fed."""
        while self.head is None:
            fed_bytes = len(self._received) - len(data)
            # The end may have begun in the last three bytes of the data before.
            end = self._received.find(b"\r\n\r\n", max(fed_bytes - 3, 0)) + 4
            if end < 4:
                return data
            if not self._received.lstrip(b"\r\n").startswith(b"HTTP/1."):
                raise httptools.HttpParserError("another version of HTTP")
            parser.feed_data(data[: end - fed_bytes])
            data = data[end - fed_bytes :]
        if not self._is_chunked or self._takes_spaces:
            return data
        fed = 0
        for start, end in places_of_spaces(data):
            parser.feed_data(data[fed:start])
            self._feed_space(data[start:end], parser)
            fed = end
            if self._takes_spaces or self.is_whole:
                break
        return data[fed:]

    def _feed_space(self, space: bytes, parser: httptools.HttpResponseParser) -> None:
        """Feed spaces, and note whether they follow a chunk size: then no body grows.

        The parser itself does not report what it skips.
        """
        part_bytes = len(self._part)
        parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)
        parser.feed_data(space)
        if len(self._part) == part_bytes and not self.is_whole:
            self._takes_spaces = self._must_close = True
            self.notes += ("spaces after a chunk size",)
        else:
            parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=False)

    def _can_repair(self, error: Exception) -> bool:
        return (
            self._is_lenient
            and self.head is None
            and isinstance(error, httptools.HttpParserError)
            and not isinstance(error, httptools.HttpParserCallbackError)
            and is_response(self._received)
        )

    def _repair(self, searched_bytes: int) -> None:
        """Repair the head as soon as all of it has been received, and parse it again."""
        parts = split_head(self._received, searched_bytes)
        if parts is None:
            return
        self._is_rejected = False
        self._raw_head, rest = parts
        _check_lines(self._raw_head.count(b"\n"))
        head, notes = repaired(self._raw_head)
        self.notes += tuple(notes)
        self._must_close = True
        self._received = head + rest
        self._parser = httptools.HttpResponseParser(self)
        self._parse(self._received)

    def _marked(self, error: BaseException) -> BaseException:
        """Return an error, which says now whether the server speaks TLS."""
        if isinstance(error, BadResponseError):
            error.is_tls = self.head is None and self._received.startswith(TLS_ALERT)
        return error

    def _fail_by(self, error: BaseException) -> None:
        self.fail(error)
        if not isinstance(error, Exception | asyncio.CancelledError):
            raise error  # a KeyboardInterrupt must reach the loop too

    def _check_sizes(self, data: bytes) -> None:
        """Limit the bytes that are neither part of a head nor of a body."""
        if self.head is None:
            if len(self._received) > self._max_head_bytes:
                raise ResponseTooLargeError(
                    f"a head of more than {self._max_head_bytes} bytes"
                )
            return
        if self._has_extra:
            return  # our response has already ended
        self._wire_bytes += len(data)
        overhead = self._wire_bytes - (1 + MAX_CHUNK_OVERHEAD) * self._body_bytes
        if overhead > len(self.head.raw) + self._max_head_bytes:
            raise ResponseTooLargeError(
                f"more than {self._max_head_bytes} bytes around the body"
            )

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser; used only for trailers, since `parse_head` reads the head."""
        if self.head is not None and "trailer" in self.head.fields:
            self._trailers.append(b"%b:%b" % (name, value))
            _check_lines(len(self._trailers))

    def on_message_begin(self) -> None:
        """Called by the parser."""
        if self.is_whole:
            raise BadResponseError("data after the response")

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        raw, self._received = _cut_head(self._received)
        if len(self._raw_head or raw) > self._max_head_bytes:
            raise ResponseTooLargeError(
                f"a head of more than {self._max_head_bytes} bytes"
            )
        if not raw.startswith(b"HTTP/1."):
            raise BadResponseError(f"not HTTP/1.x: {raw[:20]!r}")
        _check_lines(raw.count(b"\n"))
        raw_head, self._raw_head = self._raw_head, b""
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status < 100:
            raise BadResponseError(f"{status} is not a valid status")
        if status < 200:
            self._take_interim(status)
            return
        head = parse_head(raw)
        if self._sender is not None:
            self._sender.response_received()
        self._find_framing(head)
        if raw_head:
            head.raw = raw_head
        self.head = head
        self._body = self._owner.head_received(head, not self._has_no_body)
        if self._has_no_body:
            self.is_whole = True
            self._has_extra = bool(self._received)
        self._received = b""

    def _take_interim(self, status: int) -> None:
        if status == 101:
            raise BadResponseError("unrequested 101 Switching Protocols")
        self._interims += 1
        if self._interims > MAX_INTERIM:
            raise BadResponseError("Too many 1xx responses")
        if status == 100 and self._sender is not None:
            self._sender.continue_received()

    def _find_framing(self, head: ResponseHead) -> None:
        coding = head.fields.get("transfer-encoding")
        if coding is not None:
            if coding.lower() != "chunked" or not _CHUNKED.search(head.raw):
                raise AmbiguousResponseError(f"Transfer-Encoding is {coding!r}")
            self._is_chunked = True
            # RFC 9112, 6.1: in HTTP/1.0 its framing cannot be trusted.
            self._must_close |= head.version != "HTTP/1.1"
        if head.status in (204, 304):
            self._has_no_body = True
        self._is_until_close = (
            not self._has_no_body
            and coding is None
            and "content-length" not in head.fields
        )

    def _take_part(self) -> None:
        """Pass on what was received of the body, also if an error follows."""
        data = bytes(self._part)
        self._part.clear()
        if self.head is None:  # RFC 9110, 15.2; the parser may have taken a head for it
            raise BadResponseError("a 1xx response with a body")
        if self._has_no_body:
            self._has_extra = True
        elif not self._is_over:  # a callback may have ended the exchange
            assert self._body is not None
            self._body_bytes += len(data)
            self._body.feed(data)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self.head is not None:
            self.is_whole = True

    def lose_connection(self, error: Exception | None) -> None:
        """Called when the connection is lost, with the error if there was one."""
        if self.is_whole:
            return  # only the streaming_callback has not finished yet
        if error is None and self._is_until_close and self.head is not None:
            self.is_whole = True
            self._conclude()
            return
        self.fail(error or HTTPStreamClosedError("Connection closed"))

    def pause(self) -> None:
        """Pause reading."""
        if not self.connection.is_closed:
            self.connection.transport.pause_reading()

    def resume(self) -> None:
        """Resume reading."""
        if not self.connection.is_closed:
            self.connection.transport.resume_reading()

    def body_done(self) -> None:
        """Called when the body has been processed, after the end of the response."""
        self.resume()
        self._end()

    def trailers(self) -> HTTPHeaders | None:
        """Return the trailers of a chunked body, if the head has announced them."""
        if self.head is None or "trailer" not in self.head.fields:
            return None
        return parse_fields([line.decode("latin-1") for line in self._trailers])[1]

    def fail(self, error: BaseException) -> None:
        """End with an error, and close the connection."""
        if self._is_over:
            return
        self.cancel()
        self._owner.exchange_failed(error)

    def cancel(self) -> None:
        """End without notifying the owner, and close the connection."""
        body = self._body
        self._leave()
        if body is not None:
            body.cancel()
        self.connection.abort()

    def _conclude(self) -> None:
        if self._is_over:
            return
        assert self._body is not None
        try:
            is_done = self._body.end()
        except BadResponseError as exc:
            self.fail(exc)
            return
        if is_done:
            self._end()

    def _end(self) -> None:
        if self._is_over:
            return
        assert self.head is not None
        self.is_reusable = (
            self.head.keeps_alive
            and (self._sender is None or self._sender.is_sent)
            and not self._has_extra
            and not self._is_until_close
            and not self._must_close
            and not self.request.wants_close
            and not self.connection.is_closed
            # The server may have responded before it has read the whole request.
            and not self.connection.transport.get_write_buffer_size()
        )
        self._leave()
        if self.is_reusable:
            self.connection.end()
        else:
            self.connection.abort()
        self._owner.exchange_ended()

    def _leave(self) -> None:
        self._is_over = True
        if self._sender is not None:
            self._sender.end()
        # They refer to this object.
        self._parser = self._body = self._sender = None


def _check_lines(count: int) -> None:
    if count > MAX_HEADER_LINES:
        raise ResponseTooLargeError(f"more than {MAX_HEADER_LINES} header lines")


def _cut_head(received: bytes) -> tuple[bytes, bytes]:
    """Split off the first head, without empty lines before it."""
    start = 0
    while received.startswith((b"\r", b"\n"), start):
        start += 1
    end = received.index(b"\r\n\r\n", start) + 4
    return received[start:end], received[end:]


def _cause(error: BaseException) -> BaseException:
    """Return the actual error instead of the parser's wrapper around it."""
    if isinstance(error, httptools.HttpParserCallbackError):
        cause = error.__context__
        if cause is not None:
            return cause
    if isinstance(error, httptools.HttpParserError | httptools.HttpParserUpgrade):
        # Browsers accept a bare LF here, but RFC 9112 does not allow it.
        if "Missing expected CR after chunk size" in str(error):
            return AmbiguousResponseError(f"Ambiguous HTTP message: {error}")
        return BadResponseError(f"Malformed HTTP message: {error}")
    return error
