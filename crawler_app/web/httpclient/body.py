"""Body handlers: keep the body, stream it with back-pressure, or discard it.

Rule: every byte is counted, before and after decoding.
"""

import abc
import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from io import BytesIO
from typing import Any, Protocol

from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.web.httpclient.codings import AnyDecoder, decoder_of
from crawler_app.web.httpclient.decode_queue import TURN_BYTES, DecodeQueue
from crawler_app.web.httpclient.errors import ResponseTooLargeError
from crawler_app.web.httpclient.response import ResponseHead
from gencoro import gen

__all__ = [
    "BodySource",
    "CountedBody",
    "KeptBody",
    "StreamedBody",
    "undo_coding",
]


class BodySource(Protocol):
    """The source of a body, as seen by its handler."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def body_done(self) -> None:
        """Called when the body has been processed, if that was after `CountedBody.end`."""
        ...

    def fail(self, error: BaseException) -> None: ...


def undo_coding(
    head: ResponseHead, max_bytes: int, is_lenient: bool
) -> AnyDecoder | None:
    """Return a decoder for the content coding of a response; None if it needs none.

    Updates the headers as simple_httpclient does.

    Raises:
        BadResponseError: too many codings were applied.
    """
    encoding = head.fields.get("content-encoding")
    if not encoding:
        return None
    decoder = decoder_of(encoding, max_bytes, is_lenient=is_lenient)
    if decoder is not None:
        head.headers.add("X-Consumed-Content-Encoding", encoding)
        del head.headers["Content-Encoding"]
    return decoder


class CountedBody:
    """Counts and discards a body; the base class of the other handlers.

    It raises errors in the response.  This limits the encoded size; the decoder limits the
    decoded size.
    """

    _seen_bytes = 0

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    def feed(self, data: bytes) -> None:
        self._seen_bytes += len(data)
        if self._seen_bytes > self._max_bytes:
            raise ResponseTooLargeError(
                f"Body too long: more than {self._max_bytes} bytes"
            )

    def end(self) -> bool:
        """Handle the end of the body; return whether all of it has been processed."""
        return True

    def cancel(self) -> None:
        """Stop processing the body."""


class DecodedBody(CountedBody, abc.ABC):
    """Decodes a body; the base class of those that do something with it.

    A large body is decoded in several turns of the loop, and what `_take` returns is waited
    for; in the meantime nothing more is read.
    """

    # Initial values, for most bodies the final ones too.
    _incoming = b""
    _pieces: Iterator[bytes] = iter(())
    _waiting_for: "asyncio.Future[Any] | None" = None
    _is_ended = False
    _is_cancelled = False

    def __init__(
        self,
        coding: AnyDecoder | None,
        max_bytes: int,
        reading: BodySource,
        decode_queue: DecodeQueue,
    ) -> None:
        self._max_bytes = max_bytes
        self._coding = coding
        self._reading = reading
        self._decode_queue = decode_queue

    def feed(self, data: bytes) -> None:
        super().feed(data)
        self._incoming += data
        if self._waiting_for is None:
            self._pump(is_begun=False)

    def end(self) -> bool:
        self._is_ended = True
        if self._waiting_for is not None:
            return False
        self._check_end()
        return True

    def cancel(self) -> None:
        self._is_cancelled = True
        self._incoming = b""
        self._pieces = iter(())
        waiting_for, self._waiting_for = self._waiting_for, None
        if waiting_for is not None:
            waiting_for.remove_done_callback(self._go_on)
            waiting_for.cancel()

    @abc.abstractmethod
    def _take(self, piece: bytes) -> "asyncio.Future[Any] | None":
        """Take a decoded piece; return what to wait for before the next one."""

    def _pump(self, *, is_begun: bool) -> None:
        """Take pieces until none is left, one must be waited for, or the turn is over."""
        taken_bytes = 0
        while True:
            for piece in self._pieces:
                waiting_for = self._take(piece)
                taken_bytes += len(piece)
                if waiting_for is None and taken_bytes >= TURN_BYTES:
                    waiting_for = self._decode_queue.wait(is_begun=is_begun)
                if waiting_for is not None:
                    self._wait_for(waiting_for)
                    return
                if self._is_cancelled:  # in `_take`
                    return
            data, self._incoming = self._incoming, b""
            if not data:
                return
            if self._coding is None:
                self._pieces = iter((data,))
            else:
                self._pieces = self._coding.pieces(data)

    def _wait_for(self, waiting_for: "asyncio.Future[Any]") -> None:
        if self._is_cancelled:  # in `_take`
            waiting_for.cancel()
            return
        self._waiting_for = waiting_for
        self._reading.pause()
        waiting_for.add_done_callback(self._go_on)

    def _go_on(self, done: "asyncio.Future[Any]") -> None:
        if done is not self._waiting_for:
            return  # it was already scheduled when we were cancelled
        self._waiting_for = None
        if done.cancelled():
            # Not CancelledError, because the caller of fetch was not cancelled.
            error = HTTPStreamClosedError("the streaming_callback was cancelled")
            self._reading.fail(error)
        elif (failure := done.exception()) is not None:
            # Not with `result`, whose traceback would refer to this object.
            self._reading.fail(failure)
        else:
            self._pump_on()

    def _pump_on(self) -> None:
        try:
            self._pump(is_begun=True)
            if self._waiting_for is not None:
                return
            if self._is_ended:
                self._check_end()
        except Exception as exc:  # from the callback or the decoder
            self._reading.fail(exc)
            return
        if self._is_ended:
            self._reading.body_done()
        else:
            self._reading.resume()

    def _check_end(self) -> None:
        if self._coding is not None:
            self._coding.end()


class KeptBody(DecodedBody):
    """Keeps a body, both encoded and decoded."""

    _encoded: bytes | BytesIO = b""
    _decoded: bytes | BytesIO = b""

    def feed(self, data: bytes) -> None:
        self._encoded = _extended(self._encoded, data)
        if self._coding is None:
            CountedBody.feed(self, data)
        else:
            super().feed(data)

    def _take(self, piece: bytes) -> None:
        self._decoded = _extended(self._decoded, piece)

    def contents(self) -> tuple[bytes, bytes]:
        """Return the decoded body and the encoded body."""
        encoded = _whole(self._encoded)
        return (encoded if self._coding is None else _whole(self._decoded)), encoded


def _extended(kept: bytes | BytesIO, piece: bytes) -> bytes | BytesIO:
    """Return what was kept and one more piece.

    Not in a list: a piece of two bytes would take 67 times its size.  Most bodies have only
    one piece, which is not copied.
    """
    if not kept:
        return piece
    if isinstance(kept, bytes):
        start, kept = kept, BytesIO()
        kept.write(start)
    kept.write(piece)
    return kept


def _whole(kept: bytes | BytesIO) -> bytes:
    # Unlike that of a bytearray, the content of a BytesIO is not copied here.
    return kept if isinstance(kept, bytes) else kept.getvalue()


class StreamedBody(DecodedBody):
    """Passes a body to a streaming_callback, with back-pressure.

    Until an awaitable returned by the callback is done, nothing more is read or decoded.
    """

    def __init__(
        self,
        coding: AnyDecoder | None,
        max_bytes: int,
        reading: BodySource,
        decode_queue: DecodeQueue,
        callback: Callable[[bytes], Awaitable[None] | None],
    ) -> None:
        super().__init__(coding, max_bytes, reading, decode_queue)
        self._callback = callback

    def _take(self, piece: bytes) -> "asyncio.Future[Any] | None":
        taken = self._callback(piece)
        if inspect.isawaitable(taken):  # not so for the `write` of a file
            return gen.convert_yielded(taken)
        return None
