"""Sends a request body after its head: on 100 Continue, or from a body_producer.

The producer writes with back-pressure: each write returns a Future that is done when it may
write more.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from tornado.escape import utf8
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.web.httpclient.connection import Connection
from crawler_app.web.httpclient.request import OutgoingRequest
from gencoro import gen

__all__ = ["BodySender", "SenderOwner"]

# Many servers do not support "Expect: 100-continue".  Precedent: curl, 1 s.
CONTINUE_WITHIN_S = 1.0


class SenderOwner(Protocol):
    """The exchange that a request belongs to."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the response was received."""
        ...

    def fail(self, error: BaseException) -> None: ...


class BodySender:
    """Sends a request: its head, and then the body.

    Attributes:
        is_sent: Whether all of it is written.
    """

    def __init__(
        self,
        request: OutgoingRequest,
        connection: Connection,
        owner: SenderOwner,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.is_sent = False
        self._request = request
        self._connection = connection
        self._owner = owner
        self._loop = loop
        self._is_over = False
        self._producing: asyncio.Future[Any] | None = None
        self._produced_bytes = 0
        self._writable: asyncio.Future[None] | None = None
        self._continue_timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Send the head, and then the body, unless the server is to send 100 Continue first."""
        self._write(self._request.head)
        if self._request.waits_for_continue:
            self._continue_timer = self._loop.call_later(
                CONTINUE_WITHIN_S, self._send_body
            )
        else:
            self._send_body()

    def continue_received(self) -> None:
        """Called when the server has sent 100 Continue."""
        if self._continue_timer is not None:
            self._send_body()

    def response_received(self) -> None:
        """Called when the final response has begun; a body that waits is not sent."""
        if self._continue_timer is not None:
            self._continue_timer.cancel()

    def end(self) -> None:
        """Stop sending."""
        self._is_over = True
        if self._continue_timer is not None:
            self._continue_timer.cancel()
        if self._producing is not None:
            self._producing.remove_done_callback(self._produced)
            self._producing.cancel()
            self._producing = None

    def pause_writing(self) -> None:
        """Called when the write buffer of the transport is full."""
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """Called when the write buffer of the transport has room again."""
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    def _send_body(self) -> None:
        if self._continue_timer is not None:
            self._continue_timer.cancel()
            self._continue_timer = None
        if self._request.body_producer is not None:
            self._start_producer(self._request.body_producer)
            return
        assert self._request.body is not None
        self._write(self._request.body)
        self.is_sent = True

    def _start_producer(
        self, body_producer: Callable[[Callable[[bytes], Any]], Any]
    ) -> None:
        try:
            producing = body_producer(self._write_produced)
            if producing is not None:
                self._producing = gen.convert_yielded(producing)
        except BaseException as exc:  # the user's producer may raise anything
            self._owner.fail(exc)
            if not isinstance(exc, Exception | asyncio.CancelledError):
                raise  # a KeyboardInterrupt must reach the loop too
            return
        if self._producing is None:
            self._finish_body()
        else:
            self._producing.add_done_callback(self._produced)

    def _produced(self, producing: "asyncio.Future[Any]") -> None:
        self._producing = None  # its exception refers to this object
        if self._owner.is_whole:
            return  # the server has responded without reading it all
        if producing.cancelled():
            error = HTTPStreamClosedError("the body_producer was cancelled")
            self._owner.fail(error)
        elif (failure := producing.exception()) is not None:
            self._owner.fail(failure)
        else:
            self._finish_body()

    def _finish_body(self) -> None:
        length = self._request.length
        if length is None:
            self._write(b"0\r\n\r\n")
        elif self._produced_bytes != length:
            error = f"body_producer wrote {self._produced_bytes} bytes, not {length}"
            self._owner.fail(ValueError(error))
            return
        self.is_sent = True

    def _write_produced(self, chunk: bytes | str) -> "asyncio.Future[None]":
        """Write a chunk for a body_producer; the Future is done when it may write more."""
        if self._is_over:
            raise HTTPStreamClosedError("Stream closed")
        data = utf8(chunk)
        self._produced_bytes += len(data)
        if self._request.length is None:
            if data:
                self._write(b"%x\r\n%b\r\n" % (len(data), data))
        elif self._produced_bytes > self._request.length:
            raise ValueError(
                f"body_producer writes more than {self._request.length} bytes, "
                "its Content-Length"
            )
        else:
            self._write(data)
        if self._writable is not None:
            return self._writable
        done: asyncio.Future[None] = self._loop.create_future()
        done.set_result(None)
        return done

    def _write(self, data: bytes) -> None:
        self._connection.transport.write(data)
