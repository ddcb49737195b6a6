"""The catalogue of a worker's store: the files and tables of one snapshot.

Pure.  Rule: it may come from another person, so the names of objects are formed from numbers,
never taken from it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from crawler_app.base.errors import ObjectStorageError
from crawler_app.base.plain_values import from_plain

__all__ = [
    "ARCHIVE_TABLE",
    "CATALOGUE_NAME",
    "INDEX",
    "Catalogue",
    "StoredTable",
    "object_name",
]

CATALOGUE_NAME = "catalogue.json"

# The names that these files have in a directory.
ARCHIVE_TABLE = "archive.sqlite3"
INDEX = "crawl.sqlite"

# Increased with each incompatible change, so that an older program refuses the file.
VERSION = 1


def object_name(name: str, snapshot: int) -> str:
    """Return the name of the object that is a table as of a snapshot.

    >>> object_name("archive.sqlite3", 7)
    'archive-00007.sqlite3'
    """
    stem, _, suffix = name.partition(".")
    return f"{stem}-{snapshot:05}.{suffix}"


@dataclass(slots=True, frozen=True)
class StoredTable:
    """An SQLite file.

    Attributes:
        sha256: In hexadecimal.
        rows: Captures, or pages.
    """

    size_bytes: int
    sha256: str
    rows: int


@dataclass(slots=True, frozen=True)
class Catalogue:
    """The contents of one snapshot.

    Attributes:
        snapshot: Its number; 0 if nothing was uploaded yet.
        at: When it was made, in seconds since the epoch, by the worker's clock.
        bytes_by_file: The sizes of the WARC files, by their numbers.
        revisits: Captures whose payload had been archived before.
        table_by_name: The table of captures and the index, as far as there are such.

    >>> catalogue = Catalogue(3, 60.0, {1: 5000}, 0, {INDEX: StoredTable(4096, "0" * 64, 12)})
    >>> Catalogue.from_json(catalogue.to_json()) == catalogue
    True
    """

    snapshot: int = 0
    at: float = 0.0
    bytes_by_file: Mapping[int, int] = field(default_factory=dict)
    revisits: int = 0
    table_by_name: Mapping[str, StoredTable] = field(default_factory=dict)

    @property
    def captures(self) -> int:
        """The number of captures."""
        table = self.table_by_name.get(ARCHIVE_TABLE)
        return 0 if table is None else table.rows

    @property
    def pages(self) -> int | None:
        """The number of pages in the index; None without one."""
        table = self.table_by_name.get(INDEX)
        return None if table is None else table.rows

    def to_json(self) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(self) | {"version": VERSION}, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Read what `to_json` has returned.

        Raises:
            ObjectStorageError: it is damaged, or has another version.
        """
        try:
            values: dict[str, Any] = json.loads(data)
            if (version := values.pop("version")) != VERSION:
                raise ObjectStorageError(
                    f"the catalogue has version {version}, and this program reads "
                    f"version {VERSION}"
                )
            made: Self = from_plain(cls, values)
            return made
        except (ValueError, TypeError, LookupError, AttributeError) as exc:
            raise ObjectStorageError(f"the catalogue is damaged: {exc!r}") from None
