"""A lenient client accepts and notes what browsers accept and RFC 9112 allows.

It refuses the rest as ambiguous, and never reuses the connection of an irregular response.
"""

import random
import time

import pytest

from crawler_app.httpclient import (
    AmbiguousResponseError,
    BadResponseError,
    ResponseTooLargeError,
)
from crawler_app.web.httpclient.codings import decoder_of
from crawler_app.web.httpclient.repair import repaired, split_head
from tests.crawler_app.web.httpclient.test_response_framing import CODINGS, REFUSED
from tests.helpers.fuzzing import examples
from tests.helpers.http.faulty import answers, exchange, head
from tests.helpers.http.irregular import ACCEPTED, NOT_SHOWN, SHOWN, with_field
from tests.helpers.http.packing import PACK_BY_CODING
from tests.helpers.http.shapes import OK, POISON, with_chunks, with_coding


def lenient(script, **options):
    return exchange(script, client={"lenient": True, **options})


@pytest.mark.parametrize("shape", ACCEPTED)
def test_irregular_head_is_accepted_and_noted(shape):
    response, notes = ACCEPTED[shape]

    result = lenient(answers(response + POISON))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.outcome.notes == notes
    assert result.outcome.raw_head in response
    assert not result.was_reused


@pytest.mark.parametrize("shape", ACCEPTED)
def test_irregular_head_is_accepted_byte_by_byte(shape):
    response, notes = ACCEPTED[shape]

    async def script(peer):
        await peer.request()
        await peer.send_apart(*[bytes([byte]) for byte in response])

    result = lenient(script)

    assert (result.outcome.body, result.outcome.notes) == (b"ok", notes)


def test_folds_and_control_characters_become_spaces():
    result = lenient(answers(with_field(b"A: b\r\n\t c\r\nD: e\x1bf\r\n")))

    assert list(result.outcome.headers.get_all())[:2] == [("A", "b c"), ("D", "e f")]


@pytest.mark.parametrize(
    "body", [b"\n1 \r\n", b"1 ", b" \r\n", b"0 \r\n\r\n", b"\n1 \r" * 2_000]
)
@pytest.mark.parametrize("are_apart", [False, True])
def test_body_that_looks_like_a_chunk_size_is_not_irregular(body, are_apart):
    response = with_chunks(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    place = response.index(body)
    parts = [response[:place], body, response[place + len(body) :]]

    async def script(peer):
        await peer.request()
        await peer.send_apart(*(parts if are_apart else [response]))

    result = lenient(script)

    assert getattr(result.outcome, "body", result.outcome) == body
    assert result.outcome.notes == ()
    assert result.was_reused


# Chromium takes it for HTTP/1.0, which has no chunks, and shows these.
OLD_CHUNKS = with_chunks(b"2\r\nok\r\n0\r\n\r\n").replace(b"1.1", b"2")


@pytest.mark.parametrize("response", [*SHOWN.values(), *NOT_SHOWN.values(), OLD_CHUNKS])
def test_ambiguous_response_has_its_own_error(response):
    result = lenient(answers(response + POISON))

    assert isinstance(result.outcome, AmbiguousResponseError), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize(
    "garbage",
    [b"220 mail.test\r\n", b"\x00\xff\r\n", b"<p>\n\n", b"HTTP/1.1 20 OK\r\n\r\n"],
)
def test_garbage_does_not_have_that_error(garbage):
    result = lenient(answers(garbage))

    assert type(result.outcome) is BadResponseError


def test_smuggled_response_is_never_the_next_one():
    for response in [*REFUSED, *map(with_coding, CODINGS.values())]:
        result = lenient(answers(response + POISON))

        if not isinstance(result.outcome, BadResponseError):
            # After "LF CR", the CR is the first byte of the body.
            assert result.outcome.body in (b"ok", b"\ro"), response
            assert result.outcome.notes, response
        assert not result.was_reused, response


@pytest.mark.parametrize("excess", [0, 1])
def test_size_limit_counts_the_irregular_head_as_received(excess):
    start = b"HTTP/1.1 200 OK\nContent-Length: 2\nX: "
    filling = b"y" * (1_000 - len(start) - 2 + excess)

    result = lenient(answers(start + filling + b"\n\nok"), max_header_size=1_000)

    if excess:
        assert isinstance(result.outcome, ResponseTooLargeError)
    else:
        assert result.outcome.body == b"ok"


@pytest.mark.parametrize(("coding", "check_bytes"), [("gzip", 8), ("deflate", 4)])
def test_only_the_checksum_may_be_missing(coding, check_bytes):
    chance = random.Random(coding)
    for _ in range(examples(30)):
        # Few different bytes make short codes, down to a single bit.
        body = bytes(chance.choices(b"abcdefgh"[: chance.randint(1, 8)], k=200))
        packed = PACK_BY_CODING[coding](body[: chance.randint(0, 200)])
        for end in range(1, len(packed)):
            decoder = decoder_of(coding, 10_000, is_lenient=True)
            list(decoder.pieces(packed[:end]))
            if end >= len(packed) - check_bytes:
                decoder.end()
                assert decoder.notes == (f"{coding} data without its checksum",)
            else:
                with pytest.raises(BadResponseError):
                    decoder.end()


def test_missing_checksum_is_noted_in_the_response():
    packed = PACK_BY_CODING["gzip"](b"hello")[:-3]
    lines = [b"Content-Encoding: gzip", b"Content-Length: %d" % len(packed)]

    result = lenient(answers(head(*lines) + packed))

    assert result.outcome.body == b"hello"
    assert result.outcome.notes == ("gzip data without its checksum",)


@pytest.mark.parametrize(
    "part",
    [
        b"a:\n",
        b"A: b\r\n c\r\n",
        b"\n ",
        b" ",
        b"\r",
        b"\x01",
        b"\x01:\x01\n",
        b"content-",
    ]
    + [b"Content-Length: 2\n", b"Content-Length: 2,", b"Content-Length:\n "],
)
def test_head_is_repaired_in_linear_time(part):
    received = OK + part * (256 * 1024 // len(part)) + b"\n\n"
    started_at = time.process_time()

    head, _ = split_head(received)
    repaired(head)

    assert time.process_time() - started_at < 0.5
