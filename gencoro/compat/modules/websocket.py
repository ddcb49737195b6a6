"""Legacy `tornado.websocket`, for servers and clients.

Rule: the protocol and its checks, such as that of the origin, are those of today.
"""

import functools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.util import _websocket_mask
from tornado.web import RequestHandler
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    WebSocketProtocol,
    WebSocketProtocol13,
    _default_max_message_size,
    _WebSocketParams,
)

from gencoro.compat.calls.default_attributes import ByDefault, set_by_default
from gencoro.compat.calls.io_loop_arguments import on_loop, taking_io_loop
from gencoro.compat.calls.other_threads import on_any_thread
from gencoro.compat.calls.started_coroutines import Started, is_for_await
from gencoro.compat.calls.websocket_pings import default_timeout_s, ping

__all__ = [
    "allow_draft76",
    "apply_mask",
    "async_callback",
    "client_init",
    "client_terminated",
    "connect",
    "decompressor_init",
    "detach_stream",
    "get",
    "get_websocket_scheme",
    "on_its_loop",
    "periodic_ping",
    "ping_timeout",
    "protocol_async_callback",
    "protocol_init",
    "send_error",
    "stream",
    "wrap_method",
]


# The attribute in which a handler keeps its protocol after the connection has ended.
_PROTOCOL = "_gencoro_protocol"


def _protocol_of(handler: WebSocketHandler) -> WebSocketProtocol | None:
    """Return a handler's protocol, even if its connection has just been closed."""
    last: WebSocketProtocol | None = vars(handler).get(_PROTOCOL, lambda: None)()
    return handler.ws_connection or last


def _stream_of(handler: WebSocketHandler) -> IOStream | None:
    protocol = _protocol_of(handler)
    return None if protocol is None else protocol.stream


def _is_client_terminated(handler: WebSocketHandler) -> bool:
    protocol = _protocol_of(handler)
    if protocol is None:
        return _PROTOCOL in vars(handler)  # it has ended
    return protocol.client_terminated


client_terminated = ByDefault(_is_client_terminated)

# The stream of a handler whose connection is not open yet.
stream = None


def detach_stream(original: Callable[..., IOStream]) -> Callable[..., IOStream]:
    """Set a handler's attribute ``stream``."""

    @functools.wraps(original)
    def wrapper(self: WebSocketHandler) -> IOStream:
        detached = original(self)
        set_by_default(self, "stream", detached)
        return detached

    return wrapper


def get(original: Callable[..., Any]) -> Callable[..., Any]:
    """Open the connection even if a subclass's ``get`` does not await this one."""

    @functools.wraps(original)
    def wrapper(self: WebSocketHandler, *args: Any, **kwargs: Any) -> Any:
        call = original(self, *args, **kwargs)
        if is_for_await():
            return call
        self._auto_finish = False
        return Started(_finish_after(self, call), functools.partial(_fail, self))

    return wrapper


async def _finish_after(
    handler: RequestHandler, call: "types.CoroutineType[Any, Any, None]"
) -> None:
    await call
    if not handler._finished:
        handler.finish()


def _fail(handler: RequestHandler, error: BaseException) -> None:
    try:
        raise error
    except Exception as exc:  # any error while the connection is opened
        handler._handle_request_exception(exc)
    finally:
        del error  # The runner's rule 3.


def send_error(self: WebSocketHandler, *args: Any, **kwargs: Any) -> None:
    """Send an error response, or close the connection if it is already a WebSocket."""
    opened = _stream_of(self)
    if opened is None:
        super(WebSocketHandler, self).send_error(*args, **kwargs)
    else:
        opened.close()


def allow_draft76(self: WebSocketHandler) -> bool:
    """Return False: the protocol of 2010 is no longer supported."""
    del self
    return False


def get_websocket_scheme(self: WebSocketHandler) -> str:
    """Return ``ws``, or ``wss`` if the connection is encrypted."""
    return "wss" if self.request.protocol == "https" else "ws"


def async_callback(
    self: WebSocketHandler, callback: Callable[..., Any], *args: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Bind a function's arguments, and make its errors close the connection."""
    bound = functools.partial(callback, *args, **kwargs)

    @functools.wraps(bound, ())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return bound(*args, **kwargs)
        except Exception:  # any error of the callback
            self.log_exception(*sys.exc_info())
            protocol = _protocol_of(self)
            if protocol is not None:
                protocol._abort()

    return wrapper


def protocol_async_callback(
    self: WebSocketProtocol, callback: Callable[..., Any], *args: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Call the handler's method of the same name."""
    handler: Any = self.handler
    return async_callback(handler, callback, *args, **kwargs)


def protocol_init(original: Callable[..., None]) -> Callable[..., None]:
    """Accept the options of Tornado 5, and register the protocol with the handler."""

    @functools.wraps(original)
    def __init__(
        self: WebSocketProtocol,
        handler: Any,
        mask_outgoing: bool = False,
        params: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(params, _WebSocketParams):
            params = _params_of(handler, kwargs.pop("compression_options", params))
        if params.max_message_size is None:
            params.max_message_size = _default_max_message_size
        original(self, handler, mask_outgoing, params, **kwargs)
        self.request = getattr(handler, "request", None)  # type: ignore[attr-defined]
        if isinstance(handler, WebSocketHandler):
            vars(handler)[_PROTOCOL] = weakref.ref(self)

    return __init__


# WebSocketProtocol13.close, write_message and write_ping.
on_its_loop = on_any_thread(quiet=WebSocketClosedError)


def _ping_timeout(self: WebSocketProtocol13) -> float:
    timeout_s = self.params.ping_timeout
    return default_timeout_s(self.ping_interval) if timeout_s is None else timeout_s


# The time-out for the answer to a ping, in seconds; 0 for none.
ping_timeout = property(_ping_timeout)


def periodic_ping(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a time-out that is longer than the interval."""

    @functools.wraps(original)
    async def wrapper(self: WebSocketProtocol13) -> None:
        if self.ping_timeout > self.ping_interval:
            await ping(self, self.ping_interval, self.ping_timeout)
        else:
            await original(self)

    return wrapper


def _params_of(handler: Any, compression_options: Any) -> _WebSocketParams:
    # A client connection has `params`; a handler has the values as attributes.
    known = getattr(handler, "params", handler)
    return _WebSocketParams(
        ping_interval=known.ping_interval,
        ping_timeout=known.ping_timeout,
        max_message_size=known.max_message_size,
        compression_options=compression_options,
    )


def decompressor_init(original: Callable[..., None]) -> Callable[..., None]:
    """Accept the options in the present position of the message size."""

    @functools.wraps(original)
    def __init__(
        self: Any,
        persistent: bool,
        max_wbits: int | None,
        max_message_size: Any = None,
        compression_options: Any = None,
    ) -> None:
        if not isinstance(max_message_size, int):
            compression_options = compression_options or max_message_size
            max_message_size = _default_max_message_size
        original(self, persistent, max_wbits, max_message_size, compression_options)

    return __init__


def apply_mask(self: Any, mask: bytes, data: bytes) -> bytes:
    """Return data masked, or unmasked."""
    del self
    return _websocket_mask(mask, data)


def wrap_method(method: Callable[..., Any]) -> Callable[..., None]:
    """Make a handler's method raise an error on an open WebSocket."""

    @functools.wraps(method)
    def wrapper(self: WebSocketHandler, *args: Any, **kwargs: Any) -> None:
        if _stream_of(self) is not None:
            raise RuntimeError(
                f"{method.__name__}() on an open WebSocket; use write_message()"
            )
        method(self, *args, **kwargs)

    return wrapper


def client_init(original: Callable[..., None]) -> Callable[..., None]:
    """Accept a loop before the request, and set the attributes of Tornado 5."""

    @taking_io_loop(place=1)
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        vars(self).update(vars(self.params))

    return __init__


def connect(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a loop before the callback, which is called with the Future."""

    @functools.wraps(original)
    def wrapper(url: Any, *args: Any, **kwargs: Any) -> Any:
        io_loop = kwargs.pop("io_loop", None)
        if _has_io_loop(args):
            io_loop, args = args[0], args[1:]
        callback = kwargs.pop("callback", None)
        if args:
            callback, args = args[0], (None, *args[1:])
        with on_loop(io_loop):
            future = original(url, *args, **kwargs)
            if callback is not None:
                IOLoop.current().add_future(future, callback)
        return future

    return wrapper


def _has_io_loop(args: tuple[Any, ...]) -> bool:
    """Return True if the first argument is a loop, or a None in its position.

    Today's parameters are the callback, the timeout, the callback for messages, and the
    options for compression.
    """
    if not args or args[0] is not None:
        return bool(args) and isinstance(args[0], IOLoop)
    timeout, on_message, options = (*args[1:4], None, None, None)[:3]
    return (
        callable(timeout) or isinstance(on_message, (int, float)) or callable(options)
    )
