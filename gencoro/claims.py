"""The waiters of a lock or a queue.

Used by `gencoro.locks` and `gencoro.queues`.
"""

import asyncio
import collections
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from gencoro.futures import OUR_FUTURES, current_loop
from gencoro.handed_over import HandedOver
from gencoro.waiting import Deadline, seconds_from_now

__all__ = ["Claim", "Waiters"]

T = TypeVar("T")


class Claim(HandedOver[T]):
    """The Future of one waiter, whose result is handed back to a function."""

    # Set while it waits.
    _timer: asyncio.TimerHandle | None = None
    _waiters: "Waiters[T] | None" = None

    def __init__(self, take_back: Callable[[T], object]) -> None:
        super().__init__(loop=current_loop())
        self._take_back = take_back

    def cancel(self, msg: Any = None) -> bool:
        if self._waiters is not None:
            self._waiters.remove(self)
        return super().cancel(msg)


OUR_FUTURES.add(Claim)


class Waiters(Generic[T]):
    """The Claims that wait for something, first come first served.

    Each has a value, such as the item that is to be put into a queue.
    """

    def __init__(self) -> None:
        self._values: collections.OrderedDict[Claim[T], Any]
        self._values = collections.OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def add(self, claim: Claim[T], timeout: Deadline | None, value: Any = None) -> None:
        """Add a Claim; it leaves when it is cancelled, or when its time is over."""
        self._values[claim] = value
        claim._waiters = self
        if timeout is not None:
            loop = claim.get_loop()
            delay = seconds_from_now(timeout, loop)
            claim._timer = loop.call_later(delay, self._remove_late, claim)

    def next(self) -> tuple[Claim[T], Any]:
        """Remove and return the next Claim and its value."""
        claim, _ = next(iter(self._values.items()))
        return claim, self.remove(claim)

    def remove(self, claim: Claim[T]) -> Any:
        """Remove a Claim, and return its value."""
        claim._waiters = None
        if claim._timer is not None:
            claim._timer.cancel()
            claim._timer = None
        return self._values.pop(claim)

    def _remove_late(self, claim: Claim[T]) -> None:
        self.remove(claim)
        self.time_out(claim)

    def time_out(self, claim: Claim[T]) -> None:
        """Set the outcome of a Claim whose time is over."""
        claim.set_exception(TimeoutError("Timeout"))
