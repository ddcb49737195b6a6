"""Subclasses of `tornado.iostream.BaseIOStream` defined by programs.

Until Tornado 4 their method ``read_from_fd`` returned the data; today it fills a buffer
and returns the number of bytes.

Rule: a class is changed permanently, because it is still used after compat is
uninstalled.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["make_fill_buffers"]


def make_fill_buffers(cls: type) -> None:
    """Make a stream class fill buffers when it reads, unless it does already.

    >>> class Hello:
    ...     def read_from_fd(self):
    ...         return b"hello"
    >>> make_fill_buffers(Hello)
    >>> buf = bytearray(3)
    >>> Hello().read_from_fd(buf), buf
    (3, bytearray(b'hel'))
    """
    code = getattr(cls.read_from_fd, "__code__", None)  # type: ignore[attr-defined]
    if code is None or code.co_argcount > 1 or code.co_flags & inspect.CO_VARARGS:
        return
    owner = next(owner for owner in cls.__mro__ if "read_from_fd" in vars(owner))
    owner.read_from_fd = _filling(owner.read_from_fd)  # type: ignore[attr-defined]


def _filling(read: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(read)
    def wrapper(self: Any, buf: Any = None) -> Any:
        if buf is None:  # called by a legacy subclass
            return read(self)
        # What did not fit last time comes first.
        chunk = vars(self).pop("_read_too_much", None) or read(self)
        if not chunk:  # at the end of a file it has closed the stream
            return None
        size = min(len(chunk), len(buf))
        buf[:size] = chunk[:size]
        if size < len(chunk):
            self._read_too_much = chunk[size:]
        return size

    return wrapper
