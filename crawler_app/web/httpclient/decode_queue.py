"""Decodes large bodies one at a time, to keep the event loop responsive.

Rule: a body that has had a turn comes before those that have not, so that thirty
decompression bombs are not in memory together.
"""

import asyncio
import collections

__all__ = ["TURN_BYTES", "DecodeQueue"]

# How much of a body is decoded in one turn, which takes one or two milliseconds.  Up to this
# size, what is received is decoded immediately.
TURN_BYTES = 512 * 1024


class DecodeQueue:
    """Gives each turn of the loop to one body."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()

    def wait(self, *, is_begun: bool) -> "asyncio.Future[None]":
        """Return a Future that is done when it is a body's turn; it may be cancelled.

        Args:
            is_begun: Whether the body has had a turn before.
        """
        turn: asyncio.Future[None] = self._loop.create_future()
        if not self._waiting:
            self._loop.call_soon(self._give_next)
        if is_begun:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        return turn

    def _give_next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                break
        if self._waiting:
            self._loop.call_soon(self._give_next)
