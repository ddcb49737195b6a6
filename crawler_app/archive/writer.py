"""The writer thread: the event loop hands it batches, and waits for it before a commit.

Waking a thread takes 20-50 us, long enough to archive a page; so pages go in batches.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable

from crawler_app.archive.recorder import Recorder
from crawler_app.errors import ArchiveError
from crawler_app.models import Fetched
from gencoro import gen

__all__ = ["Writer"]

# A batch that reaches either is handed over; so is any batch on a flush.
BATCH_PAGES = 16
BATCH_BYTES = 512 * 1024

# Above this many unwritten bytes, the Future of `write` waits until half is written.
MAX_WAITING_BYTES = 32 * 2**20

Batch = list[tuple[Fetched, float]]


class Writer:
    """Runs a Recorder in its own thread, which ends with `close`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # A batch to write; an event to set when everything before it is on disk; None
        # to end.
        self._tasks: queue.SimpleQueue[Batch | threading.Event | None]
        self._tasks = queue.SimpleQueue()
        # Used by the caller's thread only.
        self._batch: Batch = []
        self._batch_bytes = 0
        # Used by both threads.
        self._lock = threading.Lock()
        self._waiting_bytes = 0
        self._waiters: list[gen.Future[None]] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="archive", daemon=True)
        self._thread.start()

    def write(self, fetched: Fetched, began_at: float) -> "gen.Future[None]":
        """Queue an exchange; see `crawler_app.archive.store.Archive.write`."""
        self._raise_error()
        size_bytes = _size_of(fetched)
        self._batch.append((fetched, began_at))
        self._batch_bytes += size_bytes
        taken: gen.Future[None] = gen.Future()
        with self._lock:
            self._waiting_bytes += size_bytes
            if self._waiting_bytes <= MAX_WAITING_BYTES:
                taken.set_result(None)
            else:
                self._waiters.append(taken)
        is_full = len(self._batch) >= BATCH_PAGES or self._batch_bytes >= BATCH_BYTES
        if is_full or not taken.done():
            self._hand_over()
        return taken

    def _hand_over(self) -> None:
        if self._batch:
            batch, self._batch, self._batch_bytes = self._batch, [], 0
            self._tasks.put(batch)

    def flush(self) -> None:
        """Wait until everything is written; see `crawler_app.archive.store.Archive.flush`."""
        self._hand_over()
        written = threading.Event()
        self._tasks.put(written)
        written.wait()
        self._raise_error()

    def close(self) -> None:
        """Write what is queued, and end the thread.

        Raises:
            ArchiveError: writing has failed.
        """
        self._hand_over()
        self._tasks.put(None)
        self._thread.join()
        self._raise_error()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise ArchiveError(
                f"the archive cannot be written: {self._error}; the pages since the "
                "last flush may not be in it"
            ) from self._error

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            if isinstance(task, threading.Event):
                self._attempt(self._recorder.commit)
                task.set()
            else:
                self._write_batch(task)
            # Do not keep the pages in memory while waiting for the next task.
            del task
        self._attempt(self._recorder.commit)

    def _write_batch(self, batch: Batch) -> None:
        for fetched, began_at in batch:
            self._attempt(self._recorder.take, fetched, began_at)
        self._attempt(self._recorder.write_out)
        self._note_written(sum(_size_of(fetched) for fetched, _ in batch))

    def _attempt(self, step: Callable[..., None], *args: object) -> None:
        """Run a step, unless one has failed before: a file must not have a gap."""
        if self._error is not None:
            return
        try:
            step(*args)
        except Exception as exc:  # OSError, sqlite3.Error; and our own bugs
            self._error = exc
            with contextlib.suppress(OSError, sqlite3.Error):
                self._recorder.undo()

    def _note_written(self, size_bytes: int) -> None:
        with self._lock:
            self._waiting_bytes -= size_bytes
            if not self._waiters or self._waiting_bytes > MAX_WAITING_BYTES // 2:
                return
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            with contextlib.suppress(RuntimeError):  # its loop is closed
                waiter.get_loop().call_soon_threadsafe(_release, waiter)


def _size_of(fetched: Fetched) -> int:
    return len(fetched.raw_head) + len(fetched.encoded_body or fetched.body)


def _release(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
