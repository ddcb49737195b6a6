"""Body handlers: keep the body, stream it with back-pressure, or discard it.

Rule: every byte is counted, before and after decoding.
"""

import asyncio
import collections
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Protocol

from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient.codings import decoder_of
from crawler_app.httpclient.errors import ResponseTooLargeError
from crawler_app.httpclient.response import ResponseHead
from gencoro import gen

__all__ = [
    "Body",
    "Coding",
    "CountedBody",
    "KeptBody",
    "Reading",
    "StreamedBody",
    "undo_coding",
]

# The most that a streaming_callback that does not wait gets in one turn of the loop, so that
# other tasks can run.
TURN_BYTES = 1024 * 1024


class Coding(Protocol):
    """A decoder for a Content-Encoding; see `crawler_app.httpclient.codings`."""

    @property
    def notes(self) -> tuple[str, ...]: ...

    def pieces(self, data: bytes) -> Iterator[bytes]: ...

    def end(self) -> None: ...


class Body(Protocol):
    """Receives a body piece by piece; raises errors in the response."""

    def feed(self, data: bytes) -> None: ...

    def end(self) -> bool:
        """Handle the end of the body; return whether all of it has been processed."""
        ...

    def cancel(self) -> None:
        """Stop processing the body."""
        ...


class Reading(Protocol):
    """The source of a body, as seen by its handler."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def body_done(self) -> None:
        """Called when the body has been processed, if that was after `Body.end`."""
        ...

    def fail(self, error: BaseException) -> None: ...


def undo_coding(head: ResponseHead, max_bytes: int, is_lenient: bool) -> Coding | None:
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

    The encoded size is limited, whatever the decoded size.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._seen_bytes = 0

    def feed(self, data: bytes) -> None:
        self._seen_bytes += len(data)
        if self._seen_bytes > self._max_bytes:
            raise ResponseTooLargeError(
                f"Body too long: more than {self._max_bytes} bytes"
            )

    def end(self) -> bool:
        return True

    def cancel(self) -> None:
        pass


class KeptBody(CountedBody):
    """Keeps a body, both encoded and decoded."""

    def __init__(self, coding: Coding | None, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._coding = coding
        self._encoded: bytes | bytearray = b""
        self._decoded: bytes | bytearray = b""

    def feed(self, data: bytes) -> None:
        super().feed(data)
        self._encoded = _extended(self._encoded, data)
        if self._coding is not None:
            for piece in self._coding.pieces(data):
                self._decoded = _extended(self._decoded, piece)

    def end(self) -> bool:
        if self._coding is not None:
            self._coding.end()
        return True

    def contents(self) -> tuple[bytes, bytes]:
        """Return the decoded body and the encoded body."""
        encoded = bytes(self._encoded)
        return (encoded if self._coding is None else bytes(self._decoded)), encoded


def _extended(kept: bytes | bytearray, piece: bytes) -> bytes | bytearray:
    """Return what was kept and one more piece.

    Not in a list: a chunk of two bytes would take 67 times its size.  Most bodies have
    only one piece, which is not copied.
    """
    if not kept:
        return piece
    if isinstance(kept, bytes):
        kept = bytearray(kept)
    kept += piece
    return kept


class StreamedBody(CountedBody):
    """Passes a body to a streaming_callback, with back-pressure.

    Until an awaitable returned by the callback is done, nothing more is read or decoded.
    """

    def __init__(
        self,
        coding: Coding | None,
        max_bytes: int,
        callback: Callable[[bytes], Awaitable[None] | None],
        reading: Reading,
    ) -> None:
        super().__init__(max_bytes)
        self._coding = coding
        self._callback = callback
        self._reading = reading
        self._incoming: collections.deque[bytes] = collections.deque()
        self._pieces: Iterator[bytes] = iter(())
        self._waiting_for: asyncio.Future[Any] | None = None
        self._is_ended = False
        self._is_cancelled = False

    def feed(self, data: bytes) -> None:
        super().feed(data)
        self._incoming.append(data)
        if self._waiting_for is None:
            self._pump()

    def end(self) -> bool:
        self._is_ended = True
        if self._waiting_for is not None:
            return False
        self._check_end()
        return True

    def cancel(self) -> None:
        self._is_cancelled = True
        self._incoming.clear()
        self._pieces = iter(())
        waiting_for, self._waiting_for = self._waiting_for, None
        if waiting_for is not None:
            waiting_for.remove_done_callback(self._go_on)
            waiting_for.cancel()

    def _pump(self) -> None:
        """Pass pieces to the callback until none is left or the callback must wait."""
        handed_out = 0
        while (piece := self._next_piece()) is not None:
            handed_out += len(piece)
            taken = self._callback(piece)
            if inspect.isawaitable(taken):  # not so for the `write` of a file
                self._wait_for(gen.convert_yielded(taken))
                return
            if handed_out >= TURN_BYTES:
                self._wait_for(gen.convert_yielded(asyncio.sleep(0)))
                return

    def _wait_for(self, taken: "asyncio.Future[Any]") -> None:
        if self._is_cancelled:  # by the callback itself
            taken.cancel()
            return
        self._waiting_for = taken
        self._reading.pause()
        taken.add_done_callback(self._go_on)

    def _next_piece(self) -> bytes | None:
        while True:
            piece = next(self._pieces, None)
            if piece is not None or not self._incoming:
                return piece
            data = self._incoming.popleft()
            pieces: Iterable[bytes] = (data,)
            if self._coding is not None:
                pieces = self._coding.pieces(data)
            self._pieces = iter(pieces)

    def _go_on(self, taken: "asyncio.Future[Any]") -> None:
        if taken is not self._waiting_for:
            return  # it was already scheduled when we were cancelled
        self._waiting_for = None
        if taken.cancelled():
            # Not CancelledError, because the caller of fetch was not cancelled.
            error = HTTPStreamClosedError("the streaming_callback was cancelled")
            self._reading.fail(error)
        elif (failure := taken.exception()) is not None:
            # Not with `result`, whose traceback would refer to this object.
            self._reading.fail(failure)
        else:
            self._pump_on()

    def _pump_on(self) -> None:
        try:
            self._pump()
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
