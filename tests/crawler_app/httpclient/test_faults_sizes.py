"""Responses without measure: what has no end is given up, and what is within limits is not.

The limits are low here, so that little has to be sent until they are reached.
"""

import gzip
import zlib

import pytest

from crawler_app.httpclient import BadResponseError, ResponseTooLargeError
from tests.helpers.http.faulty import Peer, answers, exchange, head, repeats

HEADER_LIMIT = 65536
BODY_LIMIT = 100_000
LIMITED = {"max_body_size": BODY_LIMIT}

CONTINUE = head(status=b"100 Continue")
OK = head(b"Content-Length: 2") + b"ok"
CHUNKED = head(b"Transfer-Encoding: chunked")


def is_too_large(error):
    return isinstance(error, ResponseTooLargeError) and bool(str(error))


# Heads.

LARGE_HEADS = {
    "a line of a megabyte": b"X: " + b"y" * 1_000_000,
    "a name of a megabyte": b"x" * 1_000_000 + b": y",
    "many lines": b"X: y\r\n" * 170_000 + b"X: y",
    "many names": b"".join(b"X%d: y\r\n" % n for n in range(100_000)) + b"X: y",
    "many cookies": b"Set-Cookie: a=b\r\n" * 50_000 + b"X: y",
    "one byte too many": b"X: "
    + b"y" * (HEADER_LIMIT + 1 - len(head(b"Content-Length: 2", b"X: "))),
}


@pytest.mark.parametrize("large", LARGE_HEADS)
def test_head_beyond_the_limit_is_given_up(large):
    result = exchange(answers(head(b"Content-Length: 2", LARGE_HEADS[large]) + b"ok"))

    assert is_too_large(result.outcome), repr(result.outcome)
    assert not result.was_reused


def test_head_of_the_limit_is_accepted():
    empty = head(b"Content-Length: 2", b"X: ")
    value = b"y" * (HEADER_LIMIT - len(empty))
    whole = head(b"Content-Length: 2", b"X: " + value)

    result = exchange(answers(whole + b"ok"))

    assert len(whole) == HEADER_LIMIT
    assert result.outcome.headers["X"] == value.decode()
    assert result.outcome.raw_head == whole


@pytest.mark.parametrize("excess", [0, 1])
def test_limit_of_the_head_can_be_set(excess):
    value = b"y" * (1_000 - len(head(b"Content-Length: 2", b"X: ")) + excess)
    response = head(b"Content-Length: 2", b"X: " + value) + b"ok"

    result = exchange(answers(response), client={"max_header_size": 1_000})

    assert is_too_large(result.outcome) == bool(excess), repr(result.outcome)


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (b"HTTP/1.1 200 ", b"O" * 1_000),
        (b"HTTP/1.1 200 OK\r\n", b"x" * 1_000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1_000),
        (b"HTTP/1.1 200 OK\r\nX: ", b" " * 1_000),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 100),
        (CONTINUE + b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 100),
        (b"HTTP/1.1 100 Continue\r\n", b"X: y\r\n" * 100),
    ],
)
def test_endless_head_is_given_up(after, part):
    result = exchange(repeats(part, after=after))

    assert is_too_large(result.outcome), repr(result.outcome)
    assert not result.was_reused


def test_endless_blank_lines_are_given_up():
    result = exchange(repeats(b"\r\n" * 500))

    assert isinstance(result.outcome, (BadResponseError, ResponseTooLargeError))


@pytest.mark.parametrize("count", [1, 10])
def test_some_informational_answers_are_passed_over(count):
    result = exchange(answers(CONTINUE * count + OK))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.was_reused


def test_eleventh_informational_answer_is_too_many():
    result = exchange(answers(CONTINUE * 11 + OK))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize(
    "status", [b"100 Continue", b"102 Wait", b"103 Hints", b"199 "]
)
def test_endless_informational_answers_are_given_up(status):
    result = exchange(repeats(head(status=status)))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)


# Bodies.

PARTS = {
    "chunked": (CHUNKED, b"3e8\r\n" + bytes(1_000) + b"\r\n"),
    "chunks of a byte": (CHUNKED, b"1\r\nx\r\n" * 200),
    "until the end": (head(), bytes(1_000)),
    "of one length": (head(b"Content-Length: 99999999999999"), bytes(1_000)),
    "one chunk": (CHUNKED + b"fffffffffff\r\n", bytes(1_000)),
}


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_endless_body_is_given_up(kind, is_streamed):
    pieces = []
    streaming = {"streaming_callback": pieces.append} if is_streamed else {}
    after, part = PARTS[kind]

    result = exchange(repeats(part, after=after), client=LIMITED, **streaming)

    assert is_too_large(result.outcome), repr(result.outcome)
    assert not result.was_reused
    assert sum(map(len, pieces)) <= BODY_LIMIT


def test_announced_length_beyond_the_limit_is_refused_unread():
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
    assert result.was_reused


FRAMES = {
    "length": lambda body: head(b"Content-Length: %d" % len(body)) + body,
    "chunked": lambda body: CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
    "until the end": lambda body: head() + body,
    "gzip": lambda body: head(b"Content-Encoding: gzip") + gzip.compress(body),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("excess", [0, 1])
def test_body_of_the_limit_is_accepted_and_one_byte_more_is_not(
    frame, is_streamed, excess
):
    body = b"abcde" * (BODY_LIMIT // 5) + b"x" * excess
    pieces = []
    streaming = {"streaming_callback": pieces.append} if is_streamed else {}

    result = exchange(
        answers(FRAMES[frame](body), end=Peer.half_close), client=LIMITED, **streaming
    )

    if excess:
        assert is_too_large(result.outcome), repr(result.outcome)
        assert sum(map(len, pieces)) <= BODY_LIMIT
    else:
        assert b"".join(pieces) + result.outcome.body == body


def test_encoded_body_beyond_the_limit_is_given_up_though_it_decodes_to_little():
    # 200 KB of empty gzip blocks, and then a body of 5 bytes.
    packer = zlib.compressobj(wbits=31)
    empty = b"".join(packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = empty + b"\x00\x00\x00\xff\xff" * 40_000 + packer.compress(b"hello")
    response = head(b"Content-Encoding: gzip") + packed + packer.flush()

    result = exchange(answers(response, end=Peer.half_close), client=LIMITED)

    assert is_too_large(result.outcome), repr(result.outcome)


def starts(packer):
    """Return the header of a compressed stream that holds nothing yet."""
    return packer.flush(zlib.Z_SYNC_FLUSH)


NOTHING = b"\x00\x00\x00\xff\xff" * 200

EMPTY_FOREVER = {
    "gzip blocks": (b"gzip", starts(zlib.compressobj(wbits=31)), NOTHING),
    "deflate blocks": (b"deflate", starts(zlib.compressobj()), NOTHING),
    "gzip members": (b"gzip", b"", gzip.compress(b"") * 50),
    "a gzip name": (b"gzip", b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03", b"a" * 1_000),
    "behind a member": (b"gzip", gzip.compress(b"hello"), bytes(1_000)),
    "zeros behind zlib": (b"deflate", zlib.compress(b"hello"), bytes(1_000)),
    # Skippable frames of zstd: by their nature nothing comes of them.
    "zstd frames": (b"zstd", b"", b"\x50\x2a\x4d\x18\x08\x00\x00\x00" + bytes(8)),
}


@pytest.mark.parametrize("kind", EMPTY_FOREVER)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_endless_bytes_that_decode_to_nothing_are_given_up(kind, is_streamed):
    coding, start, part = EMPTY_FOREVER[kind]
    streaming = {"streaming_callback": lambda piece: None} if is_streamed else {}
    after = head(b"Content-Encoding: " + coding) + start

    result = exchange(repeats(part * 10, after=after), client=LIMITED, **streaming)

    # Where garbage is told at once, it need not be waited for.
    assert isinstance(result.outcome, (ResponseTooLargeError, BadResponseError))
    assert not result.was_reused


def bomb(megabytes, wbits=31):
    packer = zlib.compressobj(level=9, wbits=wbits)
    parts = [packer.compress(bytes(1_000_000)) for _ in range(megabytes)]
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize("codings", [b"gzip", b"gzip, gzip"])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_bomb_is_given_up_before_it_is_unpacked(codings, is_streamed):
    packed = bomb(20)
    if codings == b"gzip, gzip":
        packed = gzip.compress(packed)
    pieces = []
    streaming = {"streaming_callback": pieces.append} if is_streamed else {}
    response = head(b"Content-Encoding: " + codings) + packed

    result = exchange(
        answers(response, end=Peer.half_close), client=LIMITED, **streaming
    )

    assert is_too_large(result.outcome), repr(result.outcome)
    assert sum(map(len, pieces)) <= BODY_LIMIT


def test_pieces_of_a_bomb_are_small():
    pieces = []
    packed = bomb(2)
    response = head(b"Content-Encoding: gzip", b"Content-Length: %d" % len(packed))

    result = exchange(answers(response + packed), streaming_callback=pieces.append)

    assert getattr(result.outcome, "code", result.outcome) == 200
    assert sum(map(len, pieces)) == 2_000_000
    assert max(map(len, pieces)) <= 65536
    assert result.was_reused


# What stands between the pieces of a body.


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (b"0\r\n", b"X: y\r\n" * 100),
        (b"0\r\nX: ", b"y" * 1_000),
        (b"5\r\nhello\r\n0\r\n", b"x" * 1_000),
    ],
)
def test_endless_trailers_are_given_up(after, part):
    result = exchange(repeats(part, after=CHUNKED + after))

    assert is_too_large(result.outcome), repr(result.outcome)


def test_trailers_within_the_limit_are_kept():
    announced = head(b"Transfer-Encoding: chunked", b"Trailer: X")
    trailer = b"X: " + b"y" * 10_000 + b"\r\n"

    result = exchange(answers(announced + b"0\r\n" + trailer + b"\r\n"))

    assert result.outcome.trailers["X"] == "y" * 10_000
    assert result.was_reused


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (b"5;", b"x" * 1_000),
        (b"5;a=", b"x" * 1_000),
        (b'5;a="', b"x" * 1_000),
        (b"5", b";a=b" * 250),
        (b"0;", b"x" * 1_000),
        (b"", b"0" * 1_000),
    ],
)
def test_endless_line_of_a_chunk_is_given_up(after, part):
    result = exchange(repeats(part, after=CHUNKED + after))

    assert isinstance(result.outcome, (ResponseTooLargeError, BadResponseError))
    assert not result.was_reused


def test_chunks_that_are_nearly_all_extension_are_given_up():
    part = b"1;" + b"x" * 10_000 + b"\r\ny\r\n"

    result = exchange(repeats(part, after=CHUNKED), client=LIMITED)

    assert isinstance(result.outcome, (ResponseTooLargeError, BadResponseError))
