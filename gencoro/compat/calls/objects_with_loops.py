"""Objects created with an IOLoop, as was possible until Tornado 4.

Rule: such an object uses its own loop, whichever is current; an object created without
one uses the current loop, as it does today.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop

from gencoro.compat.calls.default_attributes import ByDefault
from gencoro.compat.calls.io_loop_arguments import (
    most_by_position,
    on_loop,
    take_io_loop,
)

__all__ = [
    "IO_LOOP",
    "having_io_loop",
    "keeping_io_loop",
    "on_own_loop",
    "own_loop",
]


# The attribute ``io_loop`` of objects created without a loop: the loop on which a server was
# started, or else the current loop.
IO_LOOP = ByDefault(
    lambda instance: vars(instance).get("_started_on") or IOLoop.current()
)


def own_loop(instance: Any) -> IOLoop | None:
    """Return the loop with which an object was created, or None."""
    io_loop = vars(instance).get("io_loop")
    return io_loop if isinstance(io_loop, IOLoop) else None


def on_own_loop(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method so that the object's own loop is the current loop inside it."""

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        io_loop = own_loop(self)
        if io_loop is None:
            return original(self, *args, **kwargs)
        with on_loop(io_loop):
            return original(self, *args, **kwargs)

    return wrapper


def keeping_io_loop(place: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for constructors: they accept a loop and store it."""

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        most = most_by_position(original)

        @functools.wraps(original)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
            io_loop, args = take_io_loop((self, *args), kwargs, place, most)
            if io_loop is None:
                original(*args, **kwargs)
                return
            vars(self)["io_loop"] = io_loop
            with on_loop(io_loop):
                original(*args, **kwargs)

        return wrapper

    return decorate


def having_io_loop(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method that set ``io_loop``, even if a subclass or a mixin has a None there."""

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if inspect.getattr_static(self, "io_loop", IO_LOOP) is None:
            self.io_loop = IOLoop.current()
        return result

    return wrapper
