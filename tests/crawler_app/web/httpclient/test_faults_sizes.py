"""Size limits of responses: endless ones are refused, those within the limits are not.

The limits are low here, so that little data is needed to reach them.
"""

import gzip
import zlib

import pytest

from crawler_app.httpclient import BadResponseError, ResponseTooLargeError
from crawler_app.web.httpclient.http_exchange import MAX_HEADER_LINES
from tests.helpers.http.faulty import Peer, answers, exchange, head, repeats
from tests.helpers.http.packing import PACK_BY_CODING

BODY_LIMIT = 100_000
LIMITED = {"max_body_size": BODY_LIMIT}

CONTINUE = head(status=b"100 Continue")
OK = head(b"Content-Length: 2") + b"ok"
CHUNKED = head(b"Transfer-Encoding: chunked")


def is_too_large(error):
    return isinstance(error, ResponseTooLargeError) and bool(str(error))


# Heads.


@pytest.mark.parametrize("excess", [0, 1])
@pytest.mark.parametrize(
    ("limit", "options"), [(65_536, {}), (1_000, {"max_header_size": 1_000})]
)
def test_size_of_a_head_is_limited(limit, options, excess):
    empty = head(b"Content-Length: 2", b"X: ")
    whole = head(b"Content-Length: 2", b"X: " + b"y" * (limit - len(empty) + excess))

    result = exchange(answers(whole + b"ok"), client=options)

    if excess:
        assert is_too_large(result.outcome), repr(result.outcome)
        assert str(limit) in str(result.outcome)
    else:
        assert result.outcome.raw_head == whole
    assert result.was_reused != bool(excess)


LINES = b"X: y\r\n" * (MAX_HEADER_LINES - 3)
SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
MANY_LINES = {
    "head": lambda lines: SHORT + lines + b"\r\nok",
    "interim head": lambda lines: (
        b"HTTP/1.1 103 Hints\r\nA: b\r\n" + lines + b"\r\n" + SHORT + b"\r\nok"
    ),
    "repaired head": lambda lines: (SHORT + lines).replace(b"\r", b"") + b"\nok",
    "trailers": lambda lines: (
        head(b"Transfer-Encoding: chunked", b"Trailer: X")
        + b"2\r\nok\r\n0\r\nA: a\r\nB: b\r\nC: c\r\n"
        + lines
        + b"\r\n"
    ),
}


@pytest.mark.parametrize("excess", [0, 1])
@pytest.mark.parametrize("kind", MANY_LINES)
def test_number_of_header_lines_is_limited(kind, excess):
    response = MANY_LINES[kind](LINES + b"Z: z\r\n" * excess)
    limits = {"max_header_size": 256 * 1024, "lenient": True}

    result = exchange(answers(response), client=limits)

    if excess:
        assert is_too_large(result.outcome), repr(result.outcome)
        assert str(MAX_HEADER_LINES) in str(result.outcome)
    else:
        assert getattr(result.outcome, "body", result.outcome) == b"ok"


# Bodies.


def test_announced_length_above_the_limit_is_refused_unread():
    result = exchange(
        answers(head(b"Content-Length: %d" % (BODY_LIMIT + 1))), client=LIMITED
    )

    assert is_too_large(result.outcome), repr(result.outcome)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_announced_length_without_a_body_is_not_refused(method):
    status = b"304 Not Modified" if method == "GET" else b"200 OK"
    large = head(b"Content-Length: 99999999", status=status)

    result = exchange(answers(large), client=LIMITED, method=method)

    assert getattr(result.outcome, "code", result.outcome) == int(status[:3])
    assert result.outcome.headers["Content-Length"] == "99999999"
    assert result.was_reused


FRAMES = {
    "length": lambda body: head(b"Content-Length: %d" % len(body)) + body,
    "chunked": lambda body: CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
    "until the end": lambda body: head() + body,
    **{
        coding: lambda body, coding=coding: (
            head(b"Content-Encoding: " + coding.encode()) + PACK_BY_CODING[coding](body)
        )
        for coding in PACK_BY_CODING
    },
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("excess", [0, 1])
def test_size_of_a_body_is_limited(frame, is_streamed, excess):
    body = b"abcde" * (BODY_LIMIT // 5) + b"x" * excess
    pieces = []
    streaming = {"streaming_callback": pieces.append} if is_streamed else {}

    result = exchange(
        answers(FRAMES[frame](body), end=Peer.half_close), client=LIMITED, **streaming
    )

    if excess:
        assert is_too_large(result.outcome), repr(result.outcome)
        assert str(BODY_LIMIT) in str(result.outcome)
        assert sum(map(len, pieces)) <= BODY_LIMIT
    else:
        assert b"".join(pieces) + result.outcome.body == body


def test_size_of_an_encoded_body_is_limited_too():
    # 200 KB of empty gzip blocks, and then a body of 5 bytes.
    packer = zlib.compressobj(wbits=31)
    empty = b"".join(packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = empty + b"\x00\x00\x00\xff\xff" * 40_000 + packer.compress(b"hello")
    response = head(b"Content-Encoding: gzip") + packed + packer.flush()

    result = exchange(answers(response, end=Peer.half_close), client=LIMITED)

    assert is_too_large(result.outcome), repr(result.outcome)


# Endless responses.


def starts(packer):
    """Return the header of a compressed stream without data."""
    return packer.flush(zlib.Z_SYNC_FLUSH)


def coded(coding):
    return head(b"Content-Encoding: " + coding)


LINE = b"HTTP/1.1 200 OK\r\n"
FIELDS = b"X: y\r\n" * 100
BLOCKS = b"\x00\x00\x00\xff\xff" * 2_000
GZIP_NAME = b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"
EXTENDED = b"1;" + b"x" * 10_000 + b"\r\ny\r\n"
SKIPPABLE = b"\x50\x2a\x4d\x18\x08\x00\x00\x00" + bytes(8)

TOO_LARGE = ResponseTooLargeError
# Codings that recognize garbage immediately need no further data.
EITHER = (ResponseTooLargeError, BadResponseError)

# The first data, the repeated data, and the error.
ENDLESS = {
    "a reason": (b"HTTP/1.1 200 ", b"O" * 1_000, TOO_LARGE),
    "a name": (LINE, b"x" * 1_000, TOO_LARGE),
    "a value": (LINE + b"X: ", b"y" * 1_000, TOO_LARGE),
    "blanks of a value": (LINE + b"X: ", b" " * 1_000, TOO_LARGE),
    "headers": (LINE, FIELDS, TOO_LARGE),
    "headers after 100": (CONTINUE + LINE, FIELDS, TOO_LARGE),
    "headers of 100": (b"HTTP/1.1 100 Continue\r\n", FIELDS, TOO_LARGE),
    "blank lines": (b"", b"\r\n" * 500, EITHER),
    "100": (b"", head(status=b"100 Continue"), BadResponseError),
    "102": (b"", head(status=b"102 Wait"), BadResponseError),
    "103": (b"", head(status=b"103 Hints"), BadResponseError),
    "199": (b"", head(status=b"199 "), BadResponseError),
    "chunks": (CHUNKED, b"3e8\r\n" + bytes(1_000) + b"\r\n", TOO_LARGE),
    "chunks of a byte": (CHUNKED, b"1\r\nx\r\n" * 200, TOO_LARGE),
    "a body until the end": (head(), bytes(1_000), TOO_LARGE),
    "a body": (head(b"Content-Length: 99999999999999"), bytes(1_000), TOO_LARGE),
    "a chunk": (CHUNKED + b"fffffffffff\r\n", bytes(1_000), TOO_LARGE),
    "trailers": (CHUNKED + b"0\r\n", FIELDS, TOO_LARGE),
    "a trailer": (CHUNKED + b"0\r\nX: ", b"y" * 1_000, TOO_LARGE),
    "a trailer's name": (CHUNKED + b"5\r\nhello\r\n0\r\n", b"x" * 1_000, TOO_LARGE),
    "an extension": (CHUNKED + b"5;", b"x" * 1_000, EITHER),
    "an extension's value": (CHUNKED + b"5;a=", b"x" * 1_000, EITHER),
    "a quoted extension": (CHUNKED + b'5;a="', b"x" * 1_000, EITHER),
    "extensions": (CHUNKED + b"5", b";a=b" * 250, EITHER),
    "the last extension": (CHUNKED + b"0;", b"x" * 1_000, EITHER),
    "a chunk's size": (CHUNKED, b"0" * 1_000, EITHER),
    "extended chunks": (CHUNKED, EXTENDED, EITHER),
    # Data that decodes to nothing.
    "gzip blocks": (
        coded(b"gzip") + starts(zlib.compressobj(wbits=31)),
        BLOCKS,
        EITHER,
    ),
    "deflate blocks": (coded(b"deflate") + starts(zlib.compressobj()), BLOCKS, EITHER),
    "gzip members": (coded(b"gzip"), gzip.compress(b"") * 500, EITHER),
    "a gzip name": (coded(b"gzip") + GZIP_NAME, b"a" * 10_000, EITHER),
    "zeros behind gzip": (coded(b"gzip") + gzip.compress(b"x"), bytes(10_000), EITHER),
    "zeros behind zlib": (
        coded(b"deflate") + zlib.compress(b"x"),
        bytes(10_000),
        EITHER,
    ),
    # Skippable frames of zstd, which have no content.
    "zstd frames": (coded(b"zstd"), SKIPPABLE * 10, EITHER),
}


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_endless_response_is_refused(kind, is_streamed):
    pieces = []
    streaming = {"streaming_callback": pieces.append} if is_streamed else {}
    after, part, errors = ENDLESS[kind]

    result = exchange(repeats(part, after=after), client=LIMITED, **streaming)

    assert isinstance(result.outcome, errors), repr(result.outcome)
    assert str(result.outcome)
    assert not result.was_reused
    assert sum(map(len, pieces)) <= BODY_LIMIT
