"""`Uploader`: uploads a worker's archive and index to object storage, in its own thread.

Rule 1: a WARC file is uploaded when nothing is appended to it any more, verified, noted, and
only then removed.  A kill between two of these steps repeats the last, to the same object.

Rule 2: the catalogue is written after everything that it names, so a reader sees one snapshot
or the next.

Rule 3: while the storage is unreachable, uploads are retried with backoff, and the crawl is held
if too much is waiting.
"""

import contextlib
import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from crawler_app.base.errors import ConfigError, ObjectStorageError, StorageError
from crawler_app.base.progress import OnStep, megabytes, no_step
from crawler_app.base.storage.catalogue import CATALOGUE_NAME, Catalogue, object_name
from crawler_app.base.storage.objects import Objects
from crawler_app.base.storage.uploads import Uploads, load_uploads, save_uploads
from crawler_app.base.text.formatting import size
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.staging import storage_url
from crawler_app.run.directory.table_snapshot import make_snapshot
from crawler_app.store.archive.warc_files import file_name, file_number, paths_of
from gencoro import gen

__all__ = ["Uploader", "warn_of_rest"]

logger = logging.getLogger(__name__)

# How often to look for a file that is full; it takes some 50 us.
LOOK_EVERY_S = 1.0

# Waits between attempts to reach the storage.
FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 60.0

# Copies of the tables, while they are uploaded; below the staging directory.
SNAPSHOT_NAME = "snapshot"

# The storage, or the disk of the staging directory; each may be better later.
FAULTS = (StorageError, OSError, sqlite3.Error)


def warn_of_rest(directory: CrawlDirectory) -> None:
    """Warn how much of a staging directory and its parts has not been uploaded."""
    url = storage_url(directory.path)
    everywhere = [directory, *directory.parts()]
    if url and (size_bytes := sum(_waiting_bytes(each.path) for each in everywhere)):
        logger.warning(
            "%s in %s wait for %s; they are uploaded when the worker is started again",
            size(size_bytes),
            directory.path,
            url,
        )


def _waiting_bytes(path: Path) -> int:
    total = 0
    for file in paths_of(path):
        with contextlib.suppress(FileNotFoundError):  # it was just uploaded
            total += file.stat().st_size
    return total


class Uploader:
    """Uploads the archive and the index of a staging directory.

    As a context manager it checks the storage; call `start` when the archive is open, and
    `end` when it is closed.

    Args:
        directory: Its path.
        url: Of the worker's own prefix.
        max_bytes: The size of the WARC files that may wait.

    Raises:
        ConfigError: the storage cannot be used, on entering.
    """

    def __init__(self, directory: Path, url: str, max_bytes: int) -> None:
        self._directory = directory
        self._objects = Objects(url)
        self._max_bytes = max_bytes
        # Used by the thread, once it runs.
        self._uploads = Uploads(url)
        self._is_away = False
        # Set by the loop.
        self._is_ending = self._is_patient = self._is_closed = False
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upload", daemon=True)
        self._error: Exception | None = None
        self._was_full = False

    def __enter__(self) -> Self:
        known = load_uploads(self._directory)
        if known is None:
            self._begin()
        elif known.url != self._objects.url:
            raise ConfigError(
                f"{self._directory} holds what goes to {known.url}; choose another "
                "directory with --staging"
            )
        else:
            self._uploads = known
        return self

    def _begin(self) -> None:
        """Write a catalogue, which shows whether the storage can be used.

        If there is one, what says so in the directory was lost.
        """
        try:
            data = self._objects.read(CATALOGUE_NAME) or Catalogue().to_json()
            catalogue = Catalogue.from_json(data)
            self._objects.write(CATALOGUE_NAME, data)
        except ObjectStorageError as exc:
            raise ConfigError(f"cannot write to {exc}") from None
        files, number = catalogue.bytes_by_file, catalogue.snapshot
        self._note(Uploads(self._objects.url, files, number))

    def __exit__(self, *exc_info: object) -> None:
        # A request that hangs is not waited for: the thread does nothing after it.
        self._is_closed = True
        self._woken.set()

    def start(self) -> None:
        """Begin to upload."""
        self._thread.start()

    @gen.coroutine
    def hold_while_full(
        self, hold: Callable[[bool], None], stop: Callable[[], None]
    ) -> Generator[Any, Any, None]:
        """Hold a crawl while too much is waiting for upload, until this is cancelled.

        Args:
            stop: Called if nothing is uploaded any more, because of an error of ours.
        """
        while self._error is None:
            hold(self.is_full())
            yield gen.sleep(LOOK_EVERY_S)
        stop()

    def is_full(self) -> bool:
        """Return whether too much waits, so that nothing more should be fetched."""
        is_full = _waiting_bytes(self._directory) > self._max_bytes
        if is_full and not self._was_full:
            logger.warning(
                "more than %s in %s wait for %s; no page is fetched meanwhile",
                size(self._max_bytes),
                self._directory,
                self._objects.url,
            )
        self._was_full = is_full
        return is_full

    @gen.coroutine
    def end(
        self, *, is_patient: bool, on_step: OnStep = no_step
    ) -> Generator[Any, Any, None]:
        """Upload the rest; the archive and the index must be closed.

        Args:
            is_patient: Whether to wait for storage that is away.  What remains is uploaded
                when the worker is started again.
            on_step: Progress callback.
        """
        self._is_patient, self._is_ending = is_patient, True
        self._woken.set()
        while self._thread.is_alive():
            on_step(
                "megabytes left to upload:",
                megabytes(_waiting_bytes(self._directory)),
                None,
            )
            yield gen.sleep(LOOK_EVERY_S / 20)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        try:
            while not self._is_closed:
                is_ending = self._is_ending  # before looking for the last file
                try:
                    self._upload(is_ending)
                except FAULTS as exc:
                    self._note_away(exc)
                    if is_ending and not self._is_patient:
                        return
                    self._wait(pause_s)
                    pause_s = min(2 * pause_s, MAX_PAUSE_S)
                else:
                    pause_s = FIRST_PAUSE_S
                    self._note_back()
                    if is_ending:
                        return
                    self._wait(LOOK_EVERY_S)
        except Exception as exc:  # a bug of ours, which `end` raises
            self._error = exc

    def _wait(self, seconds: float) -> None:
        self._woken.wait(seconds)
        self._woken.clear()

    def _note_away(self, exc: Exception) -> None:
        if not self._is_away:
            logger.warning(
                "%s wait in %s, trying again: %s",
                size(_waiting_bytes(self._directory)),
                self._directory,
                exc,
            )
        self._is_away = True

    def _note_back(self) -> None:
        if self._is_away:
            logger.warning("%s answers again", self._objects.url)
        self._is_away = False

    def _upload(self, is_ending: bool) -> None:
        """Upload what is whole, and a snapshot if it is due."""
        paths = paths_of(self._directory)
        # The archive appends to the last one, unless it is closed or that was uploaded.
        is_done = is_ending or not paths or file_number(paths[-1]) == self._uploads.last
        for path in paths if is_done else paths[:-1]:
            if not self._is_closed:
                self._upload_file(path)
        if self._is_snapshot_due(is_ending) and not self._is_closed:
            self._upload_snapshot()

    def _upload_file(self, path: Path) -> None:
        number, size_bytes = file_number(path) or 0, path.stat().st_size
        uploads = self._uploads
        if uploads.bytes_by_file.get(number) != size_bytes:
            self._objects.put(path, file_name(number))
            self._note(
                replace(
                    uploads,
                    bytes_by_file={**uploads.bytes_by_file, number: size_bytes},
                    unlisted_bytes=uploads.unlisted_bytes + size_bytes,
                )
            )
        path.unlink()

    def _note(self, uploads: Uploads) -> None:
        save_uploads(self._directory, uploads)
        self._uploads = uploads

    def _is_snapshot_due(self, is_ending: bool) -> bool:
        """Return whether to upload the tables.

        They grow with the archive.  Sent after each file, they would soon be more than the
        files; so at least as much of these is sent in between.
        """
        new_bytes = self._uploads.unlisted_bytes
        return new_bytes > 0 and (
            is_ending or new_bytes >= self._uploads.snapshot_bytes
        )

    def _upload_snapshot(self) -> None:
        before = self._uploads
        number = before.snapshot + 1
        at = time.time()
        with self._snapshot_directory() as into:
            files = before.bytes_by_file
            tables, revisits = make_snapshot(self._directory, into, files.keys())
            for name in tables:
                self._objects.put(into / name, object_name(name, number))
        catalogue = Catalogue(number, at, files, revisits, tables)
        self._objects.write(CATALOGUE_NAME, catalogue.to_json())
        sizes = (table.size_bytes for table in tables.values())
        self._note(
            replace(
                before, snapshot=number, snapshot_bytes=sum(sizes), unlisted_bytes=0
            )
        )
        for name in tables if before.snapshot else ():
            # A reader of the last snapshot takes the new one then.
            with contextlib.suppress(ObjectStorageError):
                self._objects.remove(object_name(name, before.snapshot))

    @contextlib.contextmanager
    def _snapshot_directory(self) -> Iterator[Path]:
        path = self._directory / SNAPSHOT_NAME
        shutil.rmtree(path, ignore_errors=True)  # of a run that was killed
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
