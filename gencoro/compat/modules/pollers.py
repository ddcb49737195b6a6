"""Loops with a custom poller: ``PollIOLoop(impl=...)``.

The poller is a ``select.epoll`` or a similar object.  Programs use their own in tests,
for example one that moves a clock forward instead of waiting.
"""

import asyncio
import select
import selectors
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from tornado.ioloop import IOLoop

__all__ = ["PolledLoop", "Poller", "Select"]

# The longest sleep of an idle loop, in seconds, as in Tornado 4: a poller needs a limit.
LONGEST_S = 3600.0


class Poller(Protocol):
    """The interface of ``impl``; the events are those of `IOLoop`."""

    def register(self, fd: int, events: int) -> object:
        """Start to watch a file descriptor for events."""

    def unregister(self, fd: int) -> object:
        """Stop watching a file descriptor."""

    def poll(self, timeout: float) -> Iterable[tuple[int, int]]:
        """Return (fd, events) pairs; wait up to ``timeout`` seconds for the first."""

    def close(self) -> None:
        """Release all resources."""


class Select:
    """A poller that uses `select.select`: ``tornado.platform.select._Select``."""

    def __init__(self) -> None:
        self._events: dict[int, int] = {}

    def register(self, fd: int, events: int) -> None:
        """Start to watch a file descriptor for events.

        Raises:
            OSError: it is registered already.
        """
        if fd in self._events:
            raise OSError(f"register({fd}): already registered; use modify()")
        self._events[fd] = events

    def modify(self, fd: int, events: int) -> None:
        """Change the events of a file descriptor."""
        self._events[fd] = events

    def unregister(self, fd: int) -> None:
        """Stop watching a file descriptor."""
        self._events.pop(fd, None)

    def poll(self, timeout: float) -> Iterable[tuple[int, int]]:
        """Return (fd, events) pairs; wait up to ``timeout`` seconds for the first."""
        kinds = (IOLoop.READ, IOLoop.WRITE, IOLoop.ERROR)
        read, write, error = (
            [fd for fd, events in self._events.items() if events & kind]
            for kind in kinds
        )
        found = select.select(read, write, error, timeout)
        ready: dict[int, int] = {}
        for kind, fds in zip(kinds, found, strict=True):
            for fd in fds:
                ready[fd] = ready.get(fd, 0) | kind
        return ready.items()

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


class PolledLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that uses a poller and a given clock.

    Args:
        time_func: Returns the time in seconds; None for asyncio's clock.
    """

    def __init__(
        self, poller: Poller, time_func: Callable[[], float] | None = None
    ) -> None:
        self._time_func = time_func or super().time
        super().__init__(_Selector(poller))

    def time(self) -> float:
        """Return the time of the clock."""
        return self._time_func()


class _Selector(selectors.BaseSelector):
    """Adapts a poller to the selector interface of asyncio."""

    def __init__(self, poller: Poller) -> None:
        self._poller = poller
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(
        self, fileobj: Any, events: int, data: Any = None
    ) -> selectors.SelectorKey:
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        asked = 0
        if events & selectors.EVENT_READ:
            asked |= IOLoop.READ
        if events & selectors.EVENT_WRITE:
            asked |= IOLoop.WRITE
        self._poller.register(fd, asked)
        self._keys[fileobj] = selectors.SelectorKey(fileobj, fd, events, data)
        return self._keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key = self._keys.pop(fileobj)
        self._poller.unregister(key.fd)
        return key

    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        seconds = LONGEST_S if timeout is None else max(timeout, 0.0)
        keys = {key.fd: key for key in self._keys.values()}
        ready = []
        for fd, events in self._poller.poll(seconds):
            key = keys[fd]
            found = 0
            if events & ~IOLoop.WRITE:  # errors go to the reader too
                found |= selectors.EVENT_READ
            if events & ~IOLoop.READ:
                found |= selectors.EVENT_WRITE
            ready.append((key, found & key.events))
        return ready

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._keys.clear()
        self._poller.close()
