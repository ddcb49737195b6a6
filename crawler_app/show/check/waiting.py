"""References that wait for the outcomes of their URLs, the most of them on disk.

A hostile site can have any number of references to URLs that are still queued, and so can a
large one.
"""

import contextlib
import pickle
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from crawler_app.base.errors import StorageError
from crawler_app.web.documents.fragments import fragment_of
from crawler_app.web.documents.references import Mention

__all__ = ["References", "WaitingReferences"]

# Of the references in memory, by the sizes below; about the memory of the crawl itself.
MAX_BYTES = 32 * 2**20

GROUP_BYTES = 500
MENTION_BYTES = 200


class References(NamedTuple):
    """The references of a document to one URL, while its redirects are followed.

    Attributes:
        redirected_to: The target of its redirects so far; empty if there are none.
        first_status: The status of the first of them.
        fragment: That of the last of them; empty for the one of each mention.
        redirects: Their number.
    """

    page: str
    mentions: Sequence[Mention]
    target: str
    redirected_to: str = ""
    first_status: int | None = None
    fragment: str = ""
    redirects: int = 0

    def fragment_of(self, mention: Mention) -> str:
        """Return the place on the page that a mention leads to."""
        return self.fragment or fragment_of(mention)

    @property
    def size_bytes(self) -> int:
        """About the memory that they take."""
        chars = sum(len(each.value) + len(each.text) for each in self.mentions)
        return GROUP_BYTES + MENTION_BYTES * len(self.mentions) + chars


class WaitingReferences:
    """References by the keys of their URLs, in the order in which they were added.

    Raises:
        StorageError: the disk for temporary files is full, or has failed.

    >>> waiting = WaitingReferences()
    >>> waiting.add(7, References("http://a.test/", [], "http://a.test/b"))
    >>> len(waiting), waiting.pop(7)[0].page, waiting.pop(7)
    (1, 'http://a.test/', [])
    """

    def __init__(self) -> None:
        self._groups_by_key: dict[int, list[References]] = {}
        self._bytes_by_key: dict[int, int] = {}
        self._bytes = 0
        # Opened when it is needed; SQLite deletes its file.
        self._file: sqlite3.Connection | None = None

    def add(self, key: int, group: References) -> None:
        """Let references wait."""
        self._groups_by_key.setdefault(key, []).append(group)
        size_bytes = group.size_bytes
        self._bytes_by_key[key] = self._bytes_by_key.get(key, 0) + size_bytes
        self._bytes += size_bytes
        if self._bytes > MAX_BYTES:
            self._spill()

    def pop(self, key: int) -> list[References]:
        """Return the references to a URL, which wait no longer."""
        groups = self._groups_by_key.pop(key, [])
        self._bytes -= self._bytes_by_key.pop(key, 0)
        if self._file is None or not (earlier := self._spilled(key)):
            return groups
        self._file.execute("DELETE FROM waiting WHERE key = ?", (key,))
        return earlier + groups

    def of(self, key: int) -> list[References]:
        """Return the references to a URL, which go on waiting."""
        return self._spilled(key) + self._groups_by_key.get(key, [])

    def __len__(self) -> int:
        """Return the number of URLs."""
        if self._file is None:
            return len(self._groups_by_key)
        self._spill()
        sql = "SELECT count(DISTINCT key) FROM waiting"
        return int(self._file.execute(sql).fetchone()[0])

    def _spilled(self, key: int) -> list[References]:
        if self._file is None:
            return []
        sql = "SELECT packed FROM waiting WHERE key = ? ORDER BY id"
        return [pickle.loads(row[0]) for row in self._file.execute(sql, (key,))]

    def _spill(self) -> None:
        """Move all references to disk."""
        try:
            if self._file is None:
                self._file = _temporary_file()
            with self._file:
                self._file.executemany(
                    "INSERT INTO waiting (key, packed) VALUES (?, ?)",
                    (
                        (key, pickle.dumps(group))
                        for key, groups in self._groups_by_key.items()
                        for group in groups
                    ),
                )
        except sqlite3.Error as exc:
            raise StorageError(f"cannot write a temporary file: {exc}") from exc
        self._groups_by_key.clear()
        self._bytes_by_key.clear()
        self._bytes = 0

    def close(self) -> None:
        """Delete what is on disk; may be called twice."""
        if self._file is not None:
            with contextlib.suppress(sqlite3.Error):
                self._file.close()
            self._file = None


def _temporary_file() -> sqlite3.Connection:
    file = sqlite3.connect("")
    file.executescript(
        "CREATE TABLE waiting (id INTEGER PRIMARY KEY, key INTEGER, packed BLOB);"
        "CREATE INDEX by_key ON waiting (key);"
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    )
    return file
