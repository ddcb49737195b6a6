"""Content codings that are broken, cut, empty or unknown."""

import functools
import gzip
import importlib
import zlib

import pytest

from crawler_app.httpclient import BadResponseError
from crawler_app.httpclient.codings import MAX_STREAMS, decoder_of
from tests.helpers.http.faulty import Peer, answers, exchange, head

# Without the time: bodies are part of test ids, which must be equal in all workers.
gzipped = functools.partial(gzip.compress, mtime=0)

TEXT = b"hello, hello, hello" * 100
PACKED = {
    b"gzip": gzipped(TEXT),
    b"deflate": zlib.compress(TEXT),
}
# Those whose streams may follow one another.
PACK_BY_CODING = {"gzip": gzipped}
# Those that need a package; each is known as soon as there is one.
for coding, package in [
    (b"br", "brotli"),
    (b"zstd", "compression.zstd"),
    (b"zstd", "backports.zstd"),
]:
    try:
        PACKED.setdefault(coding, importlib.import_module(package).compress(TEXT))
    except ImportError:
        continue
    if coding == b"zstd":
        PACK_BY_CODING["zstd"] = importlib.import_module(package).compress


def packed_answer(coding, body, *lines, **options):
    """Return a script that answers with a body and its length."""
    length = b"Content-Length: %d" % len(body)
    return answers(
        head(b"Content-Encoding: " + coding, length, *lines) + body, **options
    )


def is_refused(result):
    return isinstance(result.outcome, BadResponseError) and not result.was_reused


# What is whole.


def raw_deflate(content):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


GZIPPED = PACKED[b"gzip"]

# A header, and the body that comes with it.
DECODED = [
    *PACKED.items(),
    # RFC 9110, 8.4.1.3: x-gzip is gzip.
    *((name, GZIPPED) for name in (b"GZIP", b"Gzip", b" gzip ", b"x-gzip", b"gzip,")),
    (b"identity, gzip", GZIPPED),
    # RFC 9110, 8.4.1.2: some servers send it so; every browser takes both.
    (b"deflate", raw_deflate(TEXT)),
    *((name + b", gzip", gzipped(body)) for name, body in PACKED.items()),
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


@pytest.mark.parametrize("coding", [coding for coding in PACKED if coding != b"br"])
@pytest.mark.parametrize("garbage", [b"x", b"\x00" * 50, b"\r\n", b"\x1f"])
def test_garbage_after_a_body_that_comes_late_is_passed_over(coding, garbage):
    async def script(peer):
        await peer.request()
        length = len(PACKED[coding]) + len(garbage)
        lines = (b"Content-Encoding: " + coding, b"Content-Length: %d" % length)
        await peer.send_apart(head(*lines) + PACKED[coding], garbage)

    result = exchange(script)

    assert getattr(result.outcome, "body", result.outcome) == TEXT
    assert result.was_reused


# What is empty.


@pytest.mark.parametrize("coding", [*PACKED, b"gzip, gzip", b"identity"])
@pytest.mark.parametrize(
    ("lines", "rest"),
    [
        ((b"Content-Length: 0",), b""),
        ((b"Transfer-Encoding: chunked",), b"0\r\n\r\n"),
    ],
)
def test_empty_body_needs_no_coding(coding, lines, rest):
    response = head(b"Content-Encoding: " + coding, *lines) + rest

    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b""
    assert result.outcome.code == 200
    assert result.was_reused


def test_empty_body_until_the_end_needs_no_coding():
    response = head(b"Content-Encoding: gzip")

    result = exchange(answers(response, end=Peer.half_close))

    assert getattr(result.outcome, "body", result.outcome) == b""


@pytest.mark.parametrize(
    ("method", "status"),
    [("HEAD", b"200 OK"), ("GET", b"204 None"), ("GET", b"304 Same")],
)
@pytest.mark.parametrize(
    "lines",
    [
        (b"Content-Encoding: gzip",),
        (b"Content-Encoding: gzip", b"Content-Length: 1234"),
        (b"Content-Encoding: br", b"Transfer-Encoding: chunked"),
        (b"Content-Encoding: nonsense",),
    ],
)
def test_response_that_has_no_body_needs_no_coding(method, status, lines):
    result = exchange(answers(head(*lines, status=status)), method=method)

    assert getattr(result.outcome, "code", result.outcome) == int(status[:3])
    assert result.outcome.body == b""
    assert result.was_reused


NOTHING = {
    b"gzip": gzipped(b""),
    b"deflate": zlib.compress(b""),
    # Its shortest stream is one byte.
    b"br": b"\x06",
}


@pytest.mark.parametrize("coding", [coding for coding in NOTHING if coding in PACKED])
def test_coding_of_nothing_is_nothing(coding):
    result = exchange(packed_answer(coding, NOTHING[coding]))

    assert getattr(result.outcome, "body", result.outcome) == b""
    assert result.outcome.code == 200


# What is broken.


@pytest.mark.parametrize("coding", PACKED)
@pytest.mark.parametrize("kept", [1, 2, 0.5, -5, -1])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_truncated_coding_is_refused(coding, kept, is_streamed):
    packed = PACKED[coding]
    cut = packed[: int(kept * len(packed)) if kept == 0.5 else kept]
    streaming = {"streaming_callback": lambda piece: None} if is_streamed else {}

    result = exchange(packed_answer(coding, cut), **streaming)

    assert is_refused(result), repr(result.outcome)


@pytest.mark.parametrize("coding", PACKED)
def test_coding_that_is_cut_with_the_connection_is_refused(coding):
    cut = PACKED[coding][:-1]

    result = exchange(
        answers(head(b"Content-Encoding: " + coding) + cut, end=Peer.half_close)
    )

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
    "the inner of two": (b"deflate, gzip", gzipped(b"\xff" * 50)),
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


def test_coding_of_an_error_page_is_taken_off_as_well():
    response = head(
        b"Content-Encoding: gzip",
        b"Content-Length: %d" % len(PACKED[b"gzip"]),
        status=b"503 Busy",
    )

    result = exchange(answers(response + PACKED[b"gzip"]))

    assert (result.outcome.code, result.outcome.body) == (503, TEXT)


# Streams that stand for nothing: each costs a decoder, so what is counted is they.


@pytest.mark.parametrize("coding", PACK_BY_CODING)
def test_streams_are_taken_up_to_their_number(coding):
    decoder = decoder_of(coding, 100)
    empty = PACK_BY_CODING[coding](b"")

    pieces = list(decoder.pieces(empty * MAX_STREAMS))
    decoder.end()

    assert pieces == []


@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("coding", PACK_BY_CODING)
def test_one_stream_more_is_refused_though_it_holds_nothing(coding, size):
    decoder = decoder_of(coding, 100)
    content = PACK_BY_CODING[coding](b"") * (MAX_STREAMS + 1)

    with pytest.raises(BadResponseError, match="streams"):
        for start in range(0, len(content), size):
            list(decoder.pieces(content[start : start + size]))


@pytest.mark.parametrize("coding", PACK_BY_CODING)
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


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("coding", PACK_BY_CODING)
def test_body_of_too_many_streams_is_refused(coding, times):
    pack = PACK_BY_CODING[coding]
    body = pack(b"") * (100 * MAX_STREAMS)
    if times == 2:
        body = pack(body)
    codings = ", ".join([coding] * times).encode()

    result = exchange(packed_answer(codings, body))

    assert is_refused(result), repr(result.outcome)


def test_coding_three_times_is_refused():
    body = gzipped(gzipped(PACKED[b"gzip"]))

    result = exchange(packed_answer(b"gzip, gzip, gzip", body))

    assert is_refused(result), repr(result.outcome)
