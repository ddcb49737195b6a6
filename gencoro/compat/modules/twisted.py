"""Legacy names of `tornado.platform.twisted`; nothing here needs Twisted."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from tornado.netutil import DefaultLoopResolver

from gencoro.compat.calls.io_loop_arguments import on_loop, take_io_loop

__all__ = ["TwistedResolver", "install"]


class TwistedResolver(DefaultLoopResolver):
    """A non-blocking resolver, which uses the system's resolver and not Twisted's."""


def install(original: Callable[[], None]) -> Callable[..., Any]:
    """Accept ``install(io_loop)``, and return the reactor."""

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        io_loop, args = take_io_loop(args, kwargs, place=0, most=0)
        with on_loop(io_loop):
            original(*args, **kwargs)
        return sys.modules["twisted.internet.reactor"]

    return wrapper
