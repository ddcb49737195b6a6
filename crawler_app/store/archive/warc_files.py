"""The files of an archive: ``archive-00001.warc.gz`` and up, filled one after the other.

Rule: a file holds only complete members.  One that was written in part is cut off again.

Files that are full may be in object storage, and no longer in the directory: see
`crawler_app.base.storage.uploads`.
"""

import errno
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from crawler_app.base.safe_files import open_regular
from crawler_app.base.storage.ranges import RangeFile
from crawler_app.base.storage.uploads import Uploads, load_uploads, objects_at
from crawler_app.store.archive.gzip_members import compress
from crawler_app.store.archive.record import new_record_id, warcinfo_record

__all__ = [
    "WarcFiles",
    "bytes_by_file",
    "file_name",
    "file_number",
    "file_path",
    "labelled",
    "open_file",
    "paths_of",
    "pieces_of",
    "uploaded",
]

# Large enough that calls cost nothing, small enough to be held for each download.
PIECE_BYTES = 2**20

PRIVATE_MODE = 0o600

# Buffered before a write, which costs some 10 us whatever its size.
BUFFER_BYTES = 256 * 1024


def file_name(number: int) -> str:
    """Return the name of a file.

    >>> file_name(1)
    'archive-00001.warc.gz'
    """
    return f"archive-{number:05}.warc.gz"


def file_path(directory: Path, number: int) -> Path:
    """Return the path of a file."""
    return directory / file_name(number)


def file_number(path: Path) -> int | None:
    """Return the number in a file's name; None if it is not a name of `file_name`.

    >>> file_number(Path("archive-00012.warc.gz")), file_number(Path("other.warc.gz"))
    (12, None)
    """
    digits = path.name.removeprefix("archive-").removesuffix(".warc.gz")
    if digits.isdecimal() and path.name == file_name(int(digits)):
        return int(digits)
    return None


def paths_of(directory: Path) -> list[Path]:
    """Return the files of an archive that are in its directory, in order."""
    found = directory.glob("archive-*.warc.gz")
    return sorted(
        (path for path in found if file_number(path) is not None),
        key=lambda path: file_number(path) or 0,
    )


def bytes_by_file(directory: Path) -> dict[int, int]:
    """Return the sizes of all files of an archive, by their numbers, in order.

    Raises:
        ArchiveError: what says which are in object storage is damaged.
    """
    sizes = dict(uploaded(directory))
    for path in paths_of(directory):
        sizes[file_number(path) or 0] = path.stat().st_size
    return dict(sorted(sizes.items()))


def uploaded(directory: Path) -> Mapping[int, int]:
    """Return the sizes of those files that are in object storage, by their numbers."""
    uploads = load_uploads(directory)
    return {} if uploads is None else uploads.bytes_by_file


def open_file(directory: Path, number: int) -> BinaryIO:
    """Open a file for reading, wherever it is.

    Raises:
        OSError: it is not there, or cannot be read.
        ConfigError: what is needed to read object storage is not installed.
        ObjectStorageError: the store does not answer, also from the file.
    """
    try:
        return open(file_path(directory, number), "rb", opener=open_regular)
    except FileNotFoundError:
        uploads = load_uploads(directory)
        if uploads is None or number not in uploads.bytes_by_file:
            raise
        return _UploadedFile(uploads, number)


class _UploadedFile(io.BufferedReader):
    """A file in object storage."""

    def __init__(self, uploads: Uploads, number: int) -> None:
        self.objects = objects_at(uploads.url)
        size_bytes = uploads.bytes_by_file[number]
        super().__init__(RangeFile(self.objects, file_name(number), size_bytes))


def pieces_of(directory: Path, number: int, size_bytes: int) -> Iterator[bytes]:
    """Yield the first bytes of a file, wherever it is, without keeping them.

    Raises:
        OSError, ConfigError, ObjectStorageError: as `open_file`.
    """
    with open_file(directory, number) as file:
        if isinstance(file, _UploadedFile):
            yield from file.objects.pieces(file_name(number), size_bytes)
            return
        while size_bytes and (piece := file.read(min(size_bytes, PIECE_BYTES))):
            size_bytes -= len(piece)
            yield piece


class WarcFiles:
    """Appends members to the last file, and begins another when that is full.

    Errors are OSError; call `undo` after one.

    Args:
        info: The fields of each file's warcinfo record.
        max_bytes: A file of this size is full.
        after: Nothing is appended to the files up to this number.

    Attributes:
        number: Number of the current file; 0 if there is none.
        warcinfo_id: Id of the current warcinfo record.
        is_private: Whether only the owner may read the current file, and later ones.
    """

    def __init__(
        self,
        directory: Path,
        info: Mapping[str, str],
        max_bytes: int,
        after: int = 0,
    ) -> None:
        self._directory = directory
        self._info = info
        self._max_bytes = max_bytes
        paths = paths_of(directory)
        self.number = (file_number(paths[-1]) or 0) if paths else 0
        self._first = max(self.number, after + 1)
        self.warcinfo_id = b""
        self.is_private = False
        self._fd: int | None = None
        self._written_bytes = 0
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0

    @property
    def _end(self) -> int:
        return self._written_bytes + self._gathered_bytes

    def begin(self, at: int) -> None:
        """Open a file with room for one exchange; its records share a file."""
        if self._fd is not None and self._end < self._max_bytes:
            return
        if self._fd is None:
            self._open(self._first)
        if self._end >= self._max_bytes:
            self.write_out()
            self._close_file()
            self._open(self.number + 1)
        self._describe(at)

    def make_private(self) -> None:
        """Let only the owner read this file and later ones: passwords or cookies were sent."""
        self.is_private = True
        if self._fd is not None:
            os.fchmod(self._fd, PRIVATE_MODE)

    def _open(self, number: int) -> None:
        path = file_path(self._directory, number)
        mode = PRIVATE_MODE if self.is_private else 0o644
        self._fd = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
        self._written_bytes = os.fstat(self._fd).st_size
        self.number = number

    def _describe(self, at: int) -> None:
        """Write a warcinfo record: one for each file and each run."""
        self.warcinfo_id = new_record_id()
        name = file_name(self.number)
        record = warcinfo_record(self.warcinfo_id, at, name, self._info)
        self.append(compress(record))

    def append(self, member: bytes) -> int:
        """Append a member; return its offset."""
        offset = self._end
        self._gathered.append(member)
        self._gathered_bytes += len(member)
        if self._gathered_bytes >= BUFFER_BYTES:
            self.write_out()
        return offset

    def write_out(self) -> None:
        """Write the buffered members to the operating system."""
        if self._fd is None or not self._gathered:
            return
        data = memoryview(b"".join(self._gathered))
        while data:
            data = data[os.write(self._fd, data) :]
        if not os.fstat(self._fd).st_nlink:
            # What is recorded as finished must be in a file that can be read.
            path = file_path(self._directory, self.number)
            raise FileNotFoundError(errno.ENOENT, "it was deleted meanwhile", str(path))
        self._written_bytes += self._gathered_bytes
        self._forget_gathered()

    def undo(self) -> None:
        """Cut off an incomplete write, and discard the buffered members."""
        self._forget_gathered()
        if self._fd is not None:
            os.ftruncate(self._fd, self._written_bytes)

    def _forget_gathered(self) -> None:
        self._gathered = []
        self._gathered_bytes = 0

    def close(self) -> None:
        """Close the file; buffered members are discarded."""
        self._forget_gathered()
        self._close_file()

    def _close_file(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def labelled(parts: Sequence[Path]) -> list[tuple[str, Path]]:
    """Return the directories of an archive's parts, each with a name of its own.

    >>> labelled([Path("a/part-0"), Path("a/part-1")])[0][0]
    'part-0'
    >>> labelled([Path("a/part-0"), Path("b/part-0")])[1][0]
    '2-part-0'
    """
    names = [path.name for path in parts]
    if len(set(names)) < len(names):
        names = [f"{place}-{name}" for place, name in enumerate(names, 1)]
    return list(zip(names, parts, strict=True))
