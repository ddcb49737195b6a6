"""Archived responses of a crawl, in one directory or in those of several processes."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.store.archive.captures import Captures, table_errors
from crawler_app.store.archive.replay import read_capture

__all__ = ["Archived", "open_archives"]


class Archived:
    """The archives of a crawl, or of its parts.

    Args:
        archives: The directories with their tables of captures.
        max_body_bytes: Larger bodies, after decompression, are not read.
    """

    def __init__(
        self, archives: list[tuple[Path, Captures]], max_body_bytes: int
    ) -> None:
        self._archives = archives
        self._max_body_bytes = max_body_bytes

    def find(self, url: str) -> Fetched | None:
        """Return the newest response of a URL; None if it is missing, damaged or large."""
        for at, (path, captures) in enumerate(self._archives):
            try:
                capture = captures.latest(url)
            except sqlite3.Error:
                with table_errors(path):
                    raise
            if capture is not None:
                # The next URL was probably fetched by the same process.
                self._archives.insert(0, self._archives.pop(at))
                try:
                    return read_capture(path, captures, capture, self._max_body_bytes)
                except ArchiveError:
                    return None
        return None


@contextlib.contextmanager
def open_archives(crawl: StoredCrawl, max_body_bytes: int) -> Iterator[Archived | None]:
    """Open the archives of a crawl; None if it has none.

    Raises:
        ArchiveError: a table of captures cannot be read.
    """
    with contextlib.ExitStack() as cleanup:
        archives = []
        for path in crawl.archives():
            with table_errors(path):
                captures = Captures(path, read_only=True)
            cleanup.callback(captures.close)
            archives.append((path, captures))
        yield Archived(archives, max_body_bytes) if archives else None
