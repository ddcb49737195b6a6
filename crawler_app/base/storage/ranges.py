"""`RangeFile`: reads an object as a file, block by block on demand."""

import functools
import io

from crawler_app.base.storage.objects import Objects

__all__ = ["RangeFile"]

# A request takes 20 to 50 ms, about as long as the transfer of a megabyte; and the next read is
# often close to the last one.
BLOCK_BYTES = 2**20

# Size of the block cache, which all files share.
KEPT_BLOCKS = 32


class RangeFile(io.RawIOBase):
    """An object, for reading.

    Args:
        size_bytes: The size of the object; more may have been appended since.

    >>> objects = Objects("memory://example/ranges")
    >>> objects.write("letters", b"abcdef")
    >>> file = RangeFile(objects, "letters", 6)
    >>> file.seek(2), file.read(3), file.read(), file.read(1)
    (2, b'cde', b'f', b'')
    """

    def __init__(self, objects: Objects, name: str, size_bytes: int) -> None:
        self._objects = objects
        self._name = name
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}
        self._at = max(start[whence] + offset, 0)
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        start, place = divmod(self._at, BLOCK_BYTES)
        begin = start * BLOCK_BYTES
        end = min(begin + BLOCK_BYTES, self._size_bytes)
        if self._at >= end:
            return 0
        piece = _block(self._objects, self._name, begin, end)[
            place : place + len(buffer)
        ]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


@functools.lru_cache(maxsize=KEPT_BLOCKS)
def _block(objects: Objects, name: str, start: int, end: int) -> bytes:
    return objects.read_range(name, start, end)
