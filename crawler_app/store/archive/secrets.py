"""Archives to share: without the passwords, tokens and cookies of requests and responses.

Other records stay as they are, byte by byte.  Of those that had such a header, the digest of
the block is made anew; that of the payload, which has no headers, stays.
"""

import base64
import hashlib
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from crawler_app.base.errors import ArchiveError
from crawler_app.store.archive.block import split_block
from crawler_app.store.archive.captures import Capture
from crawler_app.store.archive.gzip_members import compress

__all__ = ["SECRET_HEADERS", "SharedFile", "has_secrets"]

SECRET_HEADERS = ("Cookie", "Authorization", "Proxy-Authorization", "Set-Cookie")


def _pattern_of(names: Collection[str]) -> re.Pattern[bytes]:
    """Return a pattern for headers, with the lines that continue them."""
    alternatives = "|".join(map(re.escape, names)).encode()
    return re.compile(
        rb"^(%b)[ \t]*:[^\n]*\n(?:[ \t]+[^\n]*\n)*" % alternatives,
        re.IGNORECASE | re.MULTILINE,
    )


# Of what we send, in 0.2 us.
_IN_REQUEST = re.compile(
    rb"\n(?:cookie|authorization|proxy-authorization)[ \t]*:", re.IGNORECASE
)
_IS_HTTP = re.compile(
    rb"^Content-Type:[ \t]*application/http\b", re.IGNORECASE | re.MULTILINE
)
_DIGEST = re.compile(
    rb"^(WARC-Block-Digest:[ \t]*)[^\r\n]*", re.IGNORECASE | re.MULTILINE
)
_LENGTH = re.compile(rb"^(Content-Length:[ \t]*)[^\r\n]*", re.IGNORECASE | re.MULTILINE)

_GZIP = 16 + zlib.MAX_WBITS
# Small, as what is left of a piece is copied after each record.
PIECE_BYTES = 64 * 1024


def has_secrets(head: bytes) -> bool:
    r"""Return whether the head of a request has a header that is not to be shared.

    >>> has_secrets(b"GET / HTTP/1.1\r\nHost: a.test\r\ncookie: a=b\r\n\r\n")
    True
    """
    return _IN_REQUEST.search(head) is not None


def _without(
    secret: re.Pattern[bytes], record: bytes, removed: Counter[str]
) -> bytes | None:
    """Return a WARC record without secret headers; None if it has none.

    Args:
        removed: Gets the number of headers by name.

    Raises:
        ArchiveError: it is not a complete record.
    """
    fields, separator, rest = record.partition(b"\r\n\r\n")
    if not _IS_HTTP.search(fields) or not secret.search(rest):
        return None
    head, payload = split_block(rest[:-4])
    found = [name.decode().title() for name in secret.findall(head)]
    if not found:
        return None
    removed.update(found)
    block = secret.sub(b"", head) + payload
    digest = base64.b32encode(hashlib.sha256(block).digest())
    fields = _DIGEST.sub(rb"\g<1>sha256:" + digest, fields)
    fields = _LENGTH.sub(rb"\g<1>%d" % len(block), fields)
    return b"".join((fields, separator, block, rest[-4:]))


class SharedFile:
    """One file of an archive, without secrets, and where its records are then.

    Args:
        names: Those of the headers to leave out, such as `SECRET_HEADERS`.
        removed: Gets the number of headers by name.
    """

    def __init__(self, names: Collection[str], removed: Counter[str]) -> None:
        self._secret = _pattern_of(names)
        self._removed = removed
        # By record: its offset, and its offset and length in the shared file.
        self._before, self._after = array("Q"), array("Q", [0])

    def pieces(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the members of the file, given in pieces of any size.

        Raises:
            ArchiveError: it is damaged.
        """
        offset = 0
        for member, record in _members(pieces):
            changed = _without(self._secret, record, self._removed)
            shared = member if changed is None else compress(changed)
            self._before.append(offset)
            self._after.append(self._after[-1] + len(shared))
            offset += len(member)
            yield shared

    def moved(self, capture: Capture) -> Capture:
        """Return a capture with its place in the shared file, once that is written."""
        number = bisect_left(self._before, capture.offset)
        start, end = self._after[number : number + 2]
        return capture._replace(offset=start, length=end - start)


def _members(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield each member of a file, and the record in it."""
    small = (
        piece[at : at + PIECE_BYTES]
        for piece in pieces
        for at in range(0, len(piece), PIECE_BYTES)
    )
    rest = b""
    while rest := rest or next(small, b""):
        inflater = zlib.decompressobj(_GZIP)
        member, record = [], []
        try:
            while not inflater.eof:
                record.append(inflater.decompress(rest))
                member.append(rest[: len(rest) - len(inflater.unused_data)])
                rest = inflater.unused_data or next(small, b"")
                if not rest and not inflater.eof:
                    raise ArchiveError("the last record is not complete")
        except zlib.error as exc:
            raise ArchiveError(
                f"a file of the archive is damaged ({exc}), and may hold secrets; "
                "--with-secrets exports it as it is"
            ) from None
        yield b"".join(member), b"".join(record)
