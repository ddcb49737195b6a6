"""One call, several waiters: those who want the same thing at the same time share one call.

Rule: a waiter that leaves ends its own wait only; the call is cancelled when the last one has left.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gencoro import gen

__all__ = ["SharedCalls"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Call(Generic[T]):
    """A call under way, and how many wait for it."""

    answer: gen.Future[T]
    waiters: int = 0


class SharedCalls(Generic[T]):
    """Calls that are under way, by anything that tells them apart.

    >>> calls = SharedCalls()
    >>> first = calls.ask("a", lambda: gen.sleep(3600))
    >>> second = calls.ask("a", gen.Future)  # which is not called
    >>> first.cancel()  # the second still waits
    True
    """

    def __init__(self) -> None:
        self._call_by_key: dict[Hashable, _Call[T]] = {}

    def ask(
        self, key: Hashable, begin: "Callable[[], gen.Future[T]]"
    ) -> "gen.Future[T]":
        """Return a Future of one's own for the result of a call.

        Args:
            begin: Begins the call, unless it is under way.
        """
        call = self._call_by_key.get(key)
        if call is None:
            call = self._begin(key, begin())

        def leave(_: "gen.Future[T]") -> None:
            call.waiters -= 1
            if not call.waiters:
                # Removed immediately: the next caller would be cancelled with it.
                self._end(key, call)
                call.answer.cancel()

        call.waiters += 1
        copy: gen.Future[T] = gen.Future()
        gen.chain_future(call.answer, copy)
        copy.add_done_callback(leave)
        return copy

    def _begin(self, key: Hashable, answer: "gen.Future[T]") -> _Call[T]:
        call = self._call_by_key[key] = _Call(answer)
        # Who asks once it has ended begins a new call, even before all waiters are told.
        gen.future_add_done_callback(answer, lambda _: self._end(key, call))
        return call

    def _end(self, key: Hashable, call: _Call[T]) -> None:
        if self._call_by_key.get(key) is call:
            del self._call_by_key[key]
