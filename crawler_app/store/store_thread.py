"""A thread that writes to a store while the event loop continues.

Rule: steps run one after the other in the order in which they were queued.  After one that
fails, none runs: what is written has no gap.

Waking the thread takes 20-50 us, as long as writing a page; so queue several pages in one
step.  Used by the archive and the index.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable

from crawler_app.base.errors import StorageError
from gencoro import gen

__all__ = ["StoreThread"]

# Seconds without a step after which there is time for `when_idle`.
IDLE_S = 0.3


class StoreThread:
    """Runs steps in a thread of its own, which ends with `close`.

    Args:
        name: Of the thread.
        error_of: Returns the error to be raised for what a step has raised.
        undo: Called after a step that has failed.
        when_idle: A step for when there is no other for a while.

    >>> written = []
    >>> thread = StoreThread("example", StorageError, undo=written.clear)
    >>> thread.run(lambda: written.append("a page"))
    >>> thread.wait()
    >>> written
    ['a page']
    >>> thread.close()
    """

    def __init__(
        self,
        name: str,
        error_of: Callable[[Exception], StorageError],
        *,
        undo: Callable[[], None] = lambda: None,
        when_idle: Callable[[], None] | None = None,
    ) -> None:
        self._error_of = error_of
        self._undo = undo
        self._when_idle = when_idle
        # None ends the thread.
        self._steps: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(
        self, step: Callable[[], None], then: Callable[[], None] = lambda: None
    ) -> None:
        """Queue a step.

        Args:
            then: Called after it, in the thread, even if it fails or is not run.
        """

        def run() -> None:
            self._attempt(step)
            then()

        self._steps.put(run)

    def _attempt(self, step: Callable[[], None]) -> None:
        if self._error is not None:
            return
        try:
            step()
        except Exception as exc:  # OSError, sqlite3.Error; and our own bugs
            self._error = exc
            with contextlib.suppress(Exception):  # the first error is reported
                self._undo()

    def raise_error(self) -> None:
        """Raise the error of a step that has failed, if one has."""
        if self._error is not None:
            raise self._error_of(self._error) from self._error

    def wait(self) -> None:
        """Wait until all steps queued so far have run; raise the error if one has failed."""
        done = threading.Event()
        self._steps.put(done.set)
        done.wait()
        self.raise_error()

    def waited(self) -> "gen.Future[None]":
        """Return a Future of the running event loop that does the same."""
        future: gen.Future[None] = gen.Future()
        loop = asyncio.get_running_loop()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._resolve, future)

        self._steps.put(tell)
        return future

    def _resolve(self, future: "gen.Future[None]") -> None:
        if future.done():
            return
        try:
            self.raise_error()
        except StorageError as exc:
            future.set_exception(exc)
        else:
            future.set_result(None)

    def close(self) -> None:
        """Run what is queued, and end the thread; raise the error if a step has failed."""
        self._steps.put(None)
        self._thread.join()
        self.raise_error()

    def _run(self) -> None:
        while (step := self._next()) is not None:
            step()
            # Do not keep its pages in memory while waiting for the next one.
            del step

    def _next(self) -> Callable[[], None] | None:
        if self._when_idle is not None:
            try:
                return self._steps.get(timeout=IDLE_S)
            except queue.Empty:
                self._attempt(self._when_idle)
        return self._steps.get()
