"""The archive of one crawl: written to while it runs, and read from for unchanged pages.

What is where, and the way to the disk, is at the head of `crawler_app.archive`.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from crawler_app.archive.captures import (
    Capture,
    Captures,
    disk_errors,
)
from crawler_app.archive.cdxj import is_current, write_cdxj
from crawler_app.archive.files import Files
from crawler_app.archive.recorder import Recorder
from crawler_app.archive.recovery import recover
from crawler_app.archive.replay import read_capture
from crawler_app.archive.writer import Writer
from crawler_app.errors import ArchiveError
from crawler_app.models import Fetched
from gencoro import gen

__all__ = ["Archive"]


class Archive:
    """The archive in a directory: the one that is there, or a new one.

    To be opened by one process at a time, and used on one thread.

    Args:
        max_file_bytes: A file that has reached it is full.
        info: What the files tell of how they came about: fields of a warcinfo record,
            such as ``software``, ``operator``, ``robots``.

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
    ) -> None:
        self._directory = Path(directory)
        self._is_closed = False
        with contextlib.ExitStack() as opened, disk_errors(self._directory):
            captures = Captures(self._directory)
            opened.callback(captures.close)
            self._is_recovered = bool(recover(self._directory, captures))
            # Another connection, which sees only what is committed.
            self._captures = Captures(self._directory, read_only=True)
            opened.callback(self._captures.close)
            files = Files(self._directory, info or {}, max_file_bytes)
            self._recorder = Recorder(files, captures)
            self._writer = Writer(self._recorder)
            opened.pop_all()

    def write(self, fetched: Fetched, began_at: float) -> "gen.Future[None]":
        """Take an exchange, to be written soon.

        Returns a Future that is done at once, unless the disk is far behind; it is of
        the running event loop.

        Args:
            began_at: When the exchange began, in seconds of the epoch.

        Raises:
            ArchiveError: an earlier one could not be written.
        """
        self._check_open()
        return self._writer.write(fetched, began_at)

    def flush(self) -> None:
        """Return when all that was taken is in the files and in the table.

        Raises:
            ArchiveError: it cannot be written.  Nothing more will be.
        """
        self._check_open()
        self._writer.flush()

    def latest(self, url: str) -> Capture | None:
        """Return the newest capture of a URL that has a body and status 200.

        Only what was flushed is looked at.  Its ``etag`` and ``last_modified`` are for a
        conditional request.
        """
        self._check_open()
        with disk_errors(self._directory):
            return self._captures.latest(url)

    def read(self, capture: Capture, max_body_bytes: int) -> Fetched:
        """Return an archived response as it was fetched, but for the time that it took.

        The body of a revisit is that of the capture which it refers to.

        Args:
            max_body_bytes: Of the body after decompression.

        Raises:
            ArchiveError: it is damaged or gone, or the body is larger.
        """
        self._check_open()
        with disk_errors(self._directory):
            return read_capture(
                self._directory, self._captures, capture, max_body_bytes
            )

    def close(self) -> None:
        """Write what was taken and the index, and let go of everything; twice is once.

        Raises:
            ArchiveError: something cannot be written.
        """
        if self._is_closed:
            return
        self._is_closed = True
        with disk_errors(self._directory), contextlib.ExitStack() as cleanup:
            cleanup.callback(self._recorder.close)
            cleanup.callback(self._captures.close)
            self._writer.close()
            if self._is_recovered or not is_current(self._directory):
                write_cdxj(self._directory, self._captures)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ArchiveError("the archive is closed")
