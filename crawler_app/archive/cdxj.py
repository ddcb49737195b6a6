"""CDXJ: the index by which replay tools find a capture in the files.

A line is the SURT key of the URL, the time in 14 digits, and JSON whose values are all
strings, as pywb and cdxj-indexer write it.

"Not modified" answers (304) are left out: for their date, pywb 2.10 would send the
browser the 304 itself, and so an empty page.  Without them it finds the capture before,
which is the page as it was at that date.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from crawler_app.archive.captures import (
    NOT_MODIFIED,
    RESPONSE,
    Capture,
    Captures,
    table_errors,
)
from crawler_app.archive.files import file_name
from crawler_app.archive.record import digits_of
from crawler_app.progress import OnStep, in_steps, no_step

__all__ = ["index_lines", "write_cdxj"]

# Stands for the MIME type of a revisit, which has no payload.
REVISIT_MIME = "warc/revisit"


def index_lines(captures: Captures, on_step: OnStep = no_step) -> Iterator[str]:
    """Return the line of each capture, newline included, in the order of an index.

    Sorting a million captures takes five seconds, so this is done only when it is asked for.
    """
    total, _ = captures.counts()
    for key, capture in in_steps(
        "indexing captures", captures.by_surt(), on_step, total
    ):
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


def write_cdxj(
    directory: Path | str, file: TextIO, *, on_step: OnStep = no_step
) -> None:
    """Write the index of an archive, also while a crawl writes to it.

    Args:
        on_step: Progress callback: the step's name, how much is done, and the total.

    Raises:
        ArchiveError: there is no archive, or its table cannot be read.
        ConfigError: its table is of another version, or of another program.
    """
    directory = Path(directory)
    with (
        table_errors(directory),
        contextlib.closing(Captures(directory, read_only=True)) as captures,
    ):
        captures.hold()
        file.writelines(index_lines(captures, on_step))
