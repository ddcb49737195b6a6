"""CDXJ: the index by which replay tools find a capture in the files.

A line is the SURT key of the URL, the time in 14 digits, and JSON whose values are all
strings, as pywb and cdxj-indexer write it.

"Not modified" answers (304) are left out: for their date, pywb 2.10 would send the
browser the 304 itself, and so an empty page.  Without them it finds the capture before,
which is the page as it was at that date.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from crawler_app.archive.captures import NOT_MODIFIED, RESPONSE, Capture, Captures
from crawler_app.archive.files import file_name, paths_of
from crawler_app.archive.record import digits_of
from crawler_app.safe_files import create

__all__ = ["index_lines", "is_current", "write_cdxj"]

# Stands for the MIME type of a revisit, which has no payload.
REVISIT_MIME = "warc/revisit"


def index_lines(captures: Captures) -> Iterator[str]:
    """Return the line of each capture, newline included, in the order of an index."""
    for key, capture in captures.by_surt():
        if capture.kind != NOT_MODIFIED:
            yield _line_of(key, capture)


def _line_of(key: str, capture: Capture) -> str:
    fields = {
        "url": capture.url,
        "mime": capture.mime if capture.kind == RESPONSE else REVISIT_MIME,
        "status": str(capture.status),
        "digest": f"sha1:{capture.digest}",
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": file_name(capture.file),
    }
    if not fields["mime"]:
        del fields["mime"]
    return f"{key} {digits_of(capture.at)} {json.dumps(fields)}\n"


def is_current(directory: Path) -> bool:
    """Return whether the index is newer than all files of the archive."""
    try:
        written_at = _index_path(directory).stat().st_mtime_ns
    except FileNotFoundError:
        return False
    return all(path.stat().st_mtime_ns < written_at for path in paths_of(directory))


def write_cdxj(directory: Path, captures: Captures) -> None:
    """Write the index of an archive; if that fails, the old one stays.

    Raises:
        OSError, sqlite3.Error: the disk has failed.
    """
    new = _index_path(directory).with_suffix(".cdxj.new")
    try:
        with create(new) as file:
            file.writelines(index_lines(captures))
        new.replace(_index_path(directory))
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _index_path(directory: Path) -> Path:
    return directory / "archive.cdxj"
