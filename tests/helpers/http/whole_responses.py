"""A hypothesis strategy for valid responses, with their expected contents."""

import gzip
import itertools
import zlib
from typing import NamedTuple

from hypothesis import strategies as st

from tests.helpers.http.packing import PACK_BY_CODING

__all__ = ["Whole", "is_one_response", "pieces_of", "whole_responses"]

PACKERS = {
    "": bytes,
    **PACK_BY_CODING,
    "gzip, deflate": lambda body: zlib.compress(gzip.compress(body)),
    "unheard-of": bytes,
}


class Whole(NamedTuple):
    """A response, and its expected contents.

    Attributes:
        raw: All of it, with informational responses before it.
        head: The last head.
        fields: Name and value of headers that are not about the body.
        encoded: The body in its content coding.
        is_until_close: Whether its body ends with the connection.
    """

    raw: bytes
    head: bytes
    status: int
    reason: str
    fields: list[tuple[str, str]]
    body: bytes
    encoded: bytes
    is_until_close: bool


TOKEN = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1, max_size=12)
VISIBLE = [chr(code) for code in (*range(0x21, 0x7F), *range(0x80, 0x100))]
WORD = st.text(VISIBLE, max_size=12)
# Spaces inside are kept, surrounding ones are not part of it.
VALUE = st.lists(WORD, max_size=4).map(" ".join).map(lambda text: text.strip(" \t"))
BLANK = st.sampled_from(["", " ", "  ", "\t", " \t "])
BODY = st.one_of(
    st.binary(max_size=300),
    st.builds(bytes.__mul__, st.binary(max_size=20), st.integers(0, 2_000)),
)


@st.composite
def pieces_of(draw: st.DrawFn, content: bytes, most: int = 6) -> list[bytes]:
    """Cut bytes into some pieces, none of them empty."""
    if not content:
        return []
    ends = draw(st.lists(st.integers(1, len(content)), max_size=most, unique=True))
    ends = [0, *sorted({*ends, len(content)})]
    return [content[a:b] for a, b in itertools.pairwise(ends)]


@st.composite
def _in_chunks(draw: st.DrawFn, content: bytes) -> bytes:
    written = []
    for piece in draw(pieces_of(content)):
        size = draw(st.sampled_from([b"%x", b"%X", b"0%x", b"000%X"])) % len(piece)
        extension = draw(st.sampled_from([b"", b";a", b";a=b", b';a="b;c"']))
        written.append(size + extension + b"\r\n" + piece + b"\r\n")
    last = draw(st.sampled_from([b"0\r\n", b"000\r\n", b"0;a=b\r\n"]))
    trailers = draw(st.sampled_from([b"", b"X-Trailer: y\r\n", b"A: b\r\nC: d\r\n"]))
    return b"".join([*written, last, trailers, b"\r\n"])


@st.composite
def whole_responses(draw: st.DrawFn) -> Whole:
    """Draw a valid response of any form."""
    status = draw(st.sampled_from([200, 204, 206, 299, 304, 404, 500, 599, 999]))
    has_body = status not in (204, 304)
    reason = draw(VALUE)
    names = TOKEN.map(lambda token: f"X-{token}")
    fields = draw(st.lists(st.tuples(names, VALUE), max_size=6))
    body = draw(BODY) if has_body else b""
    coding = draw(st.sampled_from(list(PACKERS)))
    encoded = PACKERS[coding](body) if has_body else b""
    lines = [
        f"{name}:{draw(BLANK)}{value}{draw(BLANK)}".encode("latin-1")
        for name, value in fields
    ]
    place = draw(st.integers(0, len(lines)))
    if coding:
        lines.insert(place, f"Content-Encoding: {coding}".encode())
    framing = draw(st.sampled_from(["length", "chunked", "close"]))
    content = encoded
    if framing == "length":
        lines.insert(place, b"Content-Length: %d" % len(encoded))
    elif framing == "chunked":
        lines.insert(place, b"Transfer-Encoding: chunked")
        content = draw(_in_chunks(encoded)) if has_body else b""
    blank = " " if reason else draw(st.sampled_from(["", " "]))
    start = f"HTTP/1.1 {status}{blank}{reason}".encode("latin-1")
    head = b"\r\n".join([start, *lines, b"", b""])
    informational = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    before = informational * draw(st.integers(0, 2))
    return Whole(
        before + head + content,
        head,
        status,
        reason,
        fields,
        body,
        encoded,
        is_until_close=has_body and framing == "close",
    )


def is_one_response(sent: bytes, head: bytes, encoded: bytes) -> bool:
    """Return whether bytes are exactly one response, with this head and body.

    Checked in the simplest way: the data ends with the unchanged head, and a body whose length
    or chunks match.  Line ends behind it are allowed, as they are not part of a response.
    """
    while sent:
        if _is_just(sent, head, encoded):
            return True
        if sent[-1] not in b"\r\n":
            return False
        sent = sent[:-1]
    return False


def _is_just(sent: bytes, head: bytes, encoded: bytes) -> bool:
    before, is_there, rest = sent.partition(head)
    while is_there and not _are_informational(before):
        # The same bytes, earlier, were no head.
        more, is_there, rest = rest.partition(head)
        before += head + more
    if not is_there:
        return False
    if rest == encoded:
        return True
    return _dechunked(rest) == encoded


def _are_informational(heads: bytes) -> bool:
    found = heads.lstrip(b"\r\n").split(b"\r\n\r\n")
    return found[-1] == b"" and all(
        head.lstrip(b"\r\n")[:10].startswith((b"HTTP/1.1 1", b"HTTP/1.0 1"))
        for head in found[:-1]
    )


def _dechunked(content: bytes) -> bytes | None:
    """Return the content of chunks; None if they are invalid or not all of the data."""
    body = b""
    while True:
        line, found, content = content.partition(b"\r\n")
        digits = line.split(b";")[0]
        if not found or digits.strip(b"0123456789abcdefABCDEF") or not digits:
            return None
        size = int(digits, 16)
        if size == 0:
            break
        body += content[:size]
        if content[size : size + 2] != b"\r\n":
            return None
        content = content[size + 2 :]
    while content and not content.startswith(b"\r\n"):
        content = content.partition(b"\r\n")[2]
    return body if content == b"\r\n" else None
