"""The exchange of a worker with the server: when it sends batches and asks for claims.

A batch that was flushed is sent by the step sender.  With the answer come the next claims, which
wait to be handed out.  So no step of a crawl waits for the server, and most round trips serve
many pages.

Rule: what is sent was flushed, and so were the archive and the index before.

Used by `crawler_app.store.frontier.postgres.postgres_frontier`.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable, Generator
from typing import Any

from crawler_app.store.frontier.postgres.step_changes import ChangeBatch
from crawler_app.store.frontier.postgres.step_sender import StepSender
from crawler_app.store.frontier.postgres.worker_state import (
    FrontierObserver,
    WorkerState,
)
from gencoro import gen

__all__ = ["StepExchange"]


class StepExchange:
    """Makes the steps of one worker when it is time.

    Args:
        state: What is sent, and what answers change.
        sender: Makes a step.
        clock: Returns the current time of this machine.
    """

    def __init__(
        self, state: WorkerState, sender: StepSender, clock: Callable[[], float]
    ) -> None:
        self._state = state
        self._sender = sender
        self._clock = clock
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look again whether it is time for a step: the state has changed."""
        self._woken.set()

    @gen.coroutine
    def run(self, observer: FrontierObserver) -> Generator[Any, Any, None]:
        """Make steps until everything is sent after `WorkerState.leave`.

        Raises:
            ServerError: the server refuses a step, or does not answer a worker that leaves.
        """
        try:
            while self._state.queue.flushed or not self._state.has_left:
                wait_s = self._wait_s()
                if wait_s > 0 and (yield self._is_woken(wait_s)):
                    continue
                yield self.make_step(observer)
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
        state = self._state
        if state.queue.flushed:
            return 0.0
        asks_at = state.asks_at if state.wanted() else math.inf
        # Three times in the time after which the server takes a worker for dead, so that one
        # step may be lost, and one late.
        alive_s = self._sender.alive_s / 3
        changes_at = min(state.host_changes.due_at, state.counts_due_at)
        due_at = min(asks_at, changes_at, state.stepped_at + alive_s)
        return min(due_at - self._clock(), alive_s)

    @gen.coroutine
    def make_step(self, observer: FrontierObserver) -> Generator[Any, Any, None]:
        """Send the oldest batch, and get claims if they are wanted.

        Raises:
            ServerError: the server refuses it.
        """
        state = self._state
        unsent = state.queue.flushed
        batch = unsent[0] if unsent else ChangeBatch()
        wanted = state.wanted()
        answer = yield self._sender.make_step(state.request(batch, wanted))
        if unsent and unsent[0] is batch:
            unsent.popleft()
        state.note_answer(batch, answer, wanted, observer)
        for origin in answer.get("origins") or ():
            yield from state.learn(observer, *origin)
