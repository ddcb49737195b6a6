"""A file that takes what others have from them: a WACZ file without a copy of the archive."""

import contextlib
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from crawler_app.store.archive.wacz import ArchivePiece

__all__ = ["SparseFile"]

PIECE_BYTES = 256 * 1024


class _Part(NamedTuple):
    """Bytes that follow each other in a file; in our own if the path is None."""

    start: int
    path: Path | None
    offset: int


class SparseFile:
    """Written once from its start, then read; a context manager.

    >>> with SparseFile() as file:
    ...     _ = file.write(b"some"), file.write(b" bytes")
    ...     b"".join(file.pieces(2, 7)), file.size_bytes
    (b'me by', 10)
    """

    def __init__(self) -> None:
        self.size_bytes = 0
        self._own: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._own_bytes = 0
        self._parts: list[_Part] = []
        self._next: tuple[Path | None, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._own.close()

    def write(self, data: bytes) -> int:
        """Append bytes, or note where they are."""
        if isinstance(data, ArchivePiece):
            path, offset = data.path, data.offset
        else:
            path, offset = None, self._own_bytes
            self._own.write(data)
            self._own_bytes += len(data)
        if (path, offset) != self._next:
            self._parts.append(_Part(self.size_bytes, path, offset))
        self._next = path, offset + len(data)
        self.size_bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing, as only this object reads the file."""

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from one offset to another.

        Raises:
            OSError: a file cannot be read, or has become shorter.
        """
        starts = [part.start for part in self._parts]
        number = bisect_right(starts, start) - 1
        while start < end:
            part = self._parts[number]
            number += 1
            part_end = starts[number] if number < len(starts) else self.size_bytes
            with self._opened(part) as file:
                file.seek(part.offset + start - part.start)
                while start < min(part_end, end):
                    piece = file.read(min(PIECE_BYTES, part_end - start, end - start))
                    if not piece:
                        raise OSError(f"{part.path} has become shorter")
                    start += len(piece)
                    yield piece

    def _opened(self, part: _Part) -> contextlib.AbstractContextManager[BinaryIO]:
        return open(part.path, "rb") if part.path else contextlib.nullcontext(self._own)
