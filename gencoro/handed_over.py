"""Futures of what is handed over to one waiter: a lock, an item, the next result.

Rule: nothing is lost by cancelling.  A waiter may be cancelled after its Future is done and
before it takes the result.  The Runner, a list and ``await`` then hand the result back.
"""

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from gencoro.futures import OUR_FUTURES, Future

__all__ = ["HandedOver", "hand_back"]

T = TypeVar("T")


class HandedOver(Future[T]):
    """A Future whose result is handed back if its waiter is cancelled before it takes it."""

    # Called with a result that is handed back.
    _take_back: Callable[[T], object]

    def hand_back(self) -> None:
        """Hand the result back, if there is one; the Future then counts as cancelled."""
        if not self.cancelled() and self.exception() is None:
            result = self.result()
            # Not by a flag, which each result() would have to look at.
            self.__class__ = HandedBack
            self._take_back(result)

    def __await__(self) -> Generator[Any, None, T]:
        try:
            yield from super().__await__()
            return self.result()
        except asyncio.CancelledError:
            hand_back(self)
            raise

    __iter__ = __await__


class HandedBack(HandedOver[T]):
    """One whose result is somewhere else by now."""

    def hand_back(self) -> None:
        """Do nothing."""

    def result(self) -> T:
        raise asyncio.CancelledError("its result was handed back")


OUR_FUTURES.add(HandedBack)


def hand_back(future: "Future[Any]") -> None:
    """Tell a Future, if it is done, that nothing will take its result."""
    if future.done() and hasattr(future, "hand_back"):
        future.hand_back()
