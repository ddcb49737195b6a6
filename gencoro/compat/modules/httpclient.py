"""Legacy clients of `tornado.httpclient`, with callbacks.

Rule: a fetch with a callback never raises network errors: they are in
``response.error``, and the code of an error without an HTTP status is 599.

A client processes a request outside of the caller's stack contexts, because its queue
and its connections are shared.  Functions passed by the caller run inside them.
"""

import asyncio
import functools
import inspect
import ssl
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tornado.httpclient import (
    AsyncHTTPClient,
    HTTPClient,
    HTTPError,
    HTTPRequest,
    HTTPResponse,
)
from tornado.ioloop import IOLoop

from gencoro import context_hook
from gencoro.compat.calls.callback_arguments import take_callback
from gencoro.compat.calls.io_loop_arguments import (
    is_stand_in,
    on_loop,
    running_loop_replaced,
    take_io_loop,
    taking_io_loop,
)
from gencoro.compat.installer import installed
from gencoro.coroutines import coroutine
from gencoro.futures import Future
from gencoro.yieldables import as_future

try:
    import certifi as _certifi
except ImportError:
    certifi: ModuleType | None = None
else:
    certifi = _certifi

__all__ = [
    "DEFAULT_CA_CERTS",
    "DEFAULT_MAX_CLIENTS",
    "adopting_subclasses",
    "beside_running_loop",
    "body_producer",
    "certifi",
    "connection_initializer",
    "default_ca_certs",
    "fetch",
    "get_body",
    "handle_force_timeout",
    "handle_request",
    "header_callback",
    "initializer",
    "new",
    "prepare_curl_callback",
    "streaming_callback",
]

# As in Tornado 4, whose clients queue further requests.
DEFAULT_MAX_CLIENTS = 10

# Arguments of a request that are called while it is processed.
_CALLBACKS = {
    "body_producer",
    "header_callback",
    "prepare_curl_callback",
    "streaming_callback",
}
_OPTIONS = set(inspect.signature(HTTPRequest).parameters) - {"url"}


def new(original: "staticmethod[..., Any]") -> "staticmethod[..., Any]":
    """Wrap `AsyncHTTPClient.__new__`: accept ``io_loop`` as the first argument.

    It is an IOLoop or None, followed by ``force_instance`` as in Tornado 3 and 4, or by the
    number ``max_clients`` as in 2.  The implementation's ``initialize`` gets the loop if it
    has the parameter.
    """
    make = original.__func__

    @functools.wraps(make)
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        is_legacy = bool(args) and (args[0] is None or isinstance(args[0], IOLoop))
        io_loop, args = take_io_loop(args, kwargs, place=0)
        if is_legacy:
            for value in args:
                if isinstance(value, bool):
                    kwargs["force_instance"] = value
                elif value is not None:
                    kwargs["max_clients"] = value
            args = ()
        implementation = cls.configured_class() if cls is AsyncHTTPClient else cls
        if _declares(implementation.initialize, "io_loop"):
            kwargs["io_loop"] = io_loop or IOLoop.current()
        if io_loop is None:
            return make(cls, *args, **kwargs)
        if is_stand_in(io_loop):
            client = make(cls, *args, **{**kwargs, "force_instance": True})
            client.io_loop = io_loop
            return client
        with on_loop(io_loop):
            return make(cls, *args, **kwargs)

    return staticmethod(__new__)


def initializer(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap a client's ``initialize``: accept ``io_loop`` as the first argument."""

    @functools.wraps(original)
    def initialize(self: AsyncHTTPClient, *args: Any, **kwargs: Any) -> None:
        io_loop, args = take_io_loop(args, kwargs, place=0)
        # Of Tornado 2.0 to 2.3; the number of waiting connections is no longer limited.
        kwargs.pop("max_simultaneous_connections", None)
        with on_loop(io_loop):
            original(self, *args, **kwargs)

    return initialize


def fetch(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `AsyncHTTPClient.fetch`: accept ``callback`` after the request.

    The callback gets the response in a later turn, unless the returned Future has been
    cancelled.
    """
    return _with_callback(original, is_implementation=True)


def _with_callback(
    original: Callable[..., Any], is_implementation: bool
) -> Callable[..., Any]:
    """Wrap a ``fetch``: accept ``callback`` after the request.

    Args:
        is_implementation: Whether it processes the request itself instead of calling
            another ``fetch``; if so, it is called outside of stack contexts.
    """
    begin = original
    if is_implementation:
        begin = functools.partial(_outside_of_contexts, original)

    @functools.wraps(original)
    def fetch(self: AsyncHTTPClient, *args: Any, **kwargs: Any) -> Any:
        is_legacy = "callback" in kwargs or (
            # None is passed by callers that were called without a callback.
            len(args) > 1 and (args[1] is None or callable(args[1]))
        )
        is_running = asyncio._get_running_loop() is not None
        if is_running and not is_legacy:
            return begin(self, *args, **kwargs)
        # If the loop is not running, it will be started later.
        with on_loop(None if is_running else self.io_loop):
            if not is_legacy:
                return begin(self, *args, **kwargs)
            return _legacy_fetch(begin, self, args, kwargs)

    return fetch


def _legacy_fetch(
    begin: Callable[..., Any],
    client: AsyncHTTPClient,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> "Future[HTTPResponse]":
    """Fetch as in Tornado 4, with today's fetch in ``begin``."""
    callback, args = take_callback(args, kwargs, place=1)
    if callback is None and len(args) > 1 and args[1] is None:
        args = args[:1] + args[2:]
    request = _as_request(args[0] if args else kwargs.get("request"), kwargs)
    raises = kwargs.get("raise_error", args[1] if len(args) > 1 else True)
    future = as_future(begin(client, *args, **kwargs))
    if not raises:
        future = _response(future, request)
    if callback is not None:
        _answer(callback, future, request, client.io_loop)
    return future


def _outside_of_contexts(
    function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a ``fetch`` outside of stack contexts; its callbacks run in the caller's."""
    hook = context_hook.hook
    if hook is None:
        return function(*args, **kwargs)
    for name in _CALLBACKS & kwargs.keys():
        kwargs[name] = _bound(kwargs[name])
    return hook.without(function, *args, **kwargs)


def _bound(function: Any) -> Any:
    """Bind a function to the current stack contexts, if any; return None for None."""
    hook = context_hook.hook
    return function if hook is None else hook.wrap(function)


def _as_request(request: Any, kwargs: dict[str, Any]) -> HTTPRequest:
    """Return the request of a fetch's arguments; a subclass may have more arguments."""
    if isinstance(request, HTTPRequest):
        return request
    options = {name: kwargs[name] for name in _OPTIONS & kwargs.keys()}
    return HTTPRequest(request, **options)


def _answer(
    callback: Callable[[HTTPResponse], object],
    future: "Future[HTTPResponse]",
    request: HTTPRequest,
    io_loop: IOLoop,
) -> None:
    """Pass a fetch's response, or a response with its error, to the callback."""

    def answer(done: "Future[HTTPResponse]") -> Any:
        if done.cancelled():  # by the caller, whose contexts need no error
            return None
        error = done.exception()
        return callback(done.result() if error is None else _failed(error, request))

    io_loop.add_future(future, answer)


@coroutine
def _response(future: "Future[HTTPResponse]", request: HTTPRequest) -> Any:
    """Wait for a fetch, and return its response, or a response with its error.

    Until Tornado 5, ``raise_error=False`` meant this.  Today errors without an HTTP status
    are raised nevertheless, and so they are here for a call that could be modern.
    """
    try:
        return (yield future)
    except Exception as exc:  # any network error
        return _failed(exc, request)


def _failed(error: BaseException, request: HTTPRequest) -> HTTPResponse:
    if isinstance(error, HTTPError) and error.response is not None:
        return error.response
    took_s = time.time() - request.start_time
    return HTTPResponse(request, 599, error=error, request_time=took_s)


def adopting_subclasses(original: Any) -> "classmethod[Any, ..., None]":
    """Make the ``fetch`` of present and future subclasses accept a callback.

    Returns `AsyncHTTPClient.__init_subclass__`.
    """
    del original  # object's

    def __init_subclass__(cls: type[AsyncHTTPClient], **kwargs: Any) -> None:
        super(AsyncHTTPClient, cls).__init_subclass__(**kwargs)
        _adopt(cls)

    for cls in _subclasses(AsyncHTTPClient):
        _adopt(cls)
    return classmethod(__init_subclass__)


def _adopt(cls: Any) -> None:
    own = vars(cls).get("fetch")
    # A fetch with *args passes the callback on.
    if inspect.isfunction(own) and not _declares(own, "callback", or_any=True):
        cls.fetch = _AdoptedFetch(cls, own)


class _AdoptedFetch:
    """A subclass's own ``fetch``, which accepts a callback while compat is installed.

    The table lists Tornado's names, and not the classes of programs.  So this object
    restores the original itself, when it is first used after `uninstall`.
    """

    def __init__(self, owner: Any, original: Callable[..., Any]) -> None:
        self._owner = owner
        self._original = original
        # A fetch that calls another may schedule callbacks that need the caller's contexts.
        is_implementation = "fetch_impl" in vars(owner)
        self._with_callback = _with_callback(original, is_implementation)

    def __get__(self, client: Any, cls: type | None = None) -> Any:
        function = self._with_callback
        if not installed():
            function = self._original
            if vars(self._owner).get("fetch") is self:
                self._owner.fetch = function
        return function.__get__(client, cls)


def _subclasses(cls: type) -> Iterator[type]:
    subclass: type
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _declares(function: Any, name: str, or_any: bool = False) -> bool:
    """Return True if a function has a parameter of that name.

    Args:
        or_any: Whether ``*args`` counts too.
    """
    # inspect.signature is too slow: this is called for each connection.
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    is_any = bool(code.co_flags & inspect.CO_VARARGS)
    return name in code.co_varnames[:count] or (or_any and is_any)


def _bound_attribute(name: str) -> property:
    """Return a property that binds a function to the contexts in which it is set."""

    def get(self: HTTPRequest) -> Any:
        try:
            return self.__dict__[name]
        except KeyError:  # a subclass may not have set it
            raise AttributeError(f"{self!r} has no attribute {name!r}") from None

    def set_bound(self: HTTPRequest, function: Any) -> None:
        # The plain attribute: requests outlive install and uninstall.
        self.__dict__[name] = None if function is None else _bound(function)

    return property(get, set_bound)


body_producer = _bound_attribute("body_producer")
header_callback = _bound_attribute("header_callback")
prepare_curl_callback = _bound_attribute("prepare_curl_callback")
streaming_callback = _bound_attribute("streaming_callback")


def get_body(self: HTTPResponse) -> bytes:
    """Return the body."""
    return self.body


def beside_running_loop(original: Callable[..., Any]) -> Callable[..., Any]:
    """Allow a method to run a loop of its own while another one is running.

    The other loop is blocked meanwhile, as by any blocking call.
    """

    @functools.wraps(original)
    def wrapper(self: HTTPClient, *args: Any, **kwargs: Any) -> Any:
        with running_loop_replaced():
            return original(self, *args, **kwargs)

    return wrapper


def handle_request(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap `SimpleAsyncHTTPClient._handle_request`: support Tornado 4's connections.

    A subclass of the client names the class of its connections; a legacy one has
    ``io_loop`` as its first argument.
    """

    @functools.wraps(original)
    def _handle_request(
        self: Any, request: Any, release_callback: Any, final_callback: Any
    ) -> None:
        connection_class = self._connection_class()
        if not _declares(connection_class.__init__, "io_loop"):
            original(self, request, release_callback, final_callback)
            return
        connection_class(
            self.io_loop,
            self,
            request,
            release_callback,
            final_callback,
            self.max_buffer_size,
            self.tcp_client,
            self.max_header_size,
            self.max_body_size,
        )

    return _handle_request


# A connection's __init__(self, io_loop, client, request, ...).
connection_initializer = taking_io_loop(place=1)


def handle_force_timeout(self: Any) -> None:
    """Check for timeouts, which old versions of libcurl could miss."""
    self._handle_timeout()


def default_ca_certs() -> str:
    """Return the file of trusted certificate authorities.

    It is certifi's file if that is installed, or else the system's.

    Raises:
        RuntimeError: neither exists.
    """
    if certifi is not None:
        return str(certifi.where())
    cafile = ssl.get_default_verify_paths().cafile
    if cafile is None:
        raise RuntimeError(
            "this system has no file of certificate authorities; install certifi, or omit "
            "ca_certs, since Python may find them elsewhere"
        )
    return cafile


def _default_ca_certs_or_none() -> str | None:
    try:
        return default_ca_certs()
    except RuntimeError:  # no error at import: the program may not need the file
        return None


DEFAULT_CA_CERTS = _default_ca_certs_or_none()
