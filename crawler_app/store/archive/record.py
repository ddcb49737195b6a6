"""WARC records: from values to bytes and back.

Pure: the time and the id of a record are arguments.

Source: ISO 28500:2017 (WARC 1.1).
"""

import base64
import calendar
import functools
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from crawler_app.base.errors import ArchiveError

__all__ = [
    "Record",
    "RevisitReference",
    "Stamp",
    "capture_record",
    "digits_of",
    "format_date",
    "new_record_id",
    "parse_date",
    "parse_record",
    "request_record",
    "resource_record",
    "sha1_of",
    "urn_of",
    "warcinfo_record",
]

IDENTICAL_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED_PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


class Stamp(NamedTuple):
    """What the records of one exchange have in common.

    Attributes:
        at: When the exchange began, in whole seconds since the epoch.  WARC 1.1 allows
            fractions, but an index has none, and a revisit is resolved by looking up its
            date there.
        warcinfo_id: Id of the warcinfo record; 16 bytes, as from `new_record_id`.
        peer: IP address of the server; may be empty.
        concurrent_to: Id of the other record of the exchange, where that comes first; may be
            empty.
    """

    url: str
    at: int
    warcinfo_id: bytes
    peer: str = ""
    concurrent_to: bytes = b""


class RevisitReference(NamedTuple):
    """The record that a revisit refers to.

    Attributes:
        record_id: Empty if it is in another archive.
        is_identical: Whether the same payload was received again; if not, the server
            answered "not modified".
    """

    record_id: bytes
    url: str
    at: int
    is_identical: bool


@dataclass(slots=True, frozen=True)
class Record:
    """A record read from a file.

    Attributes:
        fields: Value by name in lower case.
    """

    fields: Mapping[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        """The WARC-Type."""
        return self.fields.get("warc-type", "")

    @property
    def record_id(self) -> bytes:
        """The id, as from `new_record_id`."""
        return _id_of(self.fields.get("warc-record-id", ""))

    @property
    def refers_to(self) -> RevisitReference | None:
        """The record that this one refers to, if it is a revisit.

        Raises:
            ArchiveError: the fields that name it are damaged.
        """
        get = self.fields.get
        if self.kind != "revisit":
            return None
        return RevisitReference(
            _id_of(get("warc-refers-to", "")),
            get("warc-refers-to-target-uri", ""),
            parse_date(get("warc-refers-to-date", "")),
            get("warc-profile") == IDENTICAL_PROFILE,
        )


def new_record_id() -> bytes:
    """Return the 16 bytes of a new random UUID (RFC 9562, version 4)."""
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40
    number[8] = number[8] & 0x3F | 0x80
    return bytes(number)


def urn_of(record_id: bytes) -> str:
    """Return a UUID as WARC writes it.

    >>> urn_of(bytes(range(16)))
    '<urn:uuid:00010203-0405-0607-0809-0a0b0c0d0e0f>'
    """
    digits = record_id.hex()
    return (
        f"<urn:uuid:{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}"
        f"-{digits[20:]}>"
    )


def _id_of(urn: str) -> bytes:
    digits = urn.strip("<>").removeprefix("urn:uuid:").replace("-", "")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise ArchiveError(f"{urn!r} is not a record id of this archive") from None


# Most records are of the same second as the one before.
@functools.lru_cache(maxsize=64)
def format_date(at: int) -> str:
    """Return a time as a WARC-Date.

    >>> format_date(0)
    '1970-01-01T00:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def digits_of(at: int) -> str:
    """Return a time in the 14 digits of an index.

    >>> digits_of(0)
    '19700101000000'
    """
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(at))


def parse_date(text: str) -> int:
    """Parse a WARC-Date as `format_date` writes it.

    Raises:
        ArchiveError: it is written differently.

    >>> parse_date("1970-01-01T00:01:00Z")
    60
    """
    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        raise ArchiveError(f"{text!r} is not a WARC-Date of this archive") from None


def sha1_of(payload: bytes) -> str:
    """Return the payload digest of a WARC record: SHA-1 in base 32.

    >>> sha1_of(b"")
    '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return base64.b32encode(hashlib.sha1(payload).digest()).decode("ascii")


def warcinfo_record(
    record_id: bytes, at: int, filename: str, info: Mapping[str, str]
) -> bytes:
    """Return the record that says how the records after it were made."""
    lines = [f"{name}: {' '.join(value.splitlines())}" for name, value in info.items()]
    block = "".join(f"{line}\r\n" for line in lines).encode()
    fields = (
        "WARC-Type: warcinfo\r\n"
        f"WARC-Record-ID: {urn_of(record_id)}\r\n"
        f"WARC-Date: {format_date(at)}\r\n"
        f"WARC-Filename: {filename}\r\n"
        "Content-Type: application/warc-fields\r\n"
    )
    return _record(fields, block)


def capture_record(
    record_id: bytes,
    stamp: Stamp,
    head: bytes,
    payload: bytes,
    digest: str,
    refers_to: RevisitReference | None = None,
) -> bytes:
    """Return the record of a response, or of a revisit, which leaves the payload out.

    Args:
        payload: As written to the file, with the framing of a chunked body.
        digest: Its `sha1_of`, framing included: that is what warcio and pywb verify.
            The standard asks for the digest without framing; no tool does that.
    """
    fields = (
        f"WARC-Type: {'response' if refers_to is None else 'revisit'}\r\n"
        f"WARC-Record-ID: {urn_of(record_id)}\r\n"
        f"{_stamp_fields(stamp)}"
        "Content-Type: application/http; msgtype=response\r\n"
        f"WARC-Payload-Digest: sha1:{digest}\r\n"
    )
    if refers_to is None:
        return _record(fields, head, payload)
    return _record(fields + _revisit_fields(refers_to), head)


def _stamp_fields(stamp: Stamp) -> str:
    peer = f"WARC-IP-Address: {stamp.peer}\r\n" if stamp.peer else ""
    other = stamp.concurrent_to
    concurrent = f"WARC-Concurrent-To: {urn_of(other)}\r\n" if other else ""
    return (
        f"WARC-Warcinfo-ID: {urn_of(stamp.warcinfo_id)}\r\n"
        f"WARC-Target-URI: {stamp.url}\r\n"
        f"WARC-Date: {format_date(stamp.at)}\r\n"
        f"{peer}{concurrent}"
    )


def _revisit_fields(refers_to: RevisitReference) -> str:
    record_id = refers_to.record_id
    known_id = f"WARC-Refers-To: {urn_of(record_id)}\r\n" if record_id else ""
    return (
        f"WARC-Profile: {IDENTICAL_PROFILE if refers_to.is_identical else NOT_MODIFIED_PROFILE}\r\n"
        f"{known_id}"
        f"WARC-Refers-To-Target-URI: {refers_to.url}\r\n"
        f"WARC-Refers-To-Date: {format_date(refers_to.at)}\r\n"
    )


def request_record(record_id: bytes, stamp: Stamp, message: bytes) -> bytes:
    """Return the record of a request.

    Args:
        message: Head and body.
    """
    fields = (
        "WARC-Type: request\r\n"
        f"WARC-Record-ID: {urn_of(record_id)}\r\n"
        f"{_stamp_fields(stamp)}"
        "Content-Type: application/http; msgtype=request\r\n"
    )
    return _record(fields, message)


def resource_record(
    record_id: bytes, stamp: Stamp, content_type: str, payload: bytes, digest: str
) -> bytes:
    """Return the record of something that no server has sent, such as a screenshot."""
    fields = (
        "WARC-Type: resource\r\n"
        f"WARC-Record-ID: {urn_of(record_id)}\r\n"
        f"{_stamp_fields(stamp)}"
        f"Content-Type: {content_type}\r\n"
        f"WARC-Payload-Digest: sha1:{digest}\r\n"
    )
    return _record(fields, payload)


def _record(fields: str, *block: bytes) -> bytes:
    """Return a record, whose block is given in parts, because copies take time."""
    digest = hashlib.sha256()
    for part in block:
        digest.update(part)
    digits = base64.b32encode(digest.digest()).decode("ascii")
    header = (
        f"WARC/1.1\r\n{fields}WARC-Block-Digest: sha256:{digits}\r\n"
        f"Content-Length: {sum(map(len, block))}\r\n\r\n"
    )
    return b"".join((header.encode(), *block, b"\r\n\r\n"))


def parse_record(data: bytes) -> Record:
    r"""Parse one complete record, as this module writes it.

    Raises:
        ArchiveError: it is not such a record.

    >>> parse_record(warcinfo_record(bytes(16), 0, "a.warc.gz", {"software": "x"})).block
    b'software: x\r\n'
    """
    header, separator, rest = data.partition(b"\r\n\r\n")
    version, *lines = header.decode("utf-8", "replace").split("\r\n")
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    if not (version.startswith("WARC/1.") and separator):
        raise ArchiveError(f"{data[:40]!r} is not a WARC record")
    block, end = rest[:-4], rest[-4:]
    # Compared as text: a length may have more digits than Python converts.
    if end != b"\r\n\r\n" or fields.get("content-length") != str(len(block)):
        raise ArchiveError(
            "the length of a WARC record differs from its Content-Length"
        )
    return Record(fields, block)
