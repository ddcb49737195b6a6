"""Calls of stream methods with a callback or a streaming callback.

Rule: whatever the stream does to the Future of a call, it does at the same time to the
``Waiting`` that replaces it.  So calls end and fail as they do today.
"""

import contextlib
import errno
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tornado.log import gen_log

from gencoro.compat.calls.stream_callbacks import Callback, busy

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
        stream: It is asked to do something.
        callback: Called when that is done, and not called if the stream is closed before.
    """

    # Where the stream keeps the Future of such a call.
    place: ClassVar[str]

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        self.callback = Callback(stream, callback)
        self._stream = stream

    def begin(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Call a method of today's stream, and call back when its Future would be done."""
        with busy(self._stream):
            future = function(self._stream, *args, **kwargs)
            if not future.done():
                self._take_place_of(future)
            elif (error := future.exception()) is None:
                self.set_result(future.result())
            else:
                self.set_exception(error)

    def _take_place_of(self, future: Any) -> None:
        assert getattr(self._stream, self.place) is future, "where streams keep it"
        setattr(self._stream, self.place, self)

    # What a stream does to a Future.

    def done(self) -> bool:
        """Return whether it is done: no, for the stream forgets it when it is."""
        return False

    cancelled = done

    def set_result(self, result: Any) -> None:
        """Call back in the next turn."""
        del result
        self.callback.schedule()

    def set_exception(self, error: BaseException) -> None:
        """Do nothing: it is the close callback that tells."""

    def exception(self) -> None:
        """Return None; of Futures this is asked to keep them from complaining."""


class Reading(Waiting):
    """A read."""

    place = "_read_future"

    def set_result(self, result: Any) -> None:
        """Call back with what was read, in the next turn."""
        self.callback.schedule(result)

    def give_up(self) -> None:
        """Stop reading; what arrives is left to the next read."""
        stream = self._stream
        stream._read_future = None
        stream._read_bytes = stream._read_delimiter = stream._read_regex = None
        stream._read_partial = stream._read_until_close = False
        stop_streaming(stream)


class ReadingUntilClose(Reading):
    """A read that ends when the stream is closed, whatever the reason."""

    def set_exception(self, error: BaseException) -> None:
        """Call back with what had arrived by then."""
        del error
        self.set_result(self._stream._consume(self._stream._read_buffer_size))


class Connecting(Waiting):
    """A connection in the making."""

    place = "_connect_future"

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        super().__init__(stream, callback)
        self._fd = -1 if stream.closed() else stream.socket.fileno()

    def set_exception(self, error: BaseException) -> None:
        """Log that there will be no connection, if that is the reason."""
        reason = self._stream.error
        if self._stream._connecting and isinstance(reason, OSError):
            name = errno.errorcode.get(reason.errno or 0, reason)
            gen_log.warning("Connect error on fd %s: %s", self._fd, name)


class ShakingHands(Connecting):
    """A handshake of SSL, perhaps with the connection before it."""

    place = "_ssl_connect_future"


class Writing(Waiting):
    """A write, which waits until nothing is left to be written.

    A stream has one such callback: a later write takes the place of one that is not done.
    """

    def begin(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Call today's write, and call back when all is written."""
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
        """Call back in the next turn, or go on waiting for later writes."""
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
    """Have the read that begins in a ``with`` block give away each chunk on arrival.

    Args:
        stream: It reads a number of bytes, or until it is closed.
        callback: Called with each chunk; None does nothing.
    """
    if callback is None or stream._read_future is not None:  # that will be an error
        yield
        return
    chunks = _Chunks(stream, callback)
    with busy(stream):
        if stream.closed():  # then what is left is not looked through
            chunks.give(stream._read_buffer_size)
        else:
            stream._find_read_pos = chunks.find_read_pos
        try:
            yield
        except BaseException:
            stop_streaming(stream)
            raise


class _Chunks:
    """What a read gives away chunk by chunk."""

    def __init__(self, stream: Any, callback: Callable[..., Any]) -> None:
        self._stream = stream
        self._callback = Callback(stream, callback)

    def give(self, size: int) -> None:
        """Give away so many bytes of what the stream has."""
        self._callback.schedule(self._stream._consume(size))

    def find_read_pos(self) -> int | None:
        """Find the end of the read, as the stream does with all that arrives."""
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
    """Have the next read of a stream give its data away at its end."""
    vars(stream).pop("_find_read_pos", None)
