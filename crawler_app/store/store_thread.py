"""Runs the steps that write to a store: short ones at once, long ones in a thread.

Rule: steps run one after the other in the order in which they were given.  After one that
fails, none runs: what is written has no gap.

A page takes less time to write than to hand over: the two threads would take the interpreter's
lock from each other six times for a tenth of a millisecond of hashing and deflating.
Used by the archive and the index.
"""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from crawler_app.base.errors import StorageError
from gencoro import gen

__all__ = ["StoreThread"]


class StoreThread:
    """Runs steps, used by one thread, and ends with `close`.

    Args:
        name: Of its own thread, which the first long step starts.
        error_of: Returns the error to be raised for what a step has raised.
        undo: Called after a step that has failed.

    >>> written = []
    >>> thread = StoreThread("example", StorageError, undo=written.clear)
    >>> thread.run(lambda: written.append("a page"))
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
    ) -> None:
        self._error_of = error_of
        self._undo = undo
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._last: Future[None] | None = None  # of the steps given to the thread
        self._error: Exception | None = None

    def run(self, step: Callable[[], object], *, is_long: bool = False) -> None:
        """Run a step, or queue it if it takes long or if others are queued."""
        if is_long or self.is_busy():
            self._last = self._executor.submit(self._attempt, step)
        else:
            self._attempt(step)

    def is_busy(self) -> bool:
        """Return whether a step is queued, or runs in the thread."""
        return self._last is not None and not self._last.done()

    def _attempt(self, step: Callable[[], object]) -> None:
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
        """Wait until all steps so far have run; raise the error if one has failed."""
        if self._last is not None:
            self._last.result()
        self.raise_error()

    def waited(self) -> "gen.Future[None]":
        """Return a Future of the event loop that does the same."""
        future: gen.Future[None] = gen.Future()
        if self._last is None or self._last.done():
            self._resolve(future)
            return future

        def tell(_: "Future[None]") -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                future.get_loop().call_soon_threadsafe(self._resolve, future)

        self._last.add_done_callback(tell)
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
        self._executor.shutdown()
        self.raise_error()
