"""Writes an exchange to the archive: its records to a file, and a row to the table.

Rule: a row is committed only after its records were handed to the operating system.
"""

import sqlite3

from crawler_app.base.models import Fetched, body_digest
from crawler_app.store.archive.block import HeadFacts, block_of
from crawler_app.store.archive.captures import (
    ELSEWHERE,
    NOT_MODIFIED,
    RESOURCES,
    RESPONSE,
    REVISIT,
    Capture,
    Captures,
)
from crawler_app.store.archive.gzip_members import compress, is_compressed
from crawler_app.store.archive.known_payloads import KnownPayloads
from crawler_app.store.archive.lookup import has_method, lookup_url
from crawler_app.store.archive.record import (
    RevisitReference,
    Stamp,
    capture_record,
    new_record_id,
    request_record,
    resource_record,
    sha1_of,
)
from crawler_app.store.archive.secrets import has_secrets
from crawler_app.store.archive.warc_files import WarcFiles

__all__ = ["Recorder", "payload_key"]

# The fields by which a revisit refers to a capture take 100 bytes, compressed; so does a
# text payload of this size.
MIN_REVISITED_BYTES = 250


def payload_key(payload: bytes, fetched: Fetched | None = None) -> bytes | None:
    """Return the key by which payloads are compared; None if too small for a revisit.

    Args:
        fetched: Its response; if the payload is the body, that is hashed for the frontier too.
    """
    if len(payload) < MIN_REVISITED_BYTES:
        return None
    if fetched is not None and payload == fetched.body:
        return fetched.digest()
    return body_digest(payload)


class Recorder:
    """Writes captures; used by one thread at a time.

    Args:
        known: The payloads of another archive, which are not written again; None for none.

    Errors are OSError and sqlite3.Error; call `undo` after one.
    """

    def __init__(
        self, files: WarcFiles, captures: Captures, known: KnownPayloads | None = None
    ) -> None:
        self._files = files
        self._captures = captures
        self._known = known

    def take(
        self, fetched: Fetched, began_at: float, elsewhere: Capture | None = None
    ) -> None:
        """Write the records of an exchange, or of a resource, and its capture.

        Args:
            elsewhere: What a 304 refers to, if it is in the archive of another process.
        """
        at = int(began_at)
        self._files.begin(at)
        stamp = Stamp(fetched.url, at, self._files.warcinfo_id, fetched.peer)
        record_id = new_record_id()
        head = fetched.request_head
        if head and not self._files.is_private and has_secrets(head):
            self._files.make_private()
        if stamp.url.startswith(RESOURCES):
            self._take_resource(record_id, stamp, fetched)
        elif has_method(head):
            # First: without it, recovery would take the response for one to a GET.
            request_id = new_record_id()
            self._take_request(request_id, stamp, head + fetched.request_body)
            url = lookup_url(stamp.url, head, fetched.request_body)
            stamp = stamp._replace(concurrent_to=request_id)
            self._take_response(record_id, stamp, fetched, url)
        else:
            self._take_response(record_id, stamp, fetched, stamp.url, elsewhere)
            if head:
                stamp = stamp._replace(concurrent_to=record_id)
                self._take_request(new_record_id(), stamp, head)

    def _take_request(self, request_id: bytes, stamp: Stamp, message: bytes) -> None:
        self._files.append(compress(request_record(request_id, stamp, message)))

    def _take_resource(self, record_id: bytes, stamp: Stamp, fetched: Fetched) -> None:
        mime, digest = fetched.headers["Content-Type"], sha1_of(fetched.body)
        record = resource_record(record_id, stamp, mime, fetched.body, digest)
        member = compress(record, is_stored=mime.startswith("image/"))
        number, offset = self._files.number, self._files.append(member)
        capture = Capture(
            *(stamp.url, stamp.at, RESPONSE, 200, mime, digest, "", ""),
            *(number, offset, len(member), record_id),
        )
        self._captures.add(capture, None)

    def _take_response(
        self,
        record_id: bytes,
        stamp: Stamp,
        fetched: Fetched,
        url: str,
        elsewhere: Capture | None = None,
    ) -> None:
        """Write a response.

        Args:
            url: By which it is looked up.
        """
        head, payload, facts = block_of(fetched)
        key = payload_key(payload, fetched)
        if facts.status != 304:
            elsewhere = None
        original = elsewhere or self._original(url, facts, key)
        refers_to = None
        digest = sha1_of(payload)
        original_id = None if original is None else original.id
        if original is None:
            kind = RESPONSE
            if key is not None and self._known is not None:
                body = fetched.encoded_body or fetched.body
                refers_to = self._known.find(payload, body)
            if refers_to is not None:
                kind, original_id = REVISIT, ELSEWHERE
        else:
            kind = NOT_MODIFIED if facts.status == 304 else REVISIT
            digest = original.digest
            # Without an id, recovery does not look for it here.
            original_record_id = b"" if elsewhere else original.record_id
            refers_to = RevisitReference(
                original_record_id, original.url, original.at, kind == REVISIT
            )
            if elsewhere is not None:
                original_id = ELSEWHERE
        record = capture_record(record_id, stamp, head, payload, digest, refers_to)
        is_stored = refers_to is None and is_compressed(facts, len(payload))
        member = compress(record, is_stored=is_stored)
        capture = Capture(
            url,
            stamp.at,
            kind,
            facts.status,
            facts.mime,
            digest,
            facts.etag,
            facts.last_modified,
            # `append` writes to the file with this number.
            self._files.number,
            self._files.append(member),
            len(member),
            record_id,
            original_id,
        )
        self._captures.add(capture, key if kind == RESPONSE else None)

    def _original(
        self, url: str, facts: HeadFacts, key: bytes | None
    ) -> Capture | None:
        """Return the earlier response that has the same payload."""
        if facts.status == 304:
            latest = self._captures.latest(url)
            return None if latest is None else self._captures.original_of(latest)
        return None if key is None else self._captures.with_payload(key)

    def write_out(self) -> None:
        """Write the buffered records to the operating system."""
        self._files.write_out()

    def commit(self) -> None:
        """Write the buffered records and commit their rows."""
        self._files.write_out()
        self._captures.commit()

    def undo(self) -> None:
        """After an error, leave only complete records.

        Those whose rows are lost are recovered when the archive is opened again.
        """
        try:
            self._captures.rollback()
        except sqlite3.Error:
            pass  # SQLite rolls back when the file is opened again
        self._files.undo()

    def close(self) -> None:
        """Close the files; what was not committed is lost."""
        self._files.close()
        self._captures.close()
