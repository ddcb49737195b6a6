"""Calls of stream methods with a callback or a streaming callback.

Rule: anything that the stream does to the Future of a call, it does at the same time to the
``Waiting`` that replaces it.  So calls end and fail as they do today.
"""

import contextlib
import errno
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tornado.log import gen_log

from gencoro.compat.calls.stream_callbacks import StreamCallback, busy

__all__ = [
    "Connecting",
    "Reading",
    "ReadingUntilClose",
    "ShakingHands",
    "Waiting",
    "Writing",
    "stop_streaming",
    "streaming",
]


class Waiting:
    """A call whose caller waits for a callback.

    Args:
        stream: The stream whose method is called.
        callback: Called when that call is done, but not if the stream is closed before.
    """

    # The attribute in which the stream keeps the Future of such a call.
    place: ClassVar[str]

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        self.callback = StreamCallback(stream, callback)
        self._stream = stream

    def begin(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Call a method of the stream; schedule the callback when its Future is done."""
        with busy(self._stream):
            future = function(self._stream, *args, **kwargs)
            if not future.done():
                self._take_place_of(future)
            elif (error := future.exception()) is None:
                self.set_result(future.result())
            else:
                self.set_exception(error)

    def _take_place_of(self, future: Any) -> None:
        # Not a done-callback of the Future: that runs in a later turn, and our callback would
        # be scheduled only then.
        assert getattr(self._stream, self.place) is future, "where streams keep it"
        setattr(self._stream, self.place, self)

    # The methods of a Future that streams call.

    def done(self) -> bool:
        """Return False: the stream drops its Future as soon as it is done."""
        return False

    cancelled = done

    def set_result(self, result: Any) -> None:
        """Schedule the callback for the next turn."""
        del result
        self.callback.schedule()

    def set_exception(self, error: BaseException) -> None:
        """Do nothing: the close callback reports errors."""

    def exception(self) -> None:
        """Return None; streams call this to mark the error of a Future as retrieved."""


class Reading(Waiting):
    """A read."""

    place = "_read_future"

    def set_result(self, result: Any) -> None:
        """Schedule the callback with the data, for the next turn."""
        self.callback.schedule(result)

    def give_up(self) -> None:
        """Cancel the read; data that arrives is left to the next read."""
        # Everything that `BaseIOStream._start_read` and its callers set for one read.
        stream = self._stream
        stream._read_future = None
        stream._read_bytes = stream._read_delimiter = stream._read_regex = None
        stream._read_partial = stream._read_until_close = False
        stop_streaming(stream)


class ReadingUntilClose(Reading):
    """A read that ends when the stream is closed, for any reason."""

    def set_exception(self, error: BaseException) -> None:
        """Schedule the callback with the data that has arrived."""
        del error
        self.set_result(self._stream._consume(self._stream._read_buffer_size))


class Connecting(Waiting):
    """A call of ``connect``."""

    place = "_connect_future"

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        super().__init__(stream, callback)
        self._fd = -1 if stream.closed() else stream.socket.fileno()

    def set_exception(self, error: BaseException) -> None:
        """Log the error if the connection failed."""
        reason = self._stream.error
        if self._stream._connecting and isinstance(reason, OSError):
            name = errno.errorcode.get(reason.errno or 0, reason)
            gen_log.warning("Connect error on fd %s: %s", self._fd, name)


class ShakingHands(Connecting):
    """A TLS handshake, including the connection if it is part of the call."""

    place = "_ssl_connect_future"


class Writing(Waiting):
    """A write, which waits until the write buffer is empty.

    A stream has only one write callback: a later write replaces a pending one.
    """

    def begin(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Call the stream's write; schedule the callback when everything is written."""
        before = getattr(self._stream, "_write_callback", None)
        self._stream._write_callback = self
        try:
            super().begin(function, *args, **kwargs)
        except BaseException:
            self._stream._write_callback = before
            raise

    def _take_place_of(self, future: Any) -> None:
        index, last = self._stream._write_futures.pop()
        assert last is future, "where streams keep it"
        self._stream._write_futures.append((index, self))

    def set_result(self, result: Any) -> None:
        """Schedule the callback for the next turn, or wait for later writes."""
        stream = self._stream
        if stream._write_callback is not self:
            return
        if stream._write_futures:
            stream._write_futures.append((stream._total_write_index, self))
        else:
            stream._write_callback = None
            super().set_result(result)

    def set_exception(self, error: BaseException) -> None:
        """Forget the callback."""
        if self._stream._write_callback is self:
            self._stream._write_callback = None


@contextlib.contextmanager
def streaming(stream: Any, callback: Callable[..., Any] | None) -> Iterator[None]:
    """Make the read that starts in a ``with`` block stream its data to a callback.

    Args:
        stream: It reads a number of bytes, or until it is closed.
        callback: Called with each chunk as it arrives; None has no effect.
    """
    if callback is None or stream._read_future is not None:  # the read will raise
        yield
        return
    chunks = _Chunks(stream, callback)
    with busy(stream):
        if stream.closed():  # it will not call find_read_pos any more
            chunks.give(stream._read_buffer_size)
        else:
            # Called whenever data has arrived: the only place between the buffer and the end
            # of a read.  Set on the object, so other streams do not pay.
            stream._find_read_pos = chunks.find_read_pos
        try:
            yield
        except BaseException:
            stop_streaming(stream)
            raise


class _Chunks:
    """Passes the data of one read to a callback, chunk by chunk."""

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        self._stream = stream
        self._callback = StreamCallback(stream, callback)

    def give(self, size: int) -> None:
        """Pass ``size`` bytes of the read buffer to the callback."""
        self._callback.schedule(self._stream._consume(size))

    def find_read_pos(self) -> int | None:
        """Pass on the data; return the end of the read, as the stream's method does."""
        stream = self._stream
        size = stream._read_buffer_size
        if size:
            if stream._read_bytes is not None:
                size = min(size, stream._read_bytes)
                stream._read_bytes -= size
            self.give(size)
        end: int | None = type(stream)._find_read_pos(stream)
        if end is not None:
            stop_streaming(stream)
        return end


def stop_streaming(stream: Any) -> None:
    """Make the next read of a stream deliver its data at the end again."""
    vars(stream).pop("_find_read_pos", None)
