"""Reads archives that other processes may be writing to: those of the parts of a crawl."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from crawler_app.base.models import Fetched
from crawler_app.store.archive.captures import (
    Capture,
    Captures,
    database_path,
    table_errors,
)
from crawler_app.store.archive.replay import read_capture
from crawler_app.store.database import is_created

__all__ = ["ArchiveReader", "newest", "open_readers"]


T = TypeVar("T")


class ArchiveReader:
    """The archive in a directory, for reading only.

    Raises:
        ConfigError: the table is of another version, or of another program.
        ArchiveError: it cannot be read, from any method.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with table_errors(directory):
            self._captures = Captures(directory, read_only=True)

    def latest(self, url: str) -> Capture | None:
        """Return the newest capture of a URL; see `Captures.latest`."""
        with table_errors(self._directory):
            return self._captures.latest(url)

    def latest_redirect(self, url: str) -> Capture | None:
        """Return the newest redirect from a URL; see `Captures.latest_redirect`."""
        with table_errors(self._directory):
            return self._captures.latest_redirect(url)

    def first_at(self, url: str, digest: str = "") -> int | None:
        """Return when a URL was captured first; see `Captures.first_at`."""
        with table_errors(self._directory):
            return self._captures.first_at(url, digest)

    def original_of(self, capture: Capture) -> Capture | None:
        """Return the capture that has the payload of another; None if it is lost."""
        with table_errors(self._directory):
            return self._captures.original_of(capture)

    def read(self, capture: Capture, max_body_bytes: int) -> Fetched:
        """Return an archived response; see `crawler_app.store.archive.store.Archive.read`."""
        return read_capture(self._directory, self._captures, capture, max_body_bytes)

    def close(self) -> None:
        self._captures.close()


@contextlib.contextmanager
def open_readers(directories: Sequence[Path]) -> Iterator[list[ArchiveReader]]:
    """Open the archives in those directories that have one."""
    with contextlib.ExitStack() as opened:
        yield [
            opened.enter_context(contextlib.closing(ArchiveReader(path)))
            for path in directories
            if is_created(database_path(path))
        ]


def newest(found: Iterable[tuple[T, Capture | None]]) -> tuple[T, Capture] | None:
    """Return the newest of the captures that were found in archives, and where it is."""
    captures = [(each, capture) for each, capture in found if capture is not None]
    return max(captures, key=lambda pair: pair[1].at, default=None)
