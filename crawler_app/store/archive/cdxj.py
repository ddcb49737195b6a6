"""CDXJ: the index by which replay tools find a capture in the files.

A line is the SURT key of the URL, the time in 14 digits, and JSON whose values are all
strings, as pywb and cdxj-indexer write it.

"Not modified" answers (304) are left out: for their date, pywb 2.10 would send the
browser the 304 itself, and so an empty page.  Without them it finds the capture before,
which is the page as it was at that date.
"""

import contextlib
import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from crawler_app.base.progress import OnStep, in_steps, no_step
from crawler_app.store.archive.captures import (
    RESPONSE,
    Capture,
    Captures,
    table_errors,
)
from crawler_app.store.archive.lookup import split_lookup_url
from crawler_app.store.archive.record import digits_of
from crawler_app.store.archive.warc_files import file_name, labelled

__all__ = ["index_lines", "merged_lines", "write_cdxj"]

# Stands for the MIME type of a revisit, which has no payload.
REVISIT_MIME = "warc/revisit"

# How ReplayWeb.page looks up a request with nothing in its body; pywb looks at the key only.
NO_BODY = "__wb_post_data="


# Returns a capture with its place in files that are copied with changes.
Moved = Callable[[Capture], Capture]


def index_lines(
    captures: Captures,
    prefix: str = "",
    on_step: OnStep = no_step,
    moved: Moved | None = None,
) -> Iterator[str]:
    """Return the line of each capture, newline included, in the order of an index.

    Sorting a million captures takes five seconds, so this is done only when it is asked for.

    Args:
        prefix: Precedes the names of the files.
        moved: None if the files are as they were.
    """
    total, _ = captures.counts()
    for key, capture in in_steps(
        "indexing captures", captures.by_surt(), on_step, total
    ):
        if capture.status != 304:  # it has no body; replay shows what it refers to
            yield _line_of(key, moved(capture) if moved else capture, prefix)


def merged_lines(
    sources: Iterable[tuple[Captures, str, Moved | None]], on_step: OnStep = no_step
) -> Iterator[str]:
    """Return the lines of several archives, each with its prefix, in the order of an index."""
    return heapq.merge(
        *(
            index_lines(captures, prefix, on_step, moved)
            for captures, prefix, moved in sources
        ),
        key=lambda line: line.split(" ", 2)[:2],
    )


def _line_of(key: str, capture: Capture, prefix: str) -> str:
    url, method, body = split_lookup_url(capture.url)
    fields = {
        "url": url,
        "mime": capture.mime if capture.kind == RESPONSE else REVISIT_MIME,
        "status": str(capture.status),
        "digest": f"sha1:{capture.digest}",
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": prefix + file_name(capture.file),
    }
    if not fields["mime"]:
        del fields["mime"]
    if method:
        fields |= {"method": method, "requestBody": body or NO_BODY}
    return f"{key} {digits_of(capture.at)} {json.dumps(fields)}\n"


def write_cdxj(
    directory: Path | str,
    file: TextIO,
    *,
    on_step: OnStep = no_step,
    parts: Sequence[Path] = (),
) -> None:
    """Write the index of an archive, also while a crawl writes to it.

    Args:
        on_step: Progress callback: the step's name, how much is done, and the total.
        parts: The directories below it that make up the archive, if it has parts.

    Raises:
        ArchiveError: there is no archive, or its table cannot be read.
        ConfigError: its table is of another version, or of another program.
    """
    directory = Path(directory)
    with contextlib.ExitStack() as cleanup:
        sources = []
        for label, path in labelled(parts) or [("", directory)]:
            cleanup.enter_context(table_errors(path))
            captures = Captures(path, read_only=True)
            cleanup.callback(captures.close)
            captures.hold()
            sources.append((captures, f"{label}/" if label else "", None))
        file.writelines(merged_lines(sources, on_step))
