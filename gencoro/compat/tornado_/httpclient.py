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
from gencoro.compat.calls.callbacks import take_callback
from gencoro.compat.calls.io_loops import on_loop, take_io_loop, taking_io_loop
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

DEFAULT_MAX_CLIENTS = 10

# What a request calls while it is under way.
_CALLBACKS = {
    "body_producer",
    "header_callback",
    "prepare_curl_callback",
    "streaming_callback",
}
_OPTIONS = set(inspect.signature(HTTPRequest).parameters) - {"url"}


def new(original: "staticmethod[..., Any]") -> "staticmethod[..., Any]":
    """Return `AsyncHTTPClient.__new__` with ``io_loop`` as its first argument.

    After an IOLoop, or None, come ``force_instance`` as in Tornado 3 and 4, or the number
    ``max_clients`` as in 2.  If the implementation's ``initialize`` wants the loop, it gets
    it.
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
        with on_loop(io_loop):
            return make(cls, *args, **kwargs)

    return staticmethod(__new__)


def initializer(original: Callable[..., None]) -> Callable[..., None]:
    """Return a client's ``initialize`` with ``io_loop`` as its first argument."""

    @functools.wraps(original)
    def initialize(self: AsyncHTTPClient, *args: Any, **kwargs: Any) -> None:
        io_loop, args = take_io_loop(args, kwargs, place=0)
        # Of Tornado 2.0 to 2.3; connections that wait are not limited in number any more.
        kwargs.pop("max_simultaneous_connections", None)
        with on_loop(io_loop):
            original(self, *args, **kwargs)

    return initialize


def fetch(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `AsyncHTTPClient.fetch` with ``callback`` after the request.

    The callback gets the response in a later turn, unless the Future that is returned was
    cancelled by then.
    """
    return _with_callback(original, is_implementation=True)


def _with_callback(
    original: Callable[..., Any], is_implementation: bool
) -> Callable[..., Any]:
    """Return a ``fetch`` with ``callback`` after the request.

    Args:
        is_implementation: It sees to the request itself, and does not only have that
            done; so it is called outside of stack contexts.
    """
    begin = original
    if is_implementation:
        begin = functools.partial(_outside_of_contexts, original)

    @functools.wraps(original)
    def fetch(self: AsyncHTTPClient, *args: Any, **kwargs: Any) -> Any:
        is_legacy = "callback" in kwargs or (
            # None is a callback that is handed on by who was given none.
            len(args) > 1 and (args[1] is None or callable(args[1]))
        )
        is_running = asyncio._get_running_loop() is not None
        if is_running and not is_legacy:
            return begin(self, *args, **kwargs)
        # One that does not run will be started later.
        with on_loop(None if is_running else self.io_loop):
            if not is_legacy:
                return begin(self, *args, **kwargs)
            return _fetch_as_once(begin, self, args, kwargs)

    return fetch


def _fetch_as_once(
    begin: Callable[..., Any],
    client: AsyncHTTPClient,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> "Future[HTTPResponse]":
    """Fetch as in Tornado 4; ``begin`` does it as today."""
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
    """Call a ``fetch`` without stack contexts; what it will call has the caller's."""
    hook = context_hook.hook
    if hook is None:
        return function(*args, **kwargs)
    for name in _CALLBACKS & kwargs.keys():
        kwargs[name] = _tied(kwargs[name])
    return hook.without(function, *args, **kwargs)


def _tied(function: Any) -> Any:
    """Tie a function, or None, to the stack contexts of now, if there are any."""
    hook = context_hook.hook
    return function if hook is None else hook.wrap(function)


def _as_request(request: Any, kwargs: dict[str, Any]) -> HTTPRequest:
    """Return what a fetch's arguments ask for; a subclass may have others besides."""
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
    """Call back with a fetch's response, or with one that has its error."""

    def answer(done: "Future[HTTPResponse]") -> Any:
        if done.cancelled():  # by the caller, whose contexts need not be told
            return None
        error = done.exception()
        return callback(done.result() if error is None else _failed(error, request))

    io_loop.add_future(future, answer)


@coroutine
def _response(future: "Future[HTTPResponse]", request: HTTPRequest) -> Any:
    """Wait for a fetch, and return its response, or one that has its error.

    Until Tornado 5 that is what ``raise_error=False`` meant.  Now it lets errors through
    that are no HTTP status, and so it does where a call may as well be of today.
    """
    try:
        return (yield future)
    except Exception as exc:  # whatever has gone wrong with the network
        return _failed(exc, request)


def _failed(error: BaseException, request: HTTPRequest) -> HTTPResponse:
    if isinstance(error, HTTPError) and error.response is not None:
        return error.response
    took_s = time.time() - request.start_time
    return HTTPResponse(request, 599, error=error, request_time=took_s)


def adopting_subclasses(original: Any) -> "classmethod[Any, ..., None]":
    """Have the ``fetch`` of subclasses understand a callback, now and in future.

    Returns `AsyncHTTPClient.__init_subclass__`.
    """
    del original  # which is object's

    def __init_subclass__(cls: type[AsyncHTTPClient], **kwargs: Any) -> None:
        super(AsyncHTTPClient, cls).__init_subclass__(**kwargs)
        _adopt(cls)

    for cls in _subclasses(AsyncHTTPClient):
        _adopt(cls)
    return classmethod(__init_subclass__)


def _adopt(cls: Any) -> None:
    own = vars(cls).get("fetch")
    # One that takes whatever comes hands it on.
    if inspect.isfunction(own) and not _declares(own, "callback", or_any=True):
        cls.fetch = _AdoptedFetch(cls, own)


class _AdoptedFetch:
    """A subclass's own ``fetch``, with a callback as long as compat is installed.

    The table lists what is Tornado's and knows nothing of other people's classes.  So this
    goes by itself: when it is used first after `uninstall`, it puts the original back.
    """

    def __init__(self, owner: Any, original: Callable[..., Any]) -> None:
        self._owner = owner
        self._original = original
        # Who only has somebody else fetch may schedule what needs the caller's contexts.
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
    """Return whether a function has a parameter of that name.

    Args:
        or_any: Count ``*args`` as well.
    """
    # Not by its signature, which takes long, and this is asked for each connection.
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    is_any = bool(code.co_flags & inspect.CO_VARARGS)
    return name in code.co_varnames[:count] or (or_any and is_any)


def _tied_attribute(name: str) -> property:
    """Make a property that ties a function to the contexts in which it is set."""

    def get(self: HTTPRequest) -> Any:
        try:
            return self.__dict__[name]
        except KeyError:  # a subclass may not have set it
            raise AttributeError(f"{self!r} has no attribute {name!r}") from None

    def set_tied(self: HTTPRequest, function: Any) -> None:
        # Where it would be without us: requests outlive install and uninstall.
        self.__dict__[name] = None if function is None else _tied(function)

    return property(get, set_tied)


body_producer = _tied_attribute("body_producer")
header_callback = _tied_attribute("header_callback")
prepare_curl_callback = _tied_attribute("prepare_curl_callback")
streaming_callback = _tied_attribute("streaming_callback")


def get_body(self: HTTPResponse) -> bytes:
    """Return the body."""
    return self.body


def beside_running_loop(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that may run a loop of its own where another one runs.

    That one stands still meanwhile, as all blocking calls have it.
    """

    @functools.wraps(original)
    def wrapper(self: HTTPClient, *args: Any, **kwargs: Any) -> Any:
        running = asyncio._get_running_loop()
        if running is None:
            return original(self, *args, **kwargs)
        asyncio._set_running_loop(None)
        try:
            return original(self, *args, **kwargs)
        finally:
            asyncio._set_running_loop(running)

    return wrapper


def handle_request(original: Callable[..., None]) -> Callable[..., None]:
    """Return `SimpleAsyncHTTPClient._handle_request`, for connections of Tornado 4 too.

    A subclass names their class; one of that time has ``io_loop`` as its first argument.
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
    """Look after what libcurl has forgotten; its newer versions forget nothing."""
    self._handle_timeout()


def default_ca_certs() -> str:
    """Return the file of the certificate authorities that are trusted.

    That is certifi's if it is installed, else the system's.

    Raises:
        RuntimeError: there is neither.
    """
    if certifi is not None:
        return str(certifi.where())
    cafile = ssl.get_default_verify_paths().cafile
    if cafile is None:
        raise RuntimeError(
            "this system has no file of certificate authorities; install certifi, or "
            "leave ca_certs out, for Python may find them elsewhere"
        )
    return cafile


def _default_ca_certs_or_none() -> str | None:
    try:
        return default_ca_certs()
    except RuntimeError:  # and it is not said yet that anybody needs them
        return None


DEFAULT_CA_CERTS = _default_ca_certs_or_none()
