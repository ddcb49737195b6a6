"""What becomes of a response's body as it comes in: kept, streamed, or thrown away.

Rule: nothing is taken in without being counted, before and after its coding is undone.
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

# A streaming_callback that does not wait gets no more than this in one turn of the
# loop, which has others to serve.
TURN_BYTES = 1024 * 1024


class Coding(Protocol):
    """Undoes what a Content-Encoding names; see `crawler_app.httpclient.codings`."""

    def pieces(self, data: bytes) -> Iterator[bytes]: ...

    def end(self) -> None: ...


class Body(Protocol):
    """Takes a body piece by piece; errors are about the response."""

    def feed(self, data: bytes) -> None: ...

    def end(self) -> bool:
        """Take note that this was all; return whether it has been dealt with, too."""
        ...

    def cancel(self) -> None:
        """Nobody wants it any more."""
        ...


class Reading(Protocol):
    """Where a body comes from, as far as it needs to know."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def body_done(self) -> None:
        """The body was dealt with, some time after `Body.end`."""
        ...

    def fail(self, error: BaseException) -> None: ...


def undo_coding(head: ResponseHead, max_bytes: int) -> Coding | None:
    """Return what undoes the content coding of a response; None if there is none.

    Marks in the headers that it was undone, in the way of simple_httpclient.

    Raises:
        BadResponseError: it was coded too often.
    """
    encoding = head.fields.get("content-encoding")
    if not encoding:
        return None
    decoder = decoder_of(encoding, max_bytes)
    if decoder is not None:
        head.headers.add("X-Consumed-Content-Encoding", encoding)
        del head.headers["Content-Encoding"]
    return decoder


class CountedBody:
    """Counts a body and drops it, which is all that is to be done on a way to its end.

    What comes over the wire is bounded, whatever it decodes to.
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
    """Keeps a body, as it came and as it is without its coding."""

    def __init__(self, coding: Coding | None, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._coding = coding
        self._encoded: list[bytes] = []
        self._decoded: list[bytes] = []

    def feed(self, data: bytes) -> None:
        super().feed(data)
        self._encoded.append(data)
        if self._coding is not None:
            self._decoded.extend(self._coding.pieces(data))

    def end(self) -> bool:
        if self._coding is not None:
            self._coding.end()
        return True

    def contents(self) -> tuple[bytes, bytes]:
        """Return the body, and the body before its coding was undone."""
        encoded = b"".join(self._encoded)
        return (encoded if self._coding is None else b"".join(self._decoded)), encoded


class StreamedBody(CountedBody):
    """Hands a body to a streaming_callback, no faster than that takes it.

    While an awaitable of the callback is not done, nothing more is read, nor decoded.
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
        """Hand out what there is, until the callback wants to wait."""
        handed_out = 0
        while (piece := self._next_piece()) is not None:
            handed_out += len(piece)
            taken = self._callback(piece)
            if inspect.isawaitable(taken):  # what a file's `write` returns is not
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
            return  # it was on its way to us when we were cancelled
        self._waiting_for = None
        if taken.cancelled():
            # Not as it is: the caller of fetch was not cancelled.
            error = HTTPStreamClosedError("the streaming_callback was cancelled")
            self._reading.fail(error)
        elif (failure := taken.exception()) is not None:
            # Not by way of `result`, whose traceback would lead back to us.
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
        except Exception as exc:  # of the callback, or about the coding
            self._reading.fail(exc)
            return
        if self._is_ended:
            self._reading.body_done()
        else:
            self._reading.resume()

    def _check_end(self) -> None:
        if self._coding is not None:
            self._coding.end()
