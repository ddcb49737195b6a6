"""`Uploads`: the files of an archive that have been moved to object storage.

``uploads.json`` in a directory lists such files: the staging directory of a worker,
and the cache of what was downloaded of one.

Rule: the names of objects are formed from numbers, so a directory from another person cannot
refer to any other file.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.base.errors import ArchiveError
from crawler_app.base.safe_files import open_regular, replace_text
from crawler_app.base.storage.objects import Objects

__all__ = ["Uploads", "load_uploads", "objects_at", "save_uploads"]

UPLOADS_NAME = "uploads.json"


@dataclass(slots=True, frozen=True)
class Uploads:
    """The part of an archive that is in object storage.

    Attributes:
        url: The URL of the store; its last part is the UUID.
        bytes_by_file: The sizes of the WARC files there, by their numbers.
        snapshot: The number of the last snapshot of the tables.
        snapshot_bytes: Its size.
        unlisted_bytes: The size of the files uploaded after it.
    """

    url: str
    bytes_by_file: Mapping[int, int] = field(default_factory=dict)
    snapshot: int = 0
    snapshot_bytes: int = 0
    unlisted_bytes: int = 0

    @property
    def last(self) -> int:
        """The number of the last file; nothing is appended to it, nor to those before."""
        return max(self.bytes_by_file, default=0)


def load_uploads(directory: Path) -> Uploads | None:
    """Return the uploaded part of the archive in a directory; None if there is none.

    Raises:
        ArchiveError: that file is damaged.
    """
    path = directory / UPLOADS_NAME
    try:
        changed_at = path.stat().st_mtime_ns
    except OSError:
        return None
    return _load(path, changed_at)


@functools.lru_cache(maxsize=64)
def _load(path: Path, _changed_at: int) -> Uploads:
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            values: dict[str, Any] = json.load(file)
        files = {int(n): int(size) for n, size in values.pop("bytes_by_file").items()}
        return Uploads(bytes_by_file=files, **values)
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as exc:
        raise ArchiveError(f"{path} is damaged: {exc!r}") from None


def save_uploads(directory: Path, uploads: Uploads) -> None:
    """Save it atomically.

    Raises:
        OSError: the disk is full, or has failed.
    """
    # The files that it names are removed next, and could not be found without it.
    replace_text(directory / UPLOADS_NAME, json.dumps(asdict(uploads)))


@functools.lru_cache(maxsize=64)
def objects_at(url: str) -> Objects:
    """Return the `Objects` of a URL, which the whole process shares."""
    return Objects(url)
