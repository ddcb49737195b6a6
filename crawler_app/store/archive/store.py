"""The archive of one crawl: written while it runs, and read for unchanged pages.

`crawler_app.store.archive` describes the files and the way to the disk.
"""

import contextlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.base.storage.uploads import load_uploads
from crawler_app.base.text.formatting import error_words
from crawler_app.store.archive.captures import (
    Capture,
    Captures,
    disk_errors,
)
from crawler_app.store.archive.gzip_members import MAX_RECORD_BYTES
from crawler_app.store.archive.known_payloads import KnownPayloads
from crawler_app.store.archive.recorder import Recorder
from crawler_app.store.archive.recovery import recover
from crawler_app.store.archive.replay import read_capture
from crawler_app.store.archive.warc_files import WarcFiles
from crawler_app.store.store_thread import StoreThread
from gencoro import gen

__all__ = ["Archive"]

# Writing a larger exchange takes more than three milliseconds, or more than ten without isal.
MAX_BYTES_AT_ONCE = 2**20


class Archive:
    """The archive in a directory; created if it does not exist.

    Open it in one process at a time, and use it in one thread.

    Args:
        max_file_bytes: A file of this size is full.
        info: Fields of the warcinfo records, such as ``software``, ``operator``,
            ``robots``.
        max_record_bytes: Larger records that are already in the files are not entered
            into the table.
        dedupe_against: Another archive, to whose bodies this one refers: the directory of a
            crawl, a WACZ file, or a CDXJ file; empty for none.

    Raises:
        ArchiveError: the directory cannot be written, or the table cannot be read.
        ConfigError: the table is of another version, or of another program.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        max_file_bytes: int,
        info: Mapping[str, str] | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        dedupe_against: Path | str = "",
    ) -> None:
        self._directory = Path(directory)
        self._is_closed = False
        with contextlib.ExitStack() as opened, disk_errors(self._directory):
            self._written = Captures(self._directory)
            opened.callback(self._written.close)
            self._has_lost = recover(self._directory, self._written, max_record_bytes)
            # A second connection, which sees only what is committed.
            self._captures = Captures(self._directory, read_only=True)
            opened.callback(self._captures.close)
            uploads = load_uploads(self._directory)
            after = 0 if uploads is None else uploads.last
            files = WarcFiles(self._directory, info or {}, max_file_bytes, after)
            self._known = None
            if dedupe_against:
                self._known = opened.enter_context(KnownPayloads(Path(dedupe_against)))
            self._recorder = Recorder(files, self._written, self._known)
            self._thread = StoreThread("archive", _error_of, undo=self._recorder.undo)
            opened.pop_all()

    def write(
        self, fetched: Fetched, began_at: float, elsewhere: Capture | None = None
    ) -> "gen.Future[None]":
        """Write an exchange.

        Returns a Future of the running event loop, which is already done unless the exchange
        is large, or follows one that is.

        Args:
            began_at: When the exchange began, in seconds since the epoch.
            elsewhere: What a 304 refers to, if it is in the archive of another process.

        Raises:
            ArchiveError: writing has failed; nothing more will be written.
        """
        self._check_open()
        self._thread.raise_error()
        size_bytes = len(fetched.encoded_body or fetched.body)
        self._thread.run(
            partial(self._recorder.take, fetched, began_at, elsewhere),
            is_long=size_bytes > MAX_BYTES_AT_ONCE,
        )
        return self._thread.waited()

    def flush(self) -> None:
        """Wait until every exchange is in the files and in the table.

        Raises:
            ArchiveError: writing has failed; nothing more will be written.
        """
        self._check_open()
        self._thread.run(self._recorder.commit)
        self._thread.wait()

    def flushed(self) -> "gen.Future[None]":
        """Return a Future of the running event loop that is done when `flush` would return.

        Raises:
            ArchiveError: writing has failed; nothing more will be written.
        """
        self._check_open()
        self._thread.run(self._recorder.commit)
        flushed = self._thread.waited()
        if (checkpoint := self._written.due_checkpoint()) is not None:
            self._thread.run(checkpoint, is_long=True)
        return flushed

    def latest(self, url: str) -> Capture | None:
        """Return the newest capture of a URL; see `Captures.latest`.

        Only flushed captures are found.  Use ``etag`` and ``last_modified`` for a
        conditional request.
        """
        self._check_open()
        with disk_errors(self._directory):
            return self._captures.latest(url)

    def may_lack_responses(self, expected: int) -> bool:
        """Return whether the archive might hold fewer responses than expected.

        Exact, unless captures were dropped or the table was rebuilt on opening; then it is
        always True.
        """
        self._check_open()
        with disk_errors(self._directory):
            return self._has_lost or self._captures.counts()[0] < expected

    def holds(self, url: str) -> bool:
        """Return whether a response of a URL is in the archive, with its body."""
        self._check_open()
        with disk_errors(self._directory):
            return self._captures.holds(url)

    def read(self, capture: Capture, max_body_bytes: int) -> Fetched:
        """Return an archived response as it was fetched, with ``took_s`` 0.

        The body of a revisit is that of the capture it refers to.

        Args:
            max_body_bytes: Maximum size of the body after decompression.

        Raises:
            ArchiveError: it is damaged or gone, or the body is larger.
            ObjectStorageError: it is in object storage, which does not answer.
        """
        self._check_open()
        with disk_errors(self._directory):
            return read_capture(
                self._directory, self._captures, capture, max_body_bytes
            )

    def close(self) -> None:
        """Write what is queued, and close the files; may be called twice.

        Raises:
            ArchiveError: writing has failed.
        """
        if self._is_closed:
            return
        self._is_closed = True
        with disk_errors(self._directory), contextlib.ExitStack() as cleanup:
            if self._known is not None:
                cleanup.callback(self._known.close)
            cleanup.callback(self._recorder.close)
            cleanup.callback(self._captures.close)
            self._thread.run(self._recorder.commit)
            self._thread.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ArchiveError("the archive is closed")


def _error_of(exc: Exception) -> ArchiveError:
    return ArchiveError(
        f"the archive cannot be written: {error_words(exc)}; the pages since the last "
        "flush may not be in it"
    )
