"""Legacy `tornado.netutil`: resolvers, and accepting connections."""

import asyncio
import errno
import functools
import inspect
import ssl
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop

from gencoro.callback_argument import pass_result_to
from gencoro.compat.calls.callback_arguments import take_callback, taking_callback
from gencoro.compat.calls.io_loop_arguments import on_loop, taking_io_loop
from gencoro.compat.calls.objects_with_loops import (
    having_io_loop,
    keeping_io_loop,
    on_own_loop,
    own_loop,
)
from gencoro.compat.calls.started_coroutines import Started, is_for_await

__all__ = [
    "ERRNO_WOULDBLOCK",
    "add_accept_handler",
    "default_context",
    "initialize",
    "new_resolver",
    "resolve",
    "resolve_async",
    "starting",
]

# The errors of a non-blocking socket that would have to wait.
ERRNO_WOULDBLOCK = (errno.EWOULDBLOCK, errno.EAGAIN)

# Tornado's add_accept_handler(sock, callback, io_loop).
add_accept_handler = taking_io_loop(place=2)


def initialize(original: Callable[..., None]) -> Callable[..., None]:
    """Accept a loop as the first argument."""
    return having_io_loop(keeping_io_loop(place=1)(original))


def resolve(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept ``resolve(host, port, family, callback)``, and use the resolver's loop."""
    return on_own_loop(taking_callback(place=4)(original))


def starting(place: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for native coroutines that were functions returning a Future.

    A caller that awaits the call gets the coroutine, and so does a caller without a loop,
    for `asyncio.run`.  Otherwise it starts at once, on the object's own loop, and its
    result is passed to the callback, if any.
    """

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            callback, args = take_callback(args, kwargs, place)
            is_running = asyncio._get_running_loop() is not None
            if callback is None and is_running and is_for_await():
                return original(*args, **kwargs)
            with on_loop(own_loop(args[0])):
                io_loop = IOLoop.current(instance=callback is not None)
                if io_loop is None:
                    return original(*args, **kwargs)
                # Even if that loop is not running yet.
                with on_loop(io_loop):
                    future = Started(original(*args, **kwargs))
                if callback is not None:
                    pass_result_to(callback, future)
            return future

        return wrapper

    return decorate


# A native coroutine resolve(host, port, family, callback).
resolve_async = starting(place=4)


def new_resolver(original: "staticmethod[..., Any]") -> "staticmethod[..., Any]":
    """Pass a loop only to resolvers that have the parameter.

    The ``initialize`` of a legacy class may require it, and today's do not accept it.
    """
    make = original.__func__

    @functools.wraps(make)
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        is_base = cls is cls.configurable_base()
        parameters = _parameters(
            (cls.configured_class() if is_base else cls).initialize
        )
        wanted = parameters.get("io_loop")
        if wanted is not None:
            if not (args or "io_loop" in kwargs) and wanted.default is wanted.empty:
                kwargs["io_loop"] = IOLoop.current()
            return make(cls, *args, **kwargs)
        io_loop = kwargs.pop("io_loop", None)
        with on_loop(io_loop):
            resolver = make(cls, *args, **kwargs)
        if io_loop is not None:
            vars(resolver).setdefault("io_loop", io_loop)
        return resolver

    return staticmethod(__new__)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def default_context(original: Callable[[], ssl.SSLContext]) -> Any:
    """Return an SSL context that can also be called, and then returns the context."""
    return _DefaultContext(original)


class _DefaultContext:
    """One of Tornado's `ssl.SSLContext` objects, created when it is first used.

    Until 6.5 the name was the context; now it is a function that creates it.
    """

    def __init__(self, make: Callable[[], ssl.SSLContext]) -> None:
        self._make = make

    def __call__(self) -> ssl.SSLContext:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return ssl.SSLContext
