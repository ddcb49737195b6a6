"""How much an archive holds, also while a crawl writes to it."""

from pathlib import Path
from typing import NamedTuple

from crawler_app.archive.captures import Captures, database_path, disk_errors
from crawler_app.archive.files import paths_of

__all__ = ["ArchiveSummary", "summary"]


class ArchiveSummary(NamedTuple):
    """How much an archive holds.

    Attributes:
        revisits: Of the captures, those whose payload was there already.
        size_bytes: Of all files together.
    """

    captures: int
    revisits: int
    files: int
    size_bytes: int


def summary(directory: Path | str) -> ArchiveSummary:
    """Return how much the archive in a directory holds, also while it is written to.

    Raises:
        ArchiveError: there is a table, but it cannot be read.
        ConfigError: it is of another version, or of another program.
    """
    directory = Path(directory)
    sizes = [path.stat().st_size for path in paths_of(directory)]
    if not database_path(directory).exists():
        return ArchiveSummary(0, 0, len(sizes), sum(sizes))
    with disk_errors(directory):
        captures = Captures(directory, read_only=True)
        try:
            return ArchiveSummary(*captures.counts(), len(sizes), sum(sizes))
        finally:
            captures.close()
