"""Content codings: broken, truncated, empty and unknown ones."""

import gzip
import struct

import pytest

from crawler_app.httpclient import BadResponseError
from crawler_app.web.httpclient.codings import MAX_STREAMS, decoder_of
from tests.helpers.http.faulty import Peer, answers, exchange, head
from tests.helpers.http.packing import PACK_BY_CODING, raw_deflate

# The length makes STORED, below, look like zlib data.
TEXT = (b"hello, hello, hello" * 101)[:1908]
PACKED = {coding.encode(): pack(TEXT) for coding, pack in PACK_BY_CODING.items()}
# Codings whose streams may be concatenated.
IN_STREAMS = [coding for coding in ("gzip", "zstd") if coding in PACK_BY_CODING]


def packed_answer(coding, body, *lines, **options):
    """Return a script that responds with a body and its length."""
    length = b"Content-Length: %d" % len(body)
    return answers(
        head(b"Content-Encoding: " + coding, length, *lines) + body, **options
    )


def is_refused(result):
    return isinstance(result.outcome, BadResponseError) and not result.was_reused


# Complete bodies.


GZIPPED = PACKED[b"gzip"]
# Raw deflate that stores the text unchanged, after its first byte.
STORED = struct.pack("<HH", len(TEXT), len(TEXT) ^ 0xFFFF) + TEXT

# A header, and its body.
DECODED = [
    *PACKED.items(),
    # RFC 9110, 8.4.1.3: x-gzip is gzip.
    *((name, GZIPPED) for name in (b"GZIP", b"Gzip", b" gzip ", b"x-gzip", b"gzip,")),
    (b"identity, gzip", GZIPPED),
    # RFC 9110, 8.4.1.2: some servers send it this way; browsers accept both.
    (b"deflate", raw_deflate(TEXT)),
    # From its first byte, or its first two, it could be zlib data.
    (b"deflate", b"\x08" + STORED + b"\x03\x00"),
    (b"deflate", b"\x01" + STORED),
    *((name + b", gzip", gzip.compress(body)) for name, body in PACKED.items()),
    # Data after a gzip member that is not another member is ignored.
    *(
        (b"gzip", GZIPPED + garbage)
        for garbage in (b"x", bytes(512), b"\r\n", b"\x1f", b"\x1f garbage")
    ),
]


# Compressed bodies cannot be test ids: they contain the time, which differs between runs.
@pytest.mark.parametrize(
    ("coding", "body"), DECODED, ids=[coding.decode() for coding, _ in DECODED]
)
def test_content_coding_is_decoded(coding, body):
    result = exchange(packed_answer(coding, body))

    assert getattr(result.outcome, "body", result.outcome) == TEXT
    assert result.outcome.encoded_body == body
    taken_off = result.outcome.headers["X-Consumed-Content-Encoding"]
    assert taken_off == coding.decode().strip()
    assert "Content-Encoding" not in result.outcome.headers
    assert result.was_reused


LEFT = [
    *(
        (coding, TEXT, {})
        for coding in (b"identity", b"Identity", b"compress", b"exi", b"gzip, exi")
    ),
    *((coding, TEXT, {}) for coding in (b"", b"gzipped", b"\xff", b"gzip;q=1")),
    (b"gzip", GZIPPED, {"decompress_response": False}),
    (b"gzip", b"garbage", {"decompress_response": False}),
]


@pytest.mark.parametrize(
    ("coding", "body", "options"), LEFT, ids=[repr(coding) for coding, *_ in LEFT]
)
def test_other_codings_are_left_unchanged(coding, body, options):
    result = exchange(packed_answer(coding, body), **options)

    assert getattr(result.outcome, "body", result.outcome) == body
    assert result.outcome.headers["Content-Encoding"] == coding.decode("latin-1")
    assert "X-Consumed-Content-Encoding" not in result.outcome.headers
    assert result.was_reused


# Empty bodies.


WITHOUT_A_BODY = [
    ("GET", b"200 OK", (b"Content-Length: 0",), b""),
    ("GET", b"200 OK", (b"Transfer-Encoding: chunked",), b"0\r\n\r\n"),
    ("GET", b"204 None", (), b""),
    ("GET", b"304 Same", (b"Content-Length: 1234",), b""),
    ("HEAD", b"200 OK", (b"Content-Length: 1234",), b""),
    ("HEAD", b"200 OK", (b"Transfer-Encoding: chunked",), b""),
    ("HEAD", b"200 OK", (), b""),
]


@pytest.mark.parametrize("coding", [*PACKED, b"gzip, gzip", b"nonsense", b""])
@pytest.mark.parametrize(("method", "status", "lines", "rest"), WITHOUT_A_BODY)
def test_response_without_a_body_needs_no_coding(coding, method, status, lines, rest):
    response = head(b"Content-Encoding: " + coding, *lines, status=status) + rest

    result = exchange(answers(response), method=method)

    assert getattr(result.outcome, "code", result.outcome) == int(status[:3])
    assert result.outcome.body == b""
    assert result.was_reused


# Broken bodies.


@pytest.mark.parametrize("coding", PACKED)
@pytest.mark.parametrize("kept", [1, -5, -1])
@pytest.mark.parametrize("ends", ["by its length", "with the connection", "streamed"])
def test_truncated_coding_is_refused(coding, kept, ends):
    cut = PACKED[coding][:kept]
    lines = [b"Content-Encoding: " + coding]
    length = b"Content-Length: %d" % len(cut)
    options = {"streaming_callback": lambda _: None} if ends == "streamed" else {}

    if ends == "with the connection":
        script = answers(head(*lines) + cut, end=Peer.half_close)
    else:
        script = answers(head(*lines, length) + cut)
    result = exchange(script, **options)

    assert is_refused(result), repr(result.outcome)


def flipped(content, index):
    """Return the bytes with one of them changed."""
    changed = bytearray(content)
    changed[index] ^= 0xFF
    return bytes(changed)


BROKEN = {
    "no gzip": (b"gzip", b"hello, this is plain text"),
    "gzip's first byte": (b"gzip", flipped(PACKED[b"gzip"], 0)),
    "gzip's method": (b"gzip", flipped(PACKED[b"gzip"], 2)),
    "gzip's flags": (b"gzip", flipped(PACKED[b"gzip"], 3)),
    "gzip's data": (b"gzip", flipped(PACKED[b"gzip"], 12)),
    "gzip's checksum": (b"gzip", flipped(PACKED[b"gzip"], -8)),
    "gzip's size": (b"gzip", flipped(PACKED[b"gzip"], -1)),
    "zlib for gzip": (b"gzip", PACKED[b"deflate"]),
    "no deflate": (b"deflate", b"\xff" * 50),
    "deflate's data": (b"deflate", flipped(PACKED[b"deflate"], 4)),
    "deflate's checksum": (b"deflate", flipped(PACKED[b"deflate"], -1)),
    "no br": (b"br", b"\xff" * 50),
    "br's data": (b"br", b"\x0b\x80" + b"\xff" * 50),
    "no zstd": (b"zstd", b"hello, this is plain text"),
    "zstd's data": (b"zstd", flipped(PACKED.get(b"zstd", bytes(7)), 6)),
    "the outer of two": (b"gzip, gzip", PACKED[b"gzip"][::-1]),
    "the inner of two": (b"deflate, gzip", gzip.compress(b"\xff" * 50)),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_coding_is_refused(broken):
    coding, body = BROKEN[broken]
    if coding in (b"br", b"zstd") and coding not in PACKED:
        pytest.skip(f"nothing is installed for {coding.decode()}")

    result = exchange(packed_answer(coding, body))

    assert is_refused(result), repr(result.outcome)


@pytest.mark.parametrize("coding", PACKED)
def test_broken_coding_is_refused_immediately(coding):
    # All of these are invalid from their first block on.
    response = head(b"Content-Encoding: " + coding, b"Content-Length: 9999999")

    result = exchange(answers(response + b"\xff" * 10_000))

    assert is_refused(result), repr(result.outcome)


# Empty streams: each costs a decoder, so their number is limited.


@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("coding", IN_STREAMS)
def test_too_many_empty_streams_are_refused(coding, size):
    decoder = decoder_of(coding, 100)
    empty = PACK_BY_CODING[coding](b"")
    content = empty * MAX_STREAMS

    for start in range(0, len(content), size):
        assert list(decoder.pieces(content[start : start + size])) == []
    decoder.end()
    with pytest.raises(BadResponseError, match="streams"):
        list(decoder.pieces(empty))


@pytest.mark.parametrize("coding", IN_STREAMS)
def test_nested_streams_are_counted_together(coding):
    pack = PACK_BY_CODING[coding]
    half = pack(b"") * (MAX_STREAMS // 2)
    within = decoder_of(f"{coding}, {coding}", 10**9)
    around = decoder_of(f"{coding}, {coding}", 10**9)

    taken = list(within.pieces(pack(half) * 2))

    assert taken == []
    with pytest.raises(BadResponseError, match="streams"):
        list(within.pieces(pack(pack(b""))))
    with pytest.raises(BadResponseError, match="streams"):
        list(around.pieces(pack(b"") * (MAX_STREAMS + 1)))


def test_three_codings_are_refused():
    body = gzip.compress(gzip.compress(PACKED[b"gzip"]))

    result = exchange(packed_answer(b"gzip, gzip, gzip", body))

    assert is_refused(result), repr(result.outcome)
