"""Content codings that are broken, cut, empty or unknown."""

import gzip
import struct

import pytest

from crawler_app.httpclient import BadResponseError
from crawler_app.web.httpclient.codings import MAX_STREAMS, decoder_of
from tests.helpers.http.faulty import Peer, answers, exchange, head
from tests.helpers.http.packing import PACK_BY_CODING, raw_deflate

# Of a length that makes STORED, below, look like zlib's.
TEXT = (b"hello, hello, hello" * 101)[:1908]
PACKED = {coding.encode(): pack(TEXT) for coding, pack in PACK_BY_CODING.items()}
# Those whose streams may follow one another.
IN_STREAMS = [coding for coding in ("gzip", "zstd") if coding in PACK_BY_CODING]


def packed_answer(coding, body, *lines, **options):
    """Return a script that answers with a body and its length."""
    length = b"Content-Length: %d" % len(body)
    return answers(
        head(b"Content-Encoding: " + coding, length, *lines) + body, **options
    )


def is_refused(result):
    return isinstance(result.outcome, BadResponseError) and not result.was_reused


# What is whole.


GZIPPED = PACKED[b"gzip"]
# Raw deflate that holds the text as it is, but for its first byte.
STORED = struct.pack("<HH", len(TEXT), len(TEXT) ^ 0xFFFF) + TEXT

# A header, and the body that comes with it.
DECODED = [
    *PACKED.items(),
    # RFC 9110, 8.4.1.3: x-gzip is gzip.
    *((name, GZIPPED) for name in (b"GZIP", b"Gzip", b" gzip ", b"x-gzip", b"gzip,")),
    (b"identity, gzip", GZIPPED),
    # RFC 9110, 8.4.1.2: some servers send it so; every browser takes both.
    (b"deflate", raw_deflate(TEXT)),
    # By its first byte, or by its first two, it could be zlib's.
    (b"deflate", b"\x08" + STORED + b"\x03\x00"),
    (b"deflate", b"\x01" + STORED),
    *((name + b", gzip", gzip.compress(body)) for name, body in PACKED.items()),
    # What follows a gzip member and is none is passed over.
    *(
        (b"gzip", GZIPPED + garbage)
        for garbage in (b"x", bytes(512), b"\r\n", b"\x1f", b"\x1f garbage")
    ),
]


# Packed bodies are no names: with the time in them, they differ from run to run.
@pytest.mark.parametrize(
    ("coding", "body"), DECODED, ids=[coding.decode() for coding, _ in DECODED]
)
def test_coding_is_taken_off(coding, body):
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
def test_coding_that_is_none_unknown_or_to_be_left_is_left(coding, body, options):
    result = exchange(packed_answer(coding, body), **options)

    assert getattr(result.outcome, "body", result.outcome) == body
    assert result.outcome.headers["Content-Encoding"] == coding.decode("latin-1")
    assert "X-Consumed-Content-Encoding" not in result.outcome.headers
    assert result.was_reused


# What is empty.


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


# What is broken.


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
def test_broken_coding_is_refused_before_the_rest_has_come(coding):
    # All of these are garbage from their first block on.
    response = head(b"Content-Encoding: " + coding, b"Content-Length: 9999999")

    result = exchange(answers(response + b"\xff" * 10_000))

    assert is_refused(result), repr(result.outcome)


# Streams that stand for nothing: each costs a decoder, so what is counted is they.


@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("coding", IN_STREAMS)
def test_one_stream_too_many_is_refused_though_it_holds_nothing(coding, size):
    decoder = decoder_of(coding, 100)
    empty = PACK_BY_CODING[coding](b"")
    content = empty * MAX_STREAMS

    for start in range(0, len(content), size):
        assert list(decoder.pieces(content[start : start + size])) == []
    decoder.end()
    with pytest.raises(BadResponseError, match="streams"):
        list(decoder.pieces(empty))


@pytest.mark.parametrize("coding", IN_STREAMS)
def test_streams_within_streams_are_counted_together(coding):
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


def test_coding_three_times_is_refused():
    body = gzip.compress(gzip.compress(PACKED[b"gzip"]))

    result = exchange(packed_answer(b"gzip, gzip, gzip", body))

    assert is_refused(result), repr(result.outcome)
