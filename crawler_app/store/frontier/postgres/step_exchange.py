"""The exchange of a worker with the server: when it sends batches and asks for claims.

A batch that was flushed is sent by the pump.  With the answer come the next claims, which wait
to be handed out.  So no step of a crawl waits for the server, and most round trips serve many
pages.

Rule: what is sent was flushed, and so were the archive and the index before.

Used by `crawler_app.store.frontier.postgres.postgres_frontier`.
"""

import asyncio
import contextlib
import math
from collections.abc import Generator
from typing import Any

from crawler_app.store.frontier import PATIENCE_S
from crawler_app.store.frontier.postgres.host_changes import HostChanges
from crawler_app.store.frontier.postgres.step_changes import ChangeBatch
from crawler_app.store.frontier.postgres.step_results import COUNTS_EVERY_S, Answers
from gencoro import gen

__all__ = ["Exchange"]


class Exchange(Answers):
    """The part of a `PostgresFrontier` that talks with the server.

    Call `open` before anything else, and `run` while the crawl is under way.
    """

    @gen.coroutine
    def open(self) -> Generator[Any, Any, None]:
        """Enter the crawl.

        Raises:
            ConfigError: the server cannot be reached, or the crawl cannot be used.
        """
        yield self._sender.open()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Exchange what there is to exchange, until everything is sent after `leave`.

        Raises:
            ServerError: the server refuses a step, or does not answer after `leave`.
        """
        self._reader.rest()  # a crawl takes one connection
        try:
            while self._queue.flushed or not self._has_left:
                wait_s = self._wait_s()
                if wait_s > 0 and (yield self._is_woken(wait_s)):
                    continue
                yield self.exchange()
        finally:
            yield self._sender.close()

    @gen.coroutine
    def _is_woken(self, wait_s: float) -> Generator[Any, Any, bool]:
        """Wait until something has changed; return False if nothing has in this time."""
        self._woken.clear()
        with contextlib.suppress(TimeoutError):
            yield asyncio.wait_for(self._woken.wait(), wait_s)
            return True
        return False

    def _wait_s(self) -> float:
        """Return how long there is nothing to exchange, even if the clock is set back."""
        if self._queue.flushed:
            return 0.0
        asks_at = self._asks_at if self._wanted() else math.inf
        due_at = min(
            asks_at,
            self._host_changes.due_at,
            self._stepped_at + self._sender.alive_s / 3,
        )
        return min(due_at - self._clock(), self._sender.alive_s / 3)

    def hold(self, is_held: bool) -> None:
        """Ask for no claims until further notice, and leave those that wait to others."""
        self._is_held = is_held
        if is_held:
            for claim in self._leases.idle():
                self.release(claim)
        self._woken.set()

    def leave(self) -> None:
        """Put back what is claimed; then `run` sends everything, and ends."""
        self._put_all_back()
        self._queue.flushed.append(ChangeBatch())  # whose answer has the last numbers
        self._has_left = True
        self._sender.hurry()
        self._woken.set()

    @gen.coroutine
    def exchange(self) -> Generator[Any, Any, None]:
        """Make one step: send the oldest batch, and get claims if they are wanted.

        Raises:
            ServerError: the server refuses it.
        """
        unsent = self._queue.flushed
        batch = unsent[0] if unsent else ChangeBatch()
        changes, self._host_changes = self._host_changes, HostChanges()
        wanted = self._wanted()
        now = self._clock()
        pending = sum(len(each.claims) for each in self._queue.pending())
        request = {
            "wanted": wanted,
            "lease_s": self._lease_s,
            "max_depth": self._max_depth,
            "per_host": self._per_host,
            "asks_robots": self.asks_robots,
            "max_queries": self.max_queries,
            "asks": list(self._leases.unready_by_origin),
            "held": len(self._leases) + pending - len(batch.claims),
            "is_by_depth": self.is_by_depth,
            "late_at": now + PATIENCE_S if self._wants_counts(now) else None,
        }
        answer = yield self._sender.make_step(batch.body(changes) | request)
        if unsent and unsent[0] is batch:
            unsent.popleft()
        self._note_answer(batch, answer, wanted)
        for origin in answer.get("origins") or ():
            yield from self._learn(*origin)

    def _wants_counts(self, now: float) -> bool:
        # Whether a limit ends the crawl depends on what else is queued.
        is_ending = self._has_left or bool(self.limit_reached)
        # They are fresh for a second, unless the clock was set back.
        age_s = now - self._asks_counts_at + COUNTS_EVERY_S
        return is_ending or not 0 <= age_s < COUNTS_EVERY_S

    @property
    def is_away(self) -> bool:
        """Whether the server did not answer last time."""
        return self._sender.is_away

    @property
    def is_behind(self) -> bool:
        """Whether the server does not know all changes, or claims wait to be handed out."""
        return bool(self._leases.idle()) or any(self._queue.pending())

    def _wanted(self) -> int:
        """Return how many claims to ask for."""
        if self._has_left or self._is_held or not self._lease_s:
            return 0
        return max(self._buffered - len(self._leases.idle()), self._starved)
