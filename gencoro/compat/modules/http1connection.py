"""Legacy `tornado.http1connection`: callbacks of writes, chunks, and stack contexts.

Rule: as in Tornado 4 there is one callback at a time: a new one replaces one that has
not been called, and none is called after the client has disconnected.
"""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from tornado.http1connection import HTTP1Connection

from gencoro.compat.calls.default_attributes import ByDefault
from gencoro.compat.calls.other_threads import on_any_thread
from gencoro.compat.calls.started_coroutines import Started, is_for_await
from gencoro.legacy.active_contexts import NOTHING, held
from gencoro.legacy.stack_context import wrap

__all__ = [
    "TRUSTS_PROXY",
    "address",
    "call_when_written",
    "close",
    "decoder_initializer",
    "finish",
    "read_chunked_body",
    "read_response",
    "set_close_callback",
    "write",
    "write_headers",
]

# The default of ``xheaders``: whether the client's address in a proxy's headers is trusted.
TRUSTS_PROXY = False

# The limit of a decoded body, in bytes, of a stream with the default ``max_buffer_size``.
MAX_DECODED_BYTES = 100 * 1024 * 1024

# The address of the peer.
address = ByDefault(lambda connection: connection.context.address)

# HTTP1Connection.close and finish.
close = finish = on_any_thread()


def write(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a callback, called when the chunk is written."""

    @on_any_thread()
    @functools.wraps(original)
    def wrapper(
        self: HTTP1Connection,
        chunk: bytes,
        callback: Callable[[], object] | None = None,
    ) -> Any:
        if callback is None:
            return original(self, chunk)
        call_when_written(self, callback)
        original(self, chunk)
        return None

    return wrapper


def write_headers(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a callback, called when the headers and the chunk are written."""

    @on_any_thread()
    @functools.wraps(original)
    def wrapper(
        self: HTTP1Connection,
        start_line: Any,
        headers: Any,
        chunk: bytes | None = None,
        callback: Callable[[], object] | None = None,
    ) -> Any:
        if callback is None:
            return original(self, start_line, headers, chunk)
        call_when_written(self, callback)
        original(self, start_line, headers, chunk)
        return None

    return wrapper


def read_response(original: Callable[..., Any]) -> Callable[..., Any]:
    """Start to read at once, since a client may not await the result; a server does."""

    @functools.wraps(original)
    def wrapper(self: HTTP1Connection, delegate: Any) -> Any:
        reading = original(self, delegate)
        is_running = asyncio._get_running_loop() is not None
        if not self.is_client or (is_running and is_for_await()):
            return reading
        return Started(reading)

    return wrapper


def read_chunked_body(original: Callable[..., Any]) -> Callable[..., Any]:
    """Pass each chunk to streaming code by itself; today small ones are joined.

    Programs rely on a message being a chunk, for example those that read a feed of events.
    """

    @functools.wraps(original)
    async def wrapper(self: HTTP1Connection, delegate: Any) -> None:
        await original(
            _WithoutReadyChunks(self) if _streams(delegate) else self, delegate
        )

    return wrapper


def _streams(delegate: Any) -> bool:
    """Return True if the program gets the body in parts: a client's or a server's."""
    while inner := getattr(delegate, "_delegate", getattr(delegate, "delegate", None)):
        delegate = inner
    if getattr(delegate, "stream_request_body", False):
        return True
    request = getattr(delegate, "request", None)
    return getattr(request, "streaming_callback", None) is not None


class _WithoutReadyChunks:
    """A connection, and its stream, whose next chunk always seems to need a wait.

    Before it waits, today's Tornado passes on what it has read.
    """

    def __init__(self, connection: HTTP1Connection) -> None:
        self._connection = connection
        self.stream = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def read_until(self, *args: Any, **kwargs: Any) -> bytes:
        return await self._connection.stream.read_until(*args, **kwargs)

    def read_bytes(self, *args: Any, **kwargs: Any) -> Any:
        return self._connection.stream.read_bytes(*args, **kwargs)


def set_close_callback(original: Callable[..., Any]) -> Callable[..., Any]:
    """Bind the callback to the stack contexts of the caller."""

    @functools.wraps(original)
    def wrapper(self: HTTP1Connection, callback: Callable[[], object] | None) -> None:
        original(self, callback if held() is NOTHING else wrap(callback))

    return wrapper


def decoder_initializer(original: Callable[..., None]) -> Callable[..., None]:
    """Do not require the limit of a decoded body."""

    @functools.wraps(original)
    def wrapper(
        self: Any, delegate: Any, chunk_size: int, *limit: Any, **limits: Any
    ) -> None:
        if not limit and not limits:
            limit = (MAX_DECODED_BYTES,)
        original(self, delegate, chunk_size, *limit, **limits)

    return wrapper


def call_when_written(
    connection: HTTP1Connection, callback: Callable[[], object]
) -> None:
    """Call a function when the next write is done."""
    if not connection.stream.closed():
        # Today's Tornado still calls this callback, but never sets it.
        connection._write_callback = wrap(callback)  # type: ignore[assignment]
