"""The pages of an index and their texts, which are compressed in blocks.

Pages of a site resemble each other: compressed together they take two thirds of the space that
they take alone.  A page that is removed leaves an empty place in its block.

Measured on texts of 24 KB, as shares of the text and nanoseconds a byte: blocks of 256 KB with
level 3 of zstd 0.27 to 0.30 and 3.5; of 64 KB 0.29 to 0.32; level 5 0.25 to 0.28 and 9; zlib's
level 6 on 64 KB 0.27 to 0.30 and 50.
"""

import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from crawler_app.store.index.columns import Columns
from crawler_app.store.index.index_schema import damaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["NewPage", "PageTexts", "rows_of"]

# A block that reaches this is full.  Twice as many characters save a twentieth of the space,
# but reading one page then takes twice as long.
BLOCK_CHARS = 256 * 1024

# The last page of a block may be long; a damaged or hostile file may have anything.
MAX_BLOCK_BYTES = 4 * 2**20
MAX_BLOCK_PAGES = 1000

# Of zstd; the head of this module compares it with others.
LEVEL = 3

# Of hostile data, no more than a block is kept in memory.
DECOMPRESSION = {int(zstd.DecompressionParameter.window_log_max): 22}

# Blocks that were read lately: a page that replaces another follows its neighbors.
MAX_READ = 4

# No text has it, see `crawler_app.store.index.letters`.
BETWEEN = "\0"

REMOVED: Columns = "", "", ""


class NewPage(NamedTuple):
    """A page to be added; see `crawler_app.store.index.PageIndex.put`."""

    columns: Columns
    indexed_at: float


class PageTexts:
    """The pages in the tables ``page`` and ``block``; the caller controls transactions."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        # Blocks that have been written lately, which need not be read.
        self._recent: dict[int, list[Columns]] = {}
        self._read: dict[int, list[Columns]] = {}
        # Blocks from which pages were removed since `write_removed`.
        self._changed: dict[int, list[Columns]] = {}

    def forget(self) -> None:
        """Read blocks from the file again, after a rollback."""
        self._changed.clear()
        self.forget_recent()

    def forget_recent(self) -> None:
        """Read blocks from the file again, to save memory."""
        self._recent.clear()
        self._read.clear()

    def add(self, pages: dict[str, NewPage]) -> None:
        """Add pages, by their URLs, which must be new."""
        first = self._next_id()
        rows = [
            (page_id, url, page.indexed_at)
            for page_id, (url, page) in enumerate(pages.items(), first)
        ]
        self._insert("page (id, url, indexed_at)", rows)
        blocks = dict(_blocks(first, [page.columns for page in pages.values()]))
        packed = [(block_id, _packed(texts)) for block_id, texts in blocks.items()]
        self._insert("block (id, texts)", packed)
        self._recent |= blocks

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        marks, values = rows_of(rows)
        self._db.execute(f"INSERT INTO {table} VALUES {marks}", values)

    def _next_id(self) -> int:
        (last,) = self._db.execute(
            "SELECT max(coalesce(max(id), 0), (SELECT words_to FROM progress)) FROM page"
        ).fetchone()
        return int(last) + 1

    def ids_of(self, urls: Collection[str]) -> dict[str, int]:
        """Return the ids of those pages that there are."""
        marks = ", ".join("?" * len(urls))
        found = self._db.execute(
            f"SELECT url, id FROM page WHERE url IN ({marks})", list(urls)
        )
        return dict(found.fetchall())

    def urls(self) -> list[str]:
        return [url for (url,) in self._db.execute("SELECT url FROM page").fetchall()]

    def note_time(self, page_id: int, indexed_at: float) -> None:
        """Note that a page was seen again."""
        self._db.execute(
            "UPDATE page SET indexed_at = ? WHERE id = ?", (indexed_at, page_id)
        )

    def read(self, page_id: int) -> Columns:
        """Return the columns of a page.

        Raises:
            SearchIndexError: its block is damaged.
        """
        first, texts = self._block_of(page_id)
        return texts[page_id - first]

    def remove(self, page_id: int) -> tuple[int, Columns]:
        """Remove a page; return the id of its block, and its columns.

        Its text stays in the file until `write_removed`.
        """
        first, texts = self._block_of(page_id)
        removed = texts[page_id - first]
        texts[page_id - first] = REMOVED
        self._changed[first] = texts
        self._db.execute("DELETE FROM page WHERE id = ?", (page_id,))
        return first, removed

    def write_removed(self) -> None:
        """Write the blocks from which pages were removed, each once."""
        for first, texts in self._changed.items():
            if any(text != REMOVED for text in texts):
                self._db.execute(
                    "UPDATE block SET texts = ? WHERE id = ?", (_packed(texts), first)
                )
            else:
                self._db.execute("DELETE FROM block WHERE id = ?", (first,))
        self._changed.clear()

    def _block_of(self, page_id: int) -> tuple[int, list[Columns]]:
        row = self._db.execute(
            "SELECT id FROM block WHERE id <= ? ORDER BY id DESC LIMIT 1", (page_id,)
        ).fetchone()
        texts = [] if row is None else self._texts(row[0])
        if row is None or page_id - row[0] >= len(texts):
            raise damaged(f"it has no text of page {page_id}")
        return row[0], texts

    def after(self, first: int) -> Iterator[tuple[int, list[tuple[int, Columns]]]]:
        """Yield the blocks after one: each one's id, and its pages with their ids."""
        rows = self._db.execute(
            "SELECT id FROM block WHERE id > ? ORDER BY id", (first,)
        )
        for (block_id,) in rows.fetchall():
            pages = enumerate(self._texts(block_id), block_id)
            yield block_id, [page for page in pages if page[1] != REMOVED]

    def _texts(self, block_id: int) -> list[Columns]:
        for blocks in (self._changed, self._recent, self._read):
            if block_id in blocks:
                return blocks[block_id]
        (block,) = self._db.execute(
            "SELECT texts FROM block WHERE id = ?", (block_id,)
        ).fetchone()
        if len(self._read) >= MAX_READ:
            del self._read[next(iter(self._read))]
        self._read[block_id] = texts = _unpacked(block)
        return texts


def rows_of(rows: Sequence[tuple[object, ...]]) -> tuple[str, list[object]]:
    """Return what follows VALUES in a statement that inserts rows, and its parameters.

    One statement for many rows, because FTS5 writes a segment before each.

    >>> rows_of([(1, "a"), (2, "b")])
    ('(?, ?), (?, ?)', [1, 'a', 2, 'b'])
    """
    marks = f"({', '.join('?' * len(rows[0]))})"
    return ", ".join([marks] * len(rows)), [value for row in rows for value in row]


def _blocks(
    first: int, texts: Sequence[Columns]
) -> Iterator[tuple[int, list[Columns]]]:
    """Divide texts into blocks, each with the id of its first page."""
    block: list[Columns] = []
    chars = 0
    for page_id, columns in enumerate(texts, first):
        block.append(columns)
        chars += sum(map(len, columns))
        if chars >= BLOCK_CHARS:
            yield page_id - len(block) + 1, block
            block, chars = [], 0
    if block:
        yield first + len(texts) - len(block), block


def _packed(texts: Sequence[Columns]) -> bytes:
    data = BETWEEN.join([column for columns in texts for column in columns]).encode()
    return zstd.compress(data, LEVEL)


def _unpacked(block: bytes) -> list[Columns]:
    """Return the texts of a block, which may be damaged or hostile."""
    try:
        decompressor = zstd.ZstdDecompressor(options=DECOMPRESSION)
        data = decompressor.decompress(block, MAX_BLOCK_BYTES)
        if not decompressor.eof or data.count(b"\0") > 3 * MAX_BLOCK_PAGES:
            raise ValueError("it is truncated, or too large")
        parts = iter(data.decode().split(BETWEEN))
        return list(zip(parts, parts, parts, strict=True))
    except (zstd.ZstdError, TypeError, ValueError) as exc:
        raise damaged(f"the texts of some pages cannot be read: {exc}") from None
