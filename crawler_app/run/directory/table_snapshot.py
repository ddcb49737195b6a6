"""A snapshot of a crawl directory's tables, for readers of object storage.

Rule: a capture in it lies in a file that was uploaded before, and what the index lacks has not
been recorded as finished when the snapshot was made.  So the table of captures is copied
first.
"""

import contextlib
from collections.abc import Collection
from pathlib import Path

from crawler_app.base.storage.catalogue import ARCHIVE_TABLE, INDEX, StoredTable
from crawler_app.base.storage.checksums import pieces_of, sha256_of
from crawler_app.store.archive.captures import Captures, database_path
from crawler_app.store.database import copy_database
from crawler_app.store.index import PageIndex

__all__ = ["make_snapshot"]


def make_snapshot(
    directory: Path, into: Path, files: Collection[int]
) -> tuple[dict[str, StoredTable], int]:
    """Copy the tables of a crawl into an empty directory, also while it runs.

    Returns the copies by name, and how many captures share the payload of another.

    Args:
        files: The numbers of the WARC files whose captures are wanted.

    Raises:
        OSError, sqlite3.Error, SearchIndexError: the disk is full, or has failed.
    """
    copy_database(database_path(directory), database_path(into))
    with contextlib.closing(Captures(into)) as captures:
        captures.drop_files_except(files)
        captures.commit()
        count, revisits = captures.counts()
    table_by_name = {ARCHIVE_TABLE: _table(into / ARCHIVE_TABLE, count)}
    if (directory / INDEX).exists():
        copy_database(directory / INDEX, into / INDEX)
        # Opening it adds the words that are missing, once, not in each reader's cache.
        with contextlib.closing(PageIndex(into / INDEX)) as index:
            pages = len(index)
        table_by_name[INDEX] = _table(into / INDEX, pages)
    return table_by_name, revisits


def _table(path: Path, rows: int) -> StoredTable:
    return StoredTable(path.stat().st_size, sha256_of(pieces_of(path)), rows)
