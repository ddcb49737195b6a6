"""Reads an archived response back as `Fetched`."""

import re
from pathlib import Path
from typing import BinaryIO

from tornado.httputil import HTTPHeaders, HTTPInputError

from crawler_app.base.errors import ArchiveError
from crawler_app.base.models import Fetched
from crawler_app.store.archive.block import facts_of, split_block, unframed
from crawler_app.store.archive.captures import (
    ELSEWHERE,
    NOT_MODIFIED,
    RESOURCES,
    Capture,
    Captures,
)
from crawler_app.store.archive.gzip_members import Member, max_record_bytes, read_member
from crawler_app.store.archive.record import urn_of
from crawler_app.store.archive.warc_files import file_path, open_file
from crawler_app.web.httpclient.codings import decoder_of
from crawler_app.web.httpclient.errors import BadResponseError, ResponseTooLargeError

__all__ = ["decoded_body", "headers_of", "read_capture"]

_LINE_END = re.compile(r"\r?\n")
_FOLD = re.compile(r"\r?\n[ \t]+")


def read_capture(
    directory: Path, captures: Captures, capture: Capture, max_body_bytes: int
) -> Fetched:
    """Return a captured response; see `crawler_app.store.archive.Archive.read`."""
    max_bytes = max_record_bytes(max_body_bytes)
    member, request_head = _read_exchange(directory, capture, max_bytes)
    record = member.record
    if capture.url.startswith(RESOURCES):
        headers = HTTPHeaders({"Content-Type": record.fields["content-type"]})
        return Fetched(capture.url, capture.status, headers, record.block, took_s=0.0)
    head, payload = split_block(record.block)
    payload_head = head
    if record.refers_to is not None:
        original_capture = _original_of(captures, capture)
        original = _read_exchange(directory, original_capture, max_bytes)[0].record
        original_head, payload = split_block(original.block)
        if capture.kind == NOT_MODIFIED:
            payload_head = original_head  # the head of a 304 does not describe it
    facts = facts_of(payload_head)
    encoded_body = unframed(payload) if facts.is_chunked else payload
    body = decoded_body(encoded_body, facts.content_encoding, max_body_bytes)
    headers = headers_of(head)
    if body is not None and (coding := headers.pop("Content-Encoding", None)):
        headers["X-Consumed-Content-Encoding"] = coding  # as Tornado's clients do
    return Fetched(
        capture.url,
        capture.status,
        headers,
        encoded_body if body is None else body,
        took_s=0.0,
        request_head=request_head,
        raw_head=head,
        encoded_body=encoded_body,
        peer=record.fields.get("warc-ip-address", ""),
    )


def _original_of(captures: Captures, capture: Capture) -> Capture:
    original = None
    if capture.refers_to is not None:
        original = captures.get(capture.refers_to)
    if capture.refers_to == ELSEWHERE:
        raise ArchiveError(
            f"the body of {capture.url} is in another archive: of another process of the "
            "crawl, or the one that --dedupe-against named"
        )
    if original is None:
        raise ArchiveError(
            f"the body of {capture.url} was stored with an earlier capture, which is no "
            "longer in the archive"
        )
    return original


def _read_exchange(
    directory: Path, capture: Capture, max_bytes: int
) -> tuple[Member, bytes]:
    """Return the record of a capture, and the request; empty if it was not kept."""
    path = file_path(directory, capture.file)
    try:
        with open_file(directory, capture.file) as file:
            member = read_member(file, capture.offset, max_bytes)
            if member.record.record_id != capture.record_id:
                raise ArchiveError(
                    f"the record at byte {capture.offset} is not that of {capture.url}"
                )
            return member, _request_head(file, member, max_bytes)
    except (OSError, ArchiveError) as exc:
        raise ArchiveError(f"{path}: {exc}") from None


def _request_head(file: BinaryIO, response: Member, max_bytes: int) -> bytes:
    try:
        end = response.offset + response.length
        record = read_member(file, end, max_bytes).record
    except ArchiveError:
        return b""  # the last record, without a request
    answered_by = record.fields.get("warc-concurrent-to")
    return record.block if answered_by == urn_of(response.record.record_id) else b""


def headers_of(head: bytes) -> HTTPHeaders:
    """Return the fields in the head of a response."""
    headers = HTTPHeaders()
    text = _FOLD.sub(" ", head.decode("latin-1"))
    for line in _LINE_END.split(text)[1:]:
        name, _, value = line.partition(":")
        try:
            headers.add(name, value.strip(" \t"))
        except HTTPInputError:
            continue  # not a header, such as the blank line at the end
    return headers


def decoded_body(body: bytes, content_encoding: str, max_bytes: int) -> bytes | None:
    """Return the decoded body; None if it has no content coding that we support.

    Raises:
        ArchiveError: it cannot be decoded, or has more than ``max_bytes``.
    """
    try:
        decoder = decoder_of(content_encoding, max_bytes, is_lenient=True)
        if decoder is None:
            if len(body) > max_bytes:
                raise ArchiveError(f"the body has more than {max_bytes} bytes")
            return None
        decoded = b"".join(decoder.pieces(body))
        decoder.end()
    except (BadResponseError, ResponseTooLargeError) as exc:
        raise ArchiveError(f"the body cannot be decoded: {exc}") from None
    return decoded
