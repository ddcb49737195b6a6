"""The names of `tornado.queues`, with the guarantees of asyncio when a waiter is cancelled.

An item goes to the next waiter, or back into the queue, if the waiter to which it was handed
over is cancelled before it takes it.  With those of Tornado it would be gone.

All waits return Futures, and take a ``timeout``: a `datetime.timedelta` from now, or a deadline
on the clock of `time.time`, after which they raise TimeoutError.
"""

import collections
import heapq
from asyncio import QueueEmpty, QueueFull
from collections.abc import AsyncIterator
from typing import Any, Generic, TypeVar

from gencoro.claims import Claim, Waiters
from gencoro.futures import Future
from gencoro.locks import Event
from gencoro.waiting import Deadline

__all__ = ["LifoQueue", "PriorityQueue", "Queue", "QueueEmpty", "QueueFull"]

T = TypeVar("T")


class Queue(Generic[T]):
    """A queue whose items come out in the order in which they were put in.

    Args:
        maxsize: The maximum number of items, after which `put` waits; 0 for no limit.

    Raises:
        TypeError: maxsize is None.
        ValueError: maxsize is negative.

    >>> import asyncio
    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def move(queue):
    ...     yield queue.put(42)
    ...     return (yield queue.get())
    >>> async def main():
    ...     return await move(Queue(1))
    >>> asyncio.run(main())
    42
    """

    # Exchanged by subclasses, with the methods below.
    _queue: Any

    def __init__(self, maxsize: int = 0) -> None:
        if maxsize is None:
            raise TypeError("maxsize can't be None; 0 means no limit")
        if maxsize < 0:
            raise ValueError(f"maxsize can't be negative, and is {maxsize}")
        self._maxsize = maxsize
        self._init()
        self._getters: Waiters[T] = Waiters()
        self._putters: Waiters[None] = Waiters()
        self._unfinished_tasks = 0
        self._finished = Event()
        self._finished.set()

    def _init(self) -> None:
        self._queue = collections.deque()

    def _get(self) -> T:
        item: T = self._queue.popleft()
        return item

    def _put(self, item: T) -> None:
        self._queue.append(item)

    def _put_back(self, item: T) -> None:
        if isinstance(self._queue, collections.deque):
            self._queue.appendleft(item)
        else:  # that of a subclass, which knows Tornado's three methods
            self._put(item)

    @property
    def maxsize(self) -> int:
        """The maximum number of items; 0 for no limit."""
        return self._maxsize

    def qsize(self) -> int:
        """Return the number of items."""
        return len(self._queue)

    def empty(self) -> bool:
        """Return True if there is no item."""
        return not self._queue

    def full(self) -> bool:
        """Return True if there is no room for another item."""
        return 0 < self._maxsize <= self.qsize()

    def put(self, item: T, timeout: Deadline | None = None) -> "Future[None]":
        """Put an item in, at once if there is room; return a Future that is done then."""
        putter: Claim[None] = Claim(lambda _: None)
        if self.full():
            self._putters.add(putter, timeout, item)
        else:
            self._add(item)
            putter.set_result(None)
        return putter

    def put_nowait(self, item: T) -> None:
        """Put an item in.

        Raises:
            QueueFull: there is no room for it.
        """
        if self.full():
            raise QueueFull
        self._add(item)

    def get(self, timeout: Deadline | None = None) -> "Future[T]":
        """Return a Future of the next item, taken out at once if there is one."""
        getter: Claim[T] = Claim(self._take_back)
        if self.empty():
            self._getters.add(getter, timeout)
        else:
            getter.set_result(self.get_nowait())
        return getter

    def get_nowait(self) -> T:
        """Take out the next item.

        Raises:
            QueueEmpty: there is none.
        """
        if self.empty():
            raise QueueEmpty
        if self._putters and self.qsize() - 1 < self._maxsize:
            putter, item = self._putters.next()
            self._add(item)
            putter.set_result(None)
        return self._get()

    def _add(self, item: T) -> None:
        self._unfinished_tasks += 1
        self._finished.clear()
        self._put(item)
        self._serve()

    def _take_back(self, item: T) -> None:
        self._put_back(item)
        self._serve()

    def _serve(self) -> None:
        # The `_put` of a subclass may have dropped the item.
        if self._getters and not self.empty():
            self._getters.next()[0].set_result(self._get())

    def task_done(self) -> None:
        """Tell that an item which was taken out has been dealt with.

        Raises:
            ValueError: it was called more often than there were items.
        """
        if self._unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self._unfinished_tasks -= 1
        if self._unfinished_tasks == 0:
            self._finished.set()

    def join(self, timeout: Deadline | None = None) -> "Future[None]":
        """Return a Future that is done when `task_done` was called for each item."""
        return self._finished.wait(timeout)

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    def __anext__(self) -> "Future[T]":
        return self.get()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x} {self._state()}>"

    def __str__(self) -> str:
        return f"<{type(self).__name__} {self._state()}>"

    def _state(self) -> str:
        state = [f"maxsize={self._maxsize!r}"]
        if self._queue:
            state.append(f"queue={self._queue!r}")
        for name, waiters in (("getters", self._getters), ("putters", self._putters)):
            state += [f"{name}[{len(waiters)}]"] * bool(waiters)
        if self._unfinished_tasks:
            state.append(f"tasks={self._unfinished_tasks}")
        return " ".join(state)


class PriorityQueue(Queue[Any]):
    """A queue whose smallest item comes out first."""

    def _init(self) -> None:
        self._queue = []

    def _get(self) -> Any:
        return heapq.heappop(self._queue)

    def _put(self, item: Any) -> None:
        heapq.heappush(self._queue, item)


class LifoQueue(Queue[T]):
    """A queue whose latest item comes out first."""

    def _init(self) -> None:
        self._queue = []

    def _get(self) -> T:
        item: T = self._queue.pop()
        return item

    _put_back = Queue._put
