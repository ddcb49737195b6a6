"""The writer thread: the event loop hands it batches, and waits for it before a commit."""

import asyncio
import contextlib
import threading
from functools import partial

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.base.text.formatting import error_words
from crawler_app.store.archive.recorder import Recorder
from crawler_app.store.store_thread import StoreThread
from gencoro import gen

__all__ = ["ArchiveWriter"]

# A batch that reaches either is handed over; so is any batch on a flush.
BATCH_PAGES = 16
BATCH_BYTES = 512 * 1024

# Above this many unwritten bytes, the Future of `write` waits until half is written.
MAX_WAITING_BYTES = 32 * 2**20

Batch = list[tuple[Fetched, float]]


class ArchiveWriter:
    """Runs a Recorder in its own thread, which ends with `close`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # Used by the caller's thread only.
        self._batch: Batch = []
        self._batch_bytes = 0
        # Used by both threads.
        self._lock = threading.Lock()
        self._waiting_bytes = 0
        self._waiters: list[gen.Future[None]] = []
        self._thread = StoreThread("archive", _error_of, undo=recorder.undo)

    def write(self, fetched: Fetched, began_at: float) -> "gen.Future[None]":
        """Queue an exchange; see `crawler_app.store.archive.store.Archive.write`."""
        self._thread.raise_error()
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
            size_bytes = sum(_size_of(fetched) for fetched, _ in batch)
            self._thread.run(
                partial(self._write_batch, batch),
                then=partial(self._note_written, size_bytes),
            )

    def flush(self) -> None:
        """Wait until everything is written; see `crawler_app.store.archive.store.Archive.flush`."""
        self._hand_over()
        self._thread.run(self._recorder.commit)
        self._thread.wait()

    def flushed(self) -> "gen.Future[None]":
        """Return a Future for the same; see `crawler_app.store.archive.store.Archive.flushed`."""
        self._hand_over()
        self._thread.run(self._recorder.commit)
        return self._thread.waited()

    def close(self) -> None:
        """Write what is queued, and end the thread.

        Raises:
            ArchiveError: writing has failed.
        """
        self._hand_over()
        self._thread.run(self._recorder.commit)
        self._thread.close()

    def _write_batch(self, batch: Batch) -> None:
        for fetched, began_at in batch:
            self._recorder.take(fetched, began_at)
        self._recorder.write_out()

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


def _error_of(exc: Exception) -> ArchiveError:
    return ArchiveError(
        f"the archive cannot be written: {error_words(exc)}; the pages since the last "
        "flush may not be in it"
    )
