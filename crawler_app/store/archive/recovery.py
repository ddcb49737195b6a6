"""Recovery: makes the table agree with the files when an archive is opened.

The process may have died at any moment, and a power loss may have taken anything that was
written in the last half minute.  So, for each file:

- rows that point past the end of the file are deleted, and so are the last rows until one
  points to a complete record;
- complete records after the last row are added to the table, so that nothing is lost;
- the bytes after the last complete record are cut off; damage before it is left alone.

Files in object storage were complete when they were uploaded, and are not read.

Only the part after the last row is read: that takes a moment, unless the table was
deleted.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

from crawler_app.base.errors import ArchiveError
from crawler_app.base.safe_files import open_regular
from crawler_app.store.archive.block import HeadFacts, facts_of, split_block
from crawler_app.store.archive.captures import (
    ELSEWHERE,
    NOT_MODIFIED,
    RESPONSE,
    REVISIT,
    Capture,
    Captures,
)
from crawler_app.store.archive.gzip_members import (
    MAX_RECORD_BYTES,
    Member,
    TooLargeError,
    members,
    read_member,
)
from crawler_app.store.archive.lookup import has_method, lookup_url
from crawler_app.store.archive.record import Record, parse_date, urn_of
from crawler_app.store.archive.recorder import payload_key
from crawler_app.store.archive.warc_files import file_number, paths_of, uploaded

__all__ = ["recover", "whole_bytes"]

logger = logging.getLogger(__name__)

# Changes between two commits while the table is rebuilt.
COMMITTED_CAPTURES = 1000


def recover(
    directory: Path, captures: Captures, max_record_bytes: int = MAX_RECORD_BYTES
) -> bool:
    """Make the table of captures agree with the files.

    Returns whether captures may have been lost: some were no longer in the files, or the table
    was empty, so that nothing says what was lost.

    Args:
        max_record_bytes: Larger records are not entered.

    Raises:
        OSError, sqlite3.Error: the disk has failed.
    """
    paths = paths_of(directory)
    was_empty = captures.counts() == (0, 0)
    numbers = {file_number(path) or 0 for path in paths}
    dropped = captures.drop_files_except(numbers.union(uploaded(directory)))
    for path in paths:
        dropped += _recover_file(path, captures, max_record_bytes)
        captures.commit()
    captures.commit()
    return dropped > 0 or was_empty and bool(paths)


def _recover_file(path: Path, captures: Captures, max_record_bytes: int) -> int:
    """Return how many captures were dropped."""
    number = file_number(path) or 0
    size_bytes = path.stat().st_size
    dropped = captures.drop_from(number, size_bytes)
    last = _last_whole(path, captures.from_end_of(number), max_record_bytes)
    dropped += captures.drop_from(number, last.offset + 1 if last else 0)
    if dropped:
        logger.warning("%s: %d captures are missing from it", path, dropped)
    entered = 0
    end = last.offset + last.length if last else 0
    request: Record | None = None
    for member in members(path, end, max_record_bytes):
        end = member.offset + member.length
        entered += _enter(member, number, captures, request)
        request = member.record if member.record.kind == "request" else None
        if entered % COMMITTED_CAPTURES == 0:
            captures.commit()
    if not end:
        path.unlink()
    elif end < size_bytes:
        logger.warning(
            "%s: cut off the last %d bytes, which are not a record",
            path,
            size_bytes - end,
        )
        with open(path, "r+b", opener=open_regular) as file:
            file.truncate(end)
    return dropped


def _last_whole(
    path: Path, from_end: Iterator[Capture], max_record_bytes: int
) -> Capture | None:
    """Return the last capture whose record is complete."""
    with open(path, "rb", opener=open_regular) as file:
        for capture in from_end:
            # The offset may hold anything, even a record of a file put in its place.
            try:
                record = read_member(file, capture.offset, max_record_bytes).record
            except TooLargeError:
                return capture  # written when the limit was higher
            except ArchiveError:
                continue
            if record.record_id == capture.record_id:
                return capture
    return None


def _enter(
    member: Member, number: int, captures: Captures, request: Record | None
) -> bool:
    """Add a record to the table; return whether it is a capture.

    Args:
        request: The record before it, if that is a request.
    """
    record = member.record
    if record.kind not in ("resource", "response", "revisit"):
        return False
    try:
        capture, key = _capture_of(member, number, captures)
        if request is not None:
            capture = _looked_up(capture, record, request)
    except (ArchiveError, KeyError) as exc:
        logger.warning(
            "the record at byte %d was not written by this crawler: %s",
            member.offset,
            exc,
        )
        return False
    captures.add(capture, key)
    return True


def _looked_up(capture: Capture, response: Record, request: Record) -> Capture:
    """Return a capture with the URL by which it is looked up."""
    if response.fields.get("warc-concurrent-to") != urn_of(request.record_id):
        return capture
    head, body = split_block(request.block)
    if not has_method(head):
        return capture
    return capture._replace(url=lookup_url(capture.url, head, body))


def _capture_of(
    member: Member, number: int, captures: Captures
) -> tuple[Capture, bytes | None]:
    record = member.record
    if record.kind == "resource":
        facts, payload = HeadFacts(200, record.fields["content-type"]), b""
    else:
        head, payload = split_block(record.block)
        facts = facts_of(head)
    kind, original, elsewhere = RESPONSE, None, None
    if refers_to := record.refers_to:
        elsewhere = None if refers_to.record_id else ELSEWHERE
        kind = REVISIT if refers_to.is_identical else NOT_MODIFIED
        original = captures.with_record(refers_to.url, refers_to.record_id)
    capture = Capture(
        record.fields["warc-target-uri"],
        parse_date(record.fields.get("warc-date", "")),
        kind,
        facts.status,
        facts.mime,
        record.fields.get("warc-payload-digest", "").removeprefix("sha1:"),
        facts.etag,
        facts.last_modified,
        number,
        member.offset,
        member.length,
        record.record_id,
        original.id if original else elsewhere,
    )
    return capture, payload_key(payload) if kind == RESPONSE else None


def whole_bytes(path: Path, known_bytes: int) -> int:
    """Return where the last complete record of a file ends.

    Args:
        known_bytes: Known to be complete; reading starts after it.
    """
    end = known_bytes
    for member in members(path, known_bytes):
        end = member.offset + member.length
    return end
