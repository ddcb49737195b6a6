"""Counts and size of an archive, also while a crawl writes to it."""

from pathlib import Path
from typing import NamedTuple

from crawler_app.store.archive.captures import Captures, database_path, disk_errors
from crawler_app.store.archive.warc_files import bytes_by_file
from crawler_app.store.database import is_created

__all__ = ["ArchiveSummary", "summary"]


class ArchiveSummary(NamedTuple):
    """Counts and size of an archive.

    Attributes:
        revisits: Captures whose payload had been archived before.
        size_bytes: Total size of the WARC files.
    """

    captures: int
    revisits: int
    files: int
    size_bytes: int


def summary(directory: Path | str) -> ArchiveSummary:
    """Return the counts and the size of the archive in a directory.

    Raises:
        ArchiveError: the table exists but cannot be read.
        ConfigError: the table is of another version, or of another program.
    """
    directory = Path(directory)
    sizes = bytes_by_file(directory).values()
    if not is_created(database_path(directory)):
        return ArchiveSummary(0, 0, len(sizes), sum(sizes))
    with disk_errors(directory):
        captures = Captures(directory, read_only=True)
        try:
            return ArchiveSummary(*captures.counts(), len(sizes), sum(sizes))
        finally:
            captures.close()
