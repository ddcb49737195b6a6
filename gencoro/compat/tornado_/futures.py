"""Legacy `tornado.concurrent.Future`, which calls back inside ``set_result``.

Rule: Tornado's own modules still get a Future with asyncio's timing under the same
name, because they rely on it.
"""

import asyncio
import sys
import types
from typing import Any, TypeVar

from gencoro.futures import OUR_FUTURES, CoroutineFuture
from gencoro.legacy.futures import FormerMethods, LegacyFuture

__all__ = ["Future", "FutureOfCoroutine", "is_of_tornado"]

T = TypeVar("T")


class _FutureType(type):
    """Makes every asyncio Future an instance, as in Tornado 5 and later."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Future and is_of_tornado(sys._getframe(1)):
            return _FutureOfTornado(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is Future:
            return isinstance(instance, asyncio.Future)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is Future:
            return issubclass(subclass, asyncio.Future)
        return super().__subclasscheck__(subclass)


class Future(LegacyFuture[T], metaclass=_FutureType):
    """Tornado 4's Future, which behaves as asyncio's for code that waits for it.

    >>> future = Future()
    >>> future.add_done_callback(lambda done: print("called back with", done.result()))
    >>> future.set_result(42)
    called back with 42
    """


class _FutureOfTornado(FormerMethods, asyncio.Future[T]):
    """The Future of Tornado's own modules: asyncio's, with Tornado 4's methods."""

    __slots__ = ()


class FutureOfCoroutine(FormerMethods, CoroutineFuture[T]):
    """The Future of a coroutine, with Tornado 4's methods."""

    __slots__ = ()


OUR_FUTURES.update({Future, _FutureOfTornado, FutureOfCoroutine})


def is_of_tornado(frame: types.FrameType) -> bool:
    """Return whether a frame belongs to Tornado itself.

    Tornado's tests do not count: they use it as other programs do.
    """
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith("tornado.") and not name.startswith("tornado.test.")
