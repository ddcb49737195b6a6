"""Legacy streams of `tornado.iostream`, whose methods took callbacks until Tornado 5.

Each function here wraps a method so that it accepts a callback in its former position,
and works as today without one.  With a callback the call returns None.
"""

import asyncio
import collections
import errno
import functools
import sys
from collections.abc import Callable
from typing import Any

from gencoro.compat.calls.callback_arguments import take_callback
from gencoro.compat.calls.io_loop_arguments import most_by_position, on_loop
from gencoro.compat.calls.objects_with_loops import keeping_io_loop
from gencoro.compat.calls.other_threads import is_elsewhere, pass_to_loop
from gencoro.compat.calls.stream_callbacks import call_close_callback, has_called_back
from gencoro.compat.calls.stream_calls import (
    Connecting,
    Reading,
    ReadingUntilClose,
    ShakingHands,
    Waiting,
    Writing,
    stop_streaming,
    streaming,
)
from gencoro.compat.calls.stream_subclasses import make_fill_buffers
from gencoro.compat.modules.concurrent import is_of_tornado
from gencoro.legacy.stack_context import wrap

__all__ = [
    "ERRNO_INPROGRESS",
    "ERRNO_WOULDBLOCK",
    "NO_PENDING_CALLBACKS",
    "close",
    "connect",
    "connect_ssl",
    "double_prefix",
    "initialize",
    "merge_prefix",
    "read_bytes",
    "read_callback",
    "read_into",
    "read_until",
    "read_until_close",
    "read_until_regex",
    "set_close_callback",
    "wait_for_handshake",
    "write",
]

Method = Callable[..., Any]

ERRNO_WOULDBLOCK = (errno.EWOULDBLOCK, errno.EAGAIN)
ERRNO_INPROGRESS = (errno.EINPROGRESS,)

# The value of a stream before its first call with a callback.
NO_PENDING_CALLBACKS = 0


def initialize(original: Method) -> Method:
    """Wrap `BaseIOStream.__init__`: accept a loop, and adapt subclasses of programs."""
    taking_io_loop = keeping_io_loop(1)(original)

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        make_fill_buffers(type(self))
        taking_io_loop(self, *args, **kwargs)

    return wrapper


def _get_read_callback(self: Any) -> Callable[..., Any] | None:
    waiting = self._read_future
    return waiting.callback.function if isinstance(waiting, Reading) else None


def _set_read_callback(self: Any, callback: None) -> None:
    if callback is not None:
        raise ValueError("_read_callback can be set to None only; call a read method")
    if isinstance(self._read_future, Reading):
        self._read_future.give_up()


# Programs set it to None to cancel a read and start another.
read_callback = property(_get_read_callback, _set_read_callback)


def read_bytes(original: Method) -> Method:
    """Wrap `BaseIOStream.read_bytes`."""

    @functools.wraps(original)
    def wrapper(
        self: Any,
        num_bytes: int,
        callback: Any = None,
        streaming_callback: Callable[[bytes], object] | None = None,
        partial: bool = False,
    ) -> Any:
        if callback is None and streaming_callback is None:
            return original(self, num_bytes, partial)
        if callback is not None and not callable(callback):
            callback, partial = None, callback
        with streaming(self, streaming_callback):
            if callback is None:
                return original(self, num_bytes, partial)
            return Reading(self, callback).begin(original, num_bytes, partial)

    return wrapper


def _calling_back(place: int, waiting: type[Waiting]) -> Callable[[Method], Method]:
    """Return a decorator that adds a callback argument to a method.

    Args:
        place: The former position of the callback; ``self`` counts.
        waiting: The class that waits for the end of the call.
    """

    def decorate(original: Method) -> Method:
        most = most_by_position(original)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if len(args) <= place and "callback" not in kwargs:
                return original(*args, **kwargs)
            callback, args = take_callback(args, kwargs, place, most)
            if callback is None:
                return original(*args, **kwargs)
            return waiting(args[0], callback).begin(original, *args[1:], **kwargs)

        return wrapper

    return decorate


# BaseIOStream.read_into(buf, callback, partial).
read_into = _calling_back(2, Reading)

# BaseIOStream.read_until(delimiter, callback, max_bytes).
read_until = _calling_back(2, Reading)

# BaseIOStream.read_until_regex(regex, callback, max_bytes).
read_until_regex = _calling_back(2, Reading)

# IOStream.connect(address, callback, server_hostname).
connect = _calling_back(2, Connecting)

# SSLIOStream.connect(address, callback, server_hostname) waits for the handshake too.
connect_ssl = _calling_back(2, ShakingHands)

# SSLIOStream.wait_for_handshake(callback).
wait_for_handshake = _calling_back(1, ShakingHands)


def read_until_close(original: Method) -> Method:
    """Wrap `BaseIOStream.read_until_close`."""

    @functools.wraps(original)
    def wrapper(
        self: Any,
        callback: Callable[[bytes], object] | None = None,
        streaming_callback: Callable[[bytes], object] | None = None,
    ) -> Any:
        if callback is None and streaming_callback is None:
            return original(self)
        with streaming(self, streaming_callback):
            if callback is None:
                return original(self)
            return ReadingUntilClose(self, callback).begin(original)

    return wrapper


def write(original: Method) -> Method:
    """Wrap `BaseIOStream.write`."""

    def begin(self: Any, data: Any, callback: Callable[[], object] | None) -> Any:
        if callback is None:
            return original(self, data)
        return Writing(self, callback).begin(original, data)

    @functools.wraps(original)
    def wrapper(
        self: Any, data: Any, callback: Callable[[], object] | None = None
    ) -> Any:
        if asyncio._get_running_loop() is self.io_loop.asyncio_loop:
            return begin(self, data, callback)
        if self.io_loop.asyncio_loop.is_running():
            self._check_closed()
            call = functools.partial(begin, self, data, wrap(callback))
            return pass_to_loop(self.io_loop, call)
        with on_loop(self.io_loop):
            return begin(self, data, callback)

    return wrapper


def set_close_callback(original: Method) -> Method:
    """Wrap `BaseIOStream.set_close_callback`: call it for a closed stream too."""

    @functools.wraps(original)
    def wrapper(self: Any, callback: Callable[[], object] | None) -> None:
        original(self, wrap(callback))
        # Today's Tornado does not expect the callback of a stream that is closed already.
        if self.closed() and not is_of_tornado(sys._getframe(1)):
            call_close_callback(self)

    return wrapper


def close(original: Method) -> Method:
    """Wrap `BaseIOStream.close`: the close callback waits for pending callbacks."""

    @functools.wraps(original)
    def wrapper(self: Any, exc_info: Any = False) -> None:
        if is_elsewhere(self.io_loop):
            if exc_info is True:
                exc_info = sys.exc_info()
            pass_to_loop(self.io_loop, functools.partial(wrapper, self, exc_info))
            return
        if not has_called_back(self):
            original(self, exc_info)
            return
        callback, self._close_callback = self._close_callback, None
        try:
            original(self, exc_info)
        finally:
            self._close_callback = callback
        stop_streaming(self)
        call_close_callback(self)

    return wrapper


def merge_prefix(deque: collections.deque[Any], size: int) -> None:
    """Make the first string of a deque ``size`` long, if there is enough data.

    >>> strings = collections.deque([b"ab", b"cde", b"f"])
    >>> merge_prefix(strings, 4); strings
    deque([b'abcd', b'e', b'f'])
    """
    if not deque:
        deque.append(b"")
    parts = []
    while deque and size > 0:
        part = deque.popleft()
        parts.append(part[:size])
        if len(part) > size:
            deque.appendleft(part[size:])
        size -= len(part)
    if parts:
        deque.appendleft(type(parts[0])().join(parts))


def double_prefix(deque: collections.deque[Any]) -> None:
    """Merge strings so that the first is at least doubled and contains the second.

    >>> strings = collections.deque([b"abc", b"d", b"efg"])
    >>> double_prefix(strings); strings
    deque([b'abcdef', b'g'])
    """
    merge_prefix(deque, len(deque[0]) + max(len(deque[0]), len(deque[1])))
