"""The thread that writes: the event loop hands it batches and hardly ever waits for it.

To wake a thread costs 20-50 us, in which a whole page can be archived; so it is done for
several pages at a time.
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

# Handed over at once; a flush hands over whatever there is.
BATCH_PAGES = 16
BATCH_BYTES = 512 * 1024

# Not yet written: from here on, `write` has its caller wait for half of it to be gone.
MAX_WAITING_BYTES = 32 * 2**20

Batch = list[tuple[Fetched, float]]


class Writer:
    """Runs a Recorder in a thread of its own, which ends with `close`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # A batch to be written; an event to be set when all before is on disk; None to
        # end.
        self._tasks: queue.SimpleQueue[Batch | threading.Event | None]
        self._tasks = queue.SimpleQueue()
        # Of the caller's thread alone.
        self._batch: Batch = []
        self._batch_bytes = 0
        # Of both.
        self._lock = threading.Lock()
        self._waiting_bytes = 0
        self._waiters: list[gen.Future[None]] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="archive", daemon=True)
        self._thread.start()

    def write(self, fetched: Fetched, began_at: float) -> "gen.Future[None]":
        """Take a response; see `crawler_app.archive.Archive.write`."""
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
        """Wait until all is written; see `crawler_app.archive.Archive.flush`."""
        self._hand_over()
        written = threading.Event()
        self._tasks.put(written)
        written.wait()
        self._raise_error()

    def close(self) -> None:
        """Write what is left, and end the thread.

        Raises:
            ArchiveError: it could not be written.
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
            # While it waits for the next one, it would keep the pages.
            del task
        self._attempt(self._recorder.commit)

    def _write_batch(self, batch: Batch) -> None:
        for fetched, began_at in batch:
            self._attempt(self._recorder.take, fetched, began_at)
        self._attempt(self._recorder.write_out)
        self._note_written(sum(_size_of(fetched) for fetched, _ in batch))

    def _attempt(self, step: Callable[..., None], *args: object) -> None:
        """Do something, unless the disk has failed before: no file goes on with a hole."""
        if self._error is not None:
            return
        try:
            step(*args)
        except Exception as exc:  # OSError and sqlite3.Error; our own faults end it too
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
