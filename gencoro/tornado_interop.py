"""Support for objects of `tornado.gen` in a program that uses both packages.

Nothing here imports Tornado: it is used only if the program has already imported it.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeGuard

from gencoro.errors import Return
from gencoro.futures import Future

__all__ = [
    "add_future",
    "is_tornado_moment",
    "is_tornado_return",
    "registered_with_tornado",
]


def registered_with_tornado(
    cls: type, ours: object
) -> "Callable[[Any], Future[Any]] | None":
    """Return the converter registered for a type on `tornado.gen.convert_yielded`.

    Args:
        ours: gencoro's own registry, which compat may have put in place of Tornado's.
    """
    convert = _name_in_tornado_gen("convert_yielded")
    if convert is None or convert is ours:
        return None
    registered: Callable[[Any], Future[Any]] = convert.dispatch(cls)
    return None if registered is convert.dispatch(object) else registered


def is_tornado_moment(yielded: object) -> bool:
    """Return True if a yielded value is `tornado.gen.moment`."""
    return yielded is not None and yielded is _name_in_tornado_gen("moment")


def is_tornado_return(exc: BaseException) -> TypeGuard[Return]:
    """Return True if an exception is a `tornado.gen.Return`, as in half-ported code.

    Like gencoro's own `Return` it has a value.
    """
    cls = _name_in_tornado_gen("Return")
    return cls is not None and isinstance(exc, cls)


def add_future(
    future: "Future[Any]", callback: "Callable[[Future[Any]], object]"
) -> None:
    """Call back when a Future is done, in a later turn of the loop.

    Uses Tornado's loop of this thread if there is one, because programs rely on its
    handling of errors in callbacks.
    """
    io_loop = _name_in("tornado.ioloop", "IOLoop")
    current = None if io_loop is None else io_loop.current(instance=False)
    if current is None:
        future.add_done_callback(callback)
    else:
        current.add_future(future, callback)


def _name_in_tornado_gen(name: str) -> Any:
    return _name_in("tornado.gen", name)


def _name_in(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)
