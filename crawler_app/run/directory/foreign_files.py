"""Files of other programs: where their WARC records are, and the responses in these."""

import re
import struct
import zipfile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.base.models import Fetched
from crawler_app.store.archive.block import facts_of, split_block
from crawler_app.store.archive.gzip_members import read_member
from crawler_app.store.archive.record import Record
from crawler_app.store.archive.replay import decoded_body, headers_of

__all__ = ["Piece", "fetched_at", "fetched_from", "message_in", "pieces_of"]

# Of the name of a file.
SUFFIXES = (".warc.gz", ".wacz")

# In a zip file, before the name of an entry: its length, and that of another field.
_LOCAL_HEADER = struct.Struct("<26xHH")

# In the beginning of whatever is compressed, and in no text.
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
MAX_TEXT_START = 64

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]*\r\n")


class Piece(NamedTuple):
    """A WARC file, or its place in a WACZ file."""

    name: str
    start: int
    end: int


def pieces_of(path: Path) -> list[Piece]:
    """Return the WARC files in a file.

    Raises:
        ConfigError: there is none, or one is compressed in a way that hides its records.
    """
    if path.name.endswith(".warc.gz"):
        return [Piece(path.name, 0, path.stat().st_size)]
    if not path.name.endswith(SUFFIXES):
        raise ConfigError(
            f"{path} is neither the directory of a crawl nor a WARC file (.warc.gz) or "
            "WACZ file (.wacz); `warcio recompress` compresses a WARC file by records"
        )
    try:
        with zipfile.ZipFile(path) as package, path.open("rb") as file:
            return [
                _piece_of(entry, file)
                for entry in package.infolist()
                if entry.filename.endswith(".warc.gz")
            ]
    except (zipfile.BadZipFile, struct.error) as exc:
        raise ConfigError(f"{path} is not a WACZ file: {exc}") from None


def _piece_of(entry: zipfile.ZipInfo, file: BinaryIO) -> Piece:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ConfigError(
            f"{entry.filename} is compressed a second time in the WACZ file"
        )
    file.seek(entry.header_offset)
    name_bytes, extra_bytes = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    start = entry.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
    return Piece(entry.filename, start, start + entry.file_size)


def fetched_at(file: BinaryIO, offset: int, url: str, max_body_bytes: int) -> Fetched:
    """Return the response in the record at an offset.

    Raises:
        ArchiveError: it is damaged, or too large.
    """
    record = read_member(file, offset).record
    return fetched_from(url, *message_in(record), max_body_bytes)


def message_in(record: Record) -> tuple[bytes, bytes]:
    """Return the head and the payload of a record.

    The head of a resource, which no server has sent, is made.

    Raises:
        ArchiveError: no blank line ends the head.
    """
    if record.kind != "resource":
        return split_block(record.block)
    content_type = record.fields.get("content-type", "")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n"
    return head.encode("latin-1", "replace"), record.block


def fetched_from(url: str, head: bytes, payload: bytes, max_body_bytes: int) -> Fetched:
    """Return an archived response of another program.

    Raises:
        ArchiveError: it cannot be decoded, or is too large.
    """
    facts = facts_of(head)
    if facts.is_chunked:
        payload = _dechunked(payload)
    try:
        body = decoded_body(payload, facts.content_encoding, max_body_bytes)
    except ArchiveError:
        if _CONTROLS.search(payload, 0, MAX_TEXT_START):
            raise
        # Some programs store the decoded body with the head as it was.
        body = decoded_body(payload, "", max_body_bytes)
    octets = payload if body is None else body
    return Fetched(url, facts.status, headers_of(head), octets, 0.0)


def _dechunked(payload: bytes) -> bytes:
    """Return a body without the framing of its chunks; unchanged if it has none."""
    pieces: list[bytes] = []
    at = 0
    while chunk := _CHUNK.match(payload, at):
        size = int(chunk[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(payload[chunk.end() : chunk.end() + size])
        at = chunk.end() + size + 2
    return payload
