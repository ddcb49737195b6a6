"""Any bytes in any content coding: decoded within the limit, or refused."""

import gzip
import zlib
from unittest import mock

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crawler_app.web.httpclient import codings
from crawler_app.web.httpclient.codings import PIECE_BYTES, decoder_of
from crawler_app.web.httpclient.errors import BadResponseError, ResponseTooLargeError
from tests.helpers.fuzzing import examples
from tests.helpers.http.packing import PACK_BY_CODING, raw_deflate
from tests.helpers.http.whole_responses import BODY, pieces_of

ERRORS = (BadResponseError, ResponseTooLargeError)

often = settings(max_examples=examples(180))


PACKERS = {
    **PACK_BY_CODING,
    " deflate": raw_deflate,  # without the wrapping of zlib
    "x-gzip": gzip.compress,
    "deflate, gzip": lambda body: gzip.compress(zlib.compress(body)),
    "gzip, identity": gzip.compress,
}
CODINGS = st.sampled_from(sorted(PACKERS))


def decoded(coding, slices, limit=10_000_000, *, is_lenient=False):
    """Return the body, or the error, of data that arrives in slices."""
    decoder = decoder_of(coding, limit, is_lenient=is_lenient)
    body = b""
    try:
        for part in slices:
            for piece in decoder.pieces(part):
                assert 0 < len(piece) <= PIECE_BYTES
                body += piece
        decoder.end()
    except ERRORS as exc:
        assert len(body) <= limit
        return exc
    return body


@given(st.data(), CODINGS, BODY)
@often
def test_body_is_decoded_from_any_slices(data, coding, body):
    packed = PACKERS[coding](body)
    slices = data.draw(pieces_of(packed, most=20))

    assert decoded(coding, slices) == body


@given(CODINGS, BODY, st.integers(0, 3_000))
@often
def test_limit_is_the_size_of_the_largest_accepted_body(coding, body, limit):
    outcome = decoded(coding, [PACKERS[coding](body)], limit)

    if len(body) <= limit and "," not in coding:
        assert outcome == body
    elif len(body) > limit:
        assert isinstance(outcome, ResponseTooLargeError)


@given(st.data(), CODINGS, BODY)
@often
def test_truncated_body_is_refused(data, coding, body):
    packed = PACKERS[coding](body)
    assume(len(packed) > 1)  # the shortest of br is one byte
    kept = data.draw(st.integers(1, len(packed) - 1))

    assert isinstance(decoded(coding, [packed[:kept]]), BadResponseError)


DAMAGE = st.one_of(
    st.builds(lambda kept: lambda packed: packed[: kept % len(packed)], st.integers(0)),
    st.builds(lambda cut: lambda packed: packed[:-cut], st.integers(1, 12)),
    st.builds(lambda more: lambda packed: packed + more, st.binary()),
    st.builds(
        lambda place, byte: lambda packed: replaced(packed, place % len(packed), byte),
        st.integers(0),
        st.integers(0, 255),
    ),
)


def replaced(packed, place, byte):
    return packed[:place] + bytes([byte]) + packed[place + 1 :]


@given(st.data(), BODY, DAMAGE, st.booleans())
@often
def test_isal_and_zlib_agree_on_damaged_gzip(data, body, damage, is_lenient):
    packed = damage(gzip.compress(body))
    slices = data.draw(pieces_of(packed, most=5))

    outcome = decoded("gzip", slices, is_lenient=is_lenient)
    with mock.patch.object(codings, "isal_zlib", None):
        expected = decoded("gzip", slices, is_lenient=is_lenient)

    # isal accepts incomplete codes, which no encoder makes; then the checksum is wrong, if
    # there is one.
    if is_lenient and isinstance(expected, ERRORS):
        return
    assert isinstance(outcome, ERRORS) is isinstance(expected, ERRORS)
    assert isinstance(outcome, ERRORS) or outcome == expected


@given(CODINGS)
def test_empty_data_is_an_empty_body(coding):
    assert decoded(coding, []) == b""


@given(CODINGS, st.binary(min_size=1, max_size=100))
@example("gzip", b"\x1f")
@often
def test_any_bytes_are_decoded_or_refused(coding, content):
    whole = decoded(coding, [content], limit=10_000)
    singly = decoded(coding, [bytes([byte]) for byte in content], limit=10_000)

    assert is_alike(whole, singly, coding), (whole, singly)


@st.composite
def damaged(draw):
    """Return a coding, and bytes that were in it before they were damaged."""
    coding = draw(CODINGS)
    packed = bytearray(PACKERS[coding](draw(BODY)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(packed) - 1))
        packed[place] ^= draw(st.integers(1, 255))
    return coding, bytes(packed) + draw(st.binary(max_size=5))


@given(st.data(), damaged())
@often
def test_damaged_body_is_decoded_or_refused(data, content):
    coding, packed = content

    whole = decoded(coding, [packed], limit=100_000)
    sliced = decoded(coding, data.draw(pieces_of(packed)), limit=100_000)

    assert is_alike(whole, sliced, coding), (whole, sliced)


def is_alike(outcome, other, coding):
    """Return whether both are the same body, or both an error."""
    if coding in ("br", "zstd"):
        # In their libraries, the result of some damage depends on the size of the slices.
        return True
    if isinstance(outcome, Exception) or isinstance(other, Exception):
        return isinstance(outcome, Exception) and isinstance(other, Exception)
    return outcome == other


@given(BODY, st.lists(BODY, max_size=3), st.binary(max_size=20))
def test_gzip_members_are_concatenated(body, bodies, garbage):
    packed = b"".join(map(gzip.compress, [body, *bodies]))

    outcome = decoded("gzip", [packed + garbage])

    if not garbage.startswith(b"\x1f"):
        assert outcome == b"".join([body, *bodies])
    assert outcome == b"".join([body, *bodies]) or isinstance(outcome, BadResponseError)
