"""Legacy `tornado.concurrent.Future`, which calls back inside ``set_result``.

Rule 1: a Future that a program creates calls back inside ``set_result``; those of
coroutines and of Tornado's own modules, which rely on it, have asyncio's timing.

Rule 2: all of them are of this very class, since programs compare the type.
"""

import asyncio
import functools
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

from tornado.ioloop import IOLoop

from gencoro.futures import OUR_FUTURES, chain_future
from gencoro.legacy import adaptors
from gencoro.legacy.futures import LegacyFuture

__all__ = ["Future", "as_legacy", "is_of_tornado", "return_future"]

T = TypeVar("T")


class _FutureType(type):
    """Makes every asyncio Future an instance, as in Tornado 5 and later."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Future and is_of_tornado(sys._getframe(1)):
            try:
                return Future.with_asyncios_timing(*args, **kwargs)
            except RuntimeError:  # a thread without a loop belongs to the program's
                loop = IOLoop.current().asyncio_loop  # type: ignore[attr-defined]
                return Future.with_asyncios_timing(loop=loop)
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

    Attributes:
        stands_for: The pending Future of gencoro whose outcome this one will get, if any;
            `gencoro.introspect` follows it.

    >>> future = Future()
    >>> future.add_done_callback(lambda done: print("called back with", done.result()))
    >>> future.set_result(42)
    called back with 42
    """

    stands_for: "asyncio.Future[T] | None" = None


OUR_FUTURES.add(Future)


def as_legacy(future: "asyncio.Future[T]") -> "Future[T]":
    """Return a legacy Future with the outcome of another one."""
    legacy: Future[T] = Future.with_asyncios_timing(loop=future.get_loop())
    chain_future(future, legacy)
    if not future.done():
        legacy.stands_for = future
        # Cancelled by the program: the other one, too, has nothing to tell any more.
        legacy.add_done_callback(lambda _: future.cancel())
    return legacy


@functools.wraps(adaptors.return_future)
def return_future(f: Callable[..., object]) -> Callable[..., Any]:
    return adaptors.returning_future(Future, f)


def is_of_tornado(frame: types.FrameType) -> bool:
    """Return True if a frame belongs to Tornado itself.

    Tornado's tests do not count: they use it as other programs do.
    """
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith("tornado.") and not name.startswith("tornado.test.")
