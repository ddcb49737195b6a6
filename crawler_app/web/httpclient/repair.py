"""Repairs a response that the strict parser rejects, where RFC 9110 and 9112 allow it.

Pure.  Rule: only what every reader understands in the same way is repaired, and only a line
that every reader ignores is left out.  Anything else, in particular anything unusual about the
length of the body, is left unchanged, so that the parser rejects the head again.

Browsers and curl accept what is repaired here, and more: ``tests/helpers/http/irregular.py``
lists it.
"""

import itertools
import re
from collections.abc import Iterator

__all__ = ["has_status", "is_response", "places_of_spaces", "repaired", "split_head"]

# The maximum for the data of one read; each takes a microsecond to check.
MAX_PLACES = 1000

_VERSION = rb"(?i:http)/([1-9](?:\.[0-9])?)[ \t]"
_START = re.compile(_VERSION)
_STATUS = re.compile(_VERSION + rb"[ \t]*([1-9][0-9][0-9])(?=[ \t\r\n]|$)[ \t]*")
_END = re.compile(rb"\n\r?\n")
_BARE_LF = re.compile(rb"(?<!\r)\n")
_FOLD = re.compile(rb"\r\n[ \t]+")
_FRAMING = rb"\r\n(?:content-length|transfer-encoding)\b"
_FOLDED_FRAMING = re.compile(_FRAMING + rb"[^\n]*\n[ \t]", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:([^\r\n]*)", re.IGNORECASE)
# RFC 9110, 5.6.2.
_NAMED = re.compile(rb"([-!#$%&'*+.^_`|~0-9A-Za-z]+)([ \t]*):")
_NO_LETTERS = re.compile(rb"[^a-z]+")
_VALUE = re.compile(rb"(?!" + _FRAMING + rb")(\r\n[^\r\n:]*:)([^\r\n]*)", re.IGNORECASE)
_SPACES_FIRST = re.compile(rb"[0-9a-fA-F]*( ++)(?=\r|\Z)")
_SPACES = re.compile(rb"\n[0-9a-fA-F]+( ++)(?=\r|\Z)")
_CONTROLS = re.compile(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")


def is_response(received: bytes) -> bool:
    """Return whether data starts, or may go on, as a response of any version does."""
    start = received.lstrip(b"\r\n")[:9]
    return _START.match(start + b"HTTP/1.1 "[len(start) :]) is not None


def has_status(head: bytes) -> bool:
    """Return whether a head has a valid status."""
    return _STATUS.match(head) is not None


def split_head(received: bytes, searched_bytes: int = 0) -> tuple[bytes, bytes] | None:
    r"""Split off a head, whose lines may end in a bare LF; None if it is incomplete.

    Args:
        received: Begins with the status line.
        searched_bytes: The number of bytes known not to contain its end.

    >>> split_head(b"HTTP/1.1 200 OK\nA: b\n\nbody")
    (b'HTTP/1.1 200 OK\nA: b\n\n', b'body')
    """
    # The end may have begun in the last two bytes of the data before.
    end = _END.search(received, max(searched_bytes - 2, 0))
    return None if end is None else (received[: end.end()], received[end.end() :])


def repaired(head: bytes) -> tuple[bytes, list[str]]:
    r"""Return a head with its repairs, and what was repaired.

    >>> repaired(b"HTTP/1.1 200 OK\nA: b\n c\n\n")
    (b'HTTP/1.1 200 OK\r\nA: b c\r\n\r\n', ['bare line feeds', 'folded header lines'])
    """
    notes = []
    # RFC 9112, 2.2: a recipient may recognize a single LF as the end of a line.
    head, bare = _BARE_LF.subn(b"\r\n", head)
    if bare:
        notes.append("bare line feeds")
    status_line, block = head.split(b"\r\n", 1)
    block = b"\r\n" + block
    status_line, before = _repaired_status(status_line, block), status_line
    if status_line.rstrip(b" ") != before.rstrip(b" "):
        notes.append("irregular status line")
    for repair, note in _REPAIRS:
        block, before = repair(block), block
        if block != before:
            notes.append(note)
    return status_line + block, notes


def _repaired_status(line: bytes, block: bytes) -> bytes:
    found = _STATUS.match(line)
    if found is None:
        return line
    version, status = found.groups()
    if version not in (b"1.0", b"1.1"):
        # In a version that a reader takes for 1.0, no body is chunked.
        if b"transfer-encoding" in block.lower():
            return line
        version = b"1.1"
    # RFC 9112, 4: a recipient may treat any form of white space as the separator.
    return b"HTTP/%b %b %b" % (version, status, line[found.end() :].rstrip(b"\r"))


def _without_folds(block: bytes) -> bytes:
    """Replace each fold by a space, as a user agent must (RFC 9112, 5.2).

    Not directly below the status line (2.2), nor in a field that determines the framing.
    """
    if block.startswith((b"\r\n ", b"\r\n\t")) or _FOLDED_FRAMING.search(block):
        return block
    return _FOLD.sub(b" ", block)


def _without_malformed_lines(block: bytes) -> bytes:
    """Leave out the lines that are no fields, and repair the ends of names and of lines.

    A line stays, and so is rejected, if a reader could find another line or a length in it.
    """
    _, *lines, _, _ = block.split(b"\r\n")
    kept = [b"", *(line for each in lines if (line := _field(each))), b"", b""]
    return b"\r\n".join(kept)


def _field(line: bytes) -> bytes:
    """Return the field in a line, the line itself if it may not be repaired, or nothing."""
    field = line.rstrip(b"\r")
    named = _NAMED.match(field)
    if named and not named[2] and field == line:
        return line
    letters = _NO_LETTERS.sub(b"", (named[1] if named else field).lower())
    has_length = b"contentlength" in letters or b"transferencoding" in letters
    if (
        has_length
        or not field
        or field[:1] in b" \t"
        or b"\r" in field
        or b"\0" in field
    ):
        return line
    # RFC 9112, 5.1: white space before the colon is removed from a response.
    return named[1] + field[named.end(2) :] if named else b""


def _with_one_length(block: bytes) -> bytes:
    """Replace several equal lengths by one (RFC 9110, 8.6)."""
    values = [
        value.strip(b" \t") for value in b",".join(_LENGTH.findall(block)).split(b",")
    ]
    if len(values) == 1 or len(set(values)) > 1 or not values[0].isdigit():
        return block
    return b"\r\nContent-Length: " + values[0] + _LENGTH.sub(b"", block)


def _without_controls(block: bytes) -> bytes:
    """Replace control characters in values, except NUL and CR (RFC 9110, 5.5)."""
    if not _CONTROLS.search(block):
        return block
    return _VALUE.sub(lambda field: field[1] + _CONTROLS.sub(b" ", field[2]), block)


def places_of_spaces(data: bytes) -> Iterator[tuple[int, int]]:
    r"""Return where spaces may follow a chunk size, if the data is of a chunked body.

    Old servers pad the sizes.  No reader takes the spaces for a part of the size; before an
    extension, a recipient must remove them (RFC 9112, 7.1.1).

    >>> list(places_of_spaces(b"2 \r\nok\r\n0   \r\n\r\n"))
    [(1, 2), (9, 12)]
    """
    if first := _SPACES_FIRST.match(data):
        yield first.span(1)
    for place in itertools.islice(_SPACES.finditer(data), MAX_PLACES):
        yield place.span(1)


_REPAIRS = (
    (_without_folds, "folded header lines"),
    (_without_malformed_lines, "malformed header lines"),
    (_with_one_length, "repeated Content-Length"),
    (_without_controls, "control characters in headers"),
)
