"""`RemoteDirectory`: what a worker keeps in object storage, read like a directory.

Its tables are downloaded when they are wanted; the files of its archive are read where they
are.
"""

from pathlib import Path

from crawler_app.base.storage.catalogue import ARCHIVE_TABLE, INDEX
from crawler_app.base.storage.tables import StoredTables
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stored import CrawlSizes
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.index import PageIndex

__all__ = ["RemoteDirectory"]


class RemoteDirectory(CrawlDirectory):
    """The last snapshot of a worker's directory."""

    def __init__(self, tables: StoredTables) -> None:
        super().__init__(tables.path)
        self._tables = tables

    def own_kept(self) -> CrawlSizes:
        catalogue = self._tables.catalogue
        sizes = catalogue.bytes_by_file.values()
        return CrawlSizes(
            ArchiveSummary(
                catalogue.captures, catalogue.revisits, len(sizes), sum(sizes)
            ),
            catalogue.pages,
        )

    def has_index(self) -> bool:
        return INDEX in self._tables.catalogue.table_by_name

    def own_index(self) -> PageIndex:
        self._tables.fetch(INDEX)
        return PageIndex(self._tables.path / INDEX, read_only=True, any_thread=True)

    def has_archive(self) -> bool:
        return ARCHIVE_TABLE in self._tables.catalogue.table_by_name

    def archive_path(self) -> Path:
        self._tables.fetch(ARCHIVE_TABLE)
        return self._tables.path
