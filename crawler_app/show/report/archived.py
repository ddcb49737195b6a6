"""Archived responses of a crawl, in one directory or in those of several processes."""

import contextlib
from collections.abc import Iterator

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.store.archive.reading import ArchiveReader, newest, open_readers

__all__ = ["Archived", "open_archives"]


class Archived:
    """The archives of a crawl, or of its parts.

    Args:
        max_body_bytes: Larger bodies, after decompression, are not read.
    """

    def __init__(self, archives: list[ArchiveReader], max_body_bytes: int) -> None:
        self._archives = archives
        self._max_body_bytes = max_body_bytes

    def find(self, url: str) -> Fetched | None:
        """Return the newest response of a URL; None if it is missing, damaged or large."""
        found = newest(url, self._archives)
        if found is None:
            return None
        archive, capture = found
        try:
            return archive.read(capture, self._max_body_bytes)
        except ArchiveError:
            return None


@contextlib.contextmanager
def open_archives(crawl: StoredCrawl, max_body_bytes: int) -> Iterator[Archived | None]:
    """Open the archives of a crawl; None if it has none.

    Raises:
        ArchiveError: a table of captures cannot be read.
    """
    with open_readers(list(crawl.archives())) as archives:
        yield Archived(archives, max_body_bytes) if archives else None
