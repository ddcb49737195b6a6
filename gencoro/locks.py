"""The names of `tornado.locks`, with the guarantees of asyncio when a waiter is cancelled.

A lock that was released to a waiter goes to the next one if that waiter is cancelled, also in
the same turn of the loop.  With those of Tornado it would be held forever by nobody.

All waits return Futures, and take a ``timeout``: a `datetime.timedelta` from now, or a deadline
on the clock of `time.time`, after which they raise TimeoutError.
"""

from typing import Any, NoReturn

from gencoro.claims import Claim, Waiters
from gencoro.futures import Future
from gencoro.waiting import Deadline

__all__ = ["BoundedSemaphore", "Condition", "Event", "Lock", "Semaphore"]


class _Waited:
    """What has waiters, and shows their number."""

    def __init__(self) -> None:
        self._waiters: Waiters[Any] = Waiters()

    def __repr__(self) -> str:
        state = self._state() + [f"waiters:{len(self._waiters)}"] * bool(self._waiters)
        return f"<{super().__repr__()[1:-1]} [{','.join(state)}]>"

    def _state(self) -> list[str]:
        return []


class Condition(_Waited):
    """Wakes up waiters one by one, in their order.

    >>> import asyncio
    >>> async def main():
    ...     condition = Condition()
    ...     waiting = condition.wait()
    ...     condition.notify()
    ...     return await waiting
    >>> asyncio.run(main())
    True
    """

    def __init__(self) -> None:
        self._waiters: Waiters[bool] = _Unnotified()

    def wait(self, timeout: Deadline | None = None) -> "Future[bool]":
        """Return a Future: True after a `notify`, False if the time runs out before."""
        waiter: Claim[bool] = Claim(lambda is_notified: self.notify(int(is_notified)))
        self._waiters.add(waiter, timeout)
        return waiter

    def notify(self, n: int = 1) -> None:
        """Wake up this many waiters."""
        for _ in range(min(n, len(self._waiters))):
            self._waiters.next()[0].set_result(True)

    def notify_all(self) -> None:
        """Wake up all waiters."""
        self.notify(len(self._waiters))


class _Unnotified(Waiters[bool]):
    """Waiters whose result tells whether they were notified in time."""

    def time_out(self, claim: Claim[bool]) -> None:
        claim.set_result(False)


class Event(_Waited):
    """Wakes up all waiters when it is set.

    >>> import asyncio
    >>> async def main():
    ...     event = Event()
    ...     waiting = event.wait()
    ...     event.set()
    ...     await waiting
    >>> asyncio.run(main())
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_set = False

    def _state(self) -> list[str]:
        return ["set" if self._is_set else "clear"]

    def is_set(self) -> bool:
        """Return True if it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it, and wake up all waiters."""
        self._is_set = True
        while self._waiters:
            self._waiters.next()[0].set_result(None)

    def clear(self) -> None:
        """Have later waits wait for the next `set`."""
        self._is_set = False

    def wait(self, timeout: Deadline | None = None) -> "Future[None]":
        """Return a Future that is done when the event is set."""
        waiter: Claim[None] = Claim(lambda _: None)
        if self._is_set:
            waiter.set_result(None)
        else:
            self._waiters.add(waiter, timeout)
        return waiter


class Semaphore(_Waited):
    """Lets a number of holders in at a time.

    The result of `acquire` releases it at the end of a ``with`` block.

    Raises:
        ValueError: value is negative.

    >>> import asyncio
    >>> from gencoro import gen
    >>> semaphore = Semaphore(2)
    >>> @gen.coroutine
    ... def work():
    ...     with (yield semaphore.acquire()):
    ...         yield gen.sleep(0.001)
    >>> async def main():
    ...     await gen.multi([work(), work(), work()])
    ...     async with semaphore:
    ...         print(semaphore)  # doctest: +ELLIPSIS
    >>> asyncio.run(main())
    <gencoro.locks.Semaphore object at ... [unlocked,value:1]>
    """

    def __init__(self, value: int = 1) -> None:
        super().__init__()
        if value < 0:
            raise ValueError(f"a Semaphore cannot begin with {value}; give 0 or more")
        self._value = value

    def _state(self) -> list[str]:
        return [f"unlocked,value:{self._value}" if self._value else "locked"]

    def acquire(self, timeout: Deadline | None = None) -> "Future[Held]":
        """Return a Future that is done when one may enter."""
        waiter: Claim[Held] = Claim(Held.release)
        if self._value > 0:
            self._value -= 1
            waiter.set_result(Held(self))
        else:
            self._waiters.add(waiter, timeout)
        return waiter

    def release(self) -> None:
        """Let in the next waiter, or a later one."""
        if self._waiters:
            self._waiters.next()[0].set_result(Held(self))
        else:
            self._value += 1

    def __enter__(self) -> NoReturn:
        raise RuntimeError(
            "write `with (yield lock.acquire()):` in a coroutine, or `async with lock:`"
        )

    def __exit__(self, *_exc_info: object) -> None:
        """Is never called: `__enter__` raises."""

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_exc_info: object) -> None:
        self.release()


class BoundedSemaphore(Semaphore):
    """A Semaphore that must not be released more often than it was acquired."""

    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._initial_value = value

    def release(self) -> None:
        """Let in the next waiter, or a later one.

        Raises:
            ValueError: it is not acquired.
        """
        if self._value >= self._initial_value:
            raise ValueError("Semaphore released too many times")
        super().release()


class Lock(BoundedSemaphore):
    """Lets one holder in at a time; used like a `Semaphore`."""

    def __init__(self) -> None:
        super().__init__(1)

    def release(self) -> None:
        """Let in the next waiter, or a later one.

        Raises:
            RuntimeError: it is not acquired.
        """
        try:
            super().release()
        except ValueError:
            raise RuntimeError("release unlocked lock") from None


class Held:
    """The result of `acquire`: releases a lock at the end of a ``with`` block."""

    __slots__ = ("_lock",)

    def __init__(self, lock: Semaphore) -> None:
        self._lock = lock

    def release(self) -> None:
        """Release it, as the end of a ``with`` block does."""
        self._lock.release()

    def __enter__(self) -> None:
        """Do nothing: it is held already."""

    def __exit__(self, *_exc_info: object) -> None:
        self._lock.release()
