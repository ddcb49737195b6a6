r"""The block of a WARC record: the HTTP message as it was on the wire.

Pure.  A block is the unchanged head, then the body with its content coding.  Only the
chunked framing is rebuilt: the client removes it on receipt, so where the head says
"chunked", the body is written as *one* chunk and the last chunk.  The head stays true,
and every reader undoes both.
"""

import http.client
import re
from dataclasses import dataclass

from crawler_app.base.errors import ArchiveError
from crawler_app.base.http_headers import decoded_fields
from crawler_app.base.models import Fetched

__all__ = ["HeadFacts", "block_of", "facts_of", "split_block", "unframed"]

# Readers disagree on what a blank line is: warcio and pywb strip every Unicode space from
# each line.  They agree where each line has a visible character.
_WHOLE_HEAD = re.compile(rb"HTTP/[^\n]*\n(?:[^!-~\n]*[!-~][^\n]*\n)*\r?\n")
_BLANK_LINE = re.compile(rb"\n\r?\n")

_STATUS = re.compile(rb"HTTP/\S+[ \t]+(\d{3})(?!\d)")
_FIELD = re.compile(
    rb"\n(content-type|content-encoding|transfer-encoding|etag|last-modified)"
    rb"[ \t]*:[ \t]*([^\r\n]*)",
    re.IGNORECASE,
)

_LAST_CHUNK = b"0\r\n\r\n"
_CHUNK_SIZE = re.compile(rb"([0-9a-f]{1,16})\r\n")

# Never followed by a body, whatever the head says (RFC 9112, 6.3).
_BODILESS = (204, 304)


@dataclass(slots=True, frozen=True)
class HeadFacts:
    """The fields of a head that the archive needs; empty if missing.

    Attributes:
        mime: Without parameters, in lower case.
    """

    status: int
    mime: str = ""
    etag: str = ""
    last_modified: str = ""
    content_encoding: str = ""
    transfer_encoding: str = ""

    @property
    def is_chunked(self) -> bool:
        """Whether a body is framed in chunks."""
        return bool(self.transfer_encoding) and self.status not in _BODILESS


def facts_of(head: bytes) -> HeadFacts:
    r"""Parse a head; if a field is repeated, the first one counts.

    Content-Encoding is a list (one coding within another), so repeats are joined.

    Raises:
        ArchiveError: it is not the head of a response.

    >>> facts_of(b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n").mime
    'text/html'
    """
    status = _STATUS.match(head)
    if status is None:
        raise ArchiveError(f"{head[:40]!r} is not the start of a response")
    value_by_name: dict[bytes, str] = {}
    for name, value in _FIELD.findall(head):
        name, text = name.lower(), value.decode("latin-1").rstrip()
        if name == b"content-encoding" and name in value_by_name:
            value_by_name[name] += f", {text}"
        value_by_name.setdefault(name, text)
    return HeadFacts(
        int(status[1]),
        _mime_of(value_by_name.get(b"content-type", "")),
        value_by_name.get(b"etag", ""),
        value_by_name.get(b"last-modified", ""),
        value_by_name.get(b"content-encoding", ""),
        value_by_name.get(b"transfer-encoding", ""),
    )


def _mime_of(content_type: str) -> str:
    # Cut at white space too: it would end a field in an index.
    words = content_type.partition(";")[0].split()
    return words[0].lower() if words else ""


def block_of(fetched: Fetched) -> tuple[bytes, bytes, HeadFacts]:
    r"""Return the head and the payload of a response, and what the head says.

    If the client did not keep the head as it came, a head is made from what it did keep,
    and the payload is the decoded body.

    >>> block_of(Fetched("http://a.test/", 404, {"Server": "x"}, b"no", 0.1))[:2]
    (b'HTTP/1.1 404 Not Found\r\nServer: x\r\nContent-Length: 2\r\n\r\n', b'no')
    """
    head, body = fetched.raw_head, fetched.encoded_body
    if not _is_whole_head(head) or (fetched.body and not body):
        head, body = _made_head(fetched), fetched.body
    facts = facts_of(head)
    return head, (_framed(body) if facts.is_chunked else body), facts


def _is_whole_head(head: bytes) -> bool:
    """Return whether every reader finds the end of the head in the same place."""
    return bool(_STATUS.match(head) and _WHOLE_HEAD.fullmatch(head))


def _made_head(fetched: Fetched) -> bytes:
    status = fetched.status
    lines = [f"HTTP/1.1 {status:03} {http.client.responses.get(status, '')}"]
    for name, value in decoded_fields(fetched.headers):
        lines.append(f"{name}: {' '.join(value.splitlines())}")
    if status not in _BODILESS:
        lines.append(f"Content-Length: {len(fetched.body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _framed(body: bytes) -> bytes:
    if not body:
        return _LAST_CHUNK
    return b"%x\r\n%b\r\n%b" % (len(body), body, _LAST_CHUNK)


def unframed(payload: bytes) -> bytes:
    r"""Undo the chunked framing that `block_of` wrote.

    Raises:
        ArchiveError: the framing is not as `block_of` writes it.

    >>> unframed(b"5\r\nhello\r\n0\r\n\r\n")
    b'hello'
    """
    if payload == _LAST_CHUNK:
        return b""
    size = _CHUNK_SIZE.match(payload)
    if size is not None:
        start, end = size.end(), size.end() + int(size[1], 16)
        if payload[end:] == b"\r\n" + _LAST_CHUNK:
            return payload[start:end]
    raise ArchiveError("a chunked payload is not framed as this archive frames it")


def split_block(block: bytes) -> tuple[bytes, bytes]:
    """Return the head and the payload of a block.

    Raises:
        ArchiveError: no blank line ends the head.
    """
    end = _BLANK_LINE.search(block)
    if end is None:
        raise ArchiveError(f"the head {block[:40]!r} has no end")
    return block[: end.end()], block[end.end() :]
