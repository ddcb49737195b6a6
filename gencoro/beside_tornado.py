"""What `tornado.gen`'s own names mean here, in a program that uses both packages.

Tornado is asked only if the program has imported it: nothing here imports it.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeGuard

from gencoro.errors import Return
from gencoro.futures import Future

__all__ = ["is_tornado_moment", "is_tornado_return", "registered_with_tornado"]


def registered_with_tornado(
    cls: type, ours: object
) -> "Callable[[Any], Future[Any]] | None":
    """Return what users registered for a type on `tornado.gen.convert_yielded`.

    Args:
        ours: Our own registry, which may stand in the place of Tornado's.
    """
    convert = _name_in_tornado_gen("convert_yielded")
    if convert is None or convert is ours:
        return None
    registered: Callable[[Any], Future[Any]] = convert.dispatch(cls)
    return None if registered is convert.dispatch(object) else registered


def is_tornado_moment(yielded: object) -> bool:
    """Return whether it is `tornado.gen.moment`."""
    return yielded is not None and yielded is _name_in_tornado_gen("moment")


def is_tornado_return(exc: BaseException) -> TypeGuard[Return]:
    """Return whether it is a `tornado.gen.Return`, as half-ported code raises it.

    For its reader that is the same as our own: it has a value.
    """
    cls = _name_in_tornado_gen("Return")
    return cls is not None and isinstance(exc, cls)


def _name_in_tornado_gen(name: str) -> Any:
    return getattr(sys.modules.get("tornado.gen"), name, None)
