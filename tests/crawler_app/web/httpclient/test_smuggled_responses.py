"""Responses that can be read in one way only, and what may stand behind them.

A second response behind the first, or in place of a body that must not be there, is
never the answer to the next request: that is what `exchange` asserts in all of them.
"""

import pytest

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import (
    answers,
    exchange,
    head,
)
from tests.helpers.http.shapes import (
    CHUNKED,
    OK,
    POISON,
    with_coding,
    with_length,
)


@pytest.mark.parametrize(
    "response",
    [
        with_length(b"Content-Length:2"),
        with_length(b"Content-Length: \t 2 \t "),
        with_length(b"Content-Length: 0000000000000000000000000000000000002"),
        with_length(b"CONTENT-LENGTH: 2"),
        with_coding(b"Transfer-Encoding:chunked"),
        with_coding(b"Transfer-Encoding:\tchunked  "),
        with_coding(b"transfer-encoding: CHUNKED"),
    ],
)
def test_framing_however_it_is_spelled_is_taken(response):
    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.was_reused


@pytest.mark.parametrize(
    "excess", [b"", b"\r\n", b"\r\n\r\n", b"x", POISON, b"Z: z\r\n\r\n"]
)
def test_trailers_are_those_of_the_response_whatever_is_behind_it(excess):
    chunks = b"2\r\nok\r\n0\r\nX: y\r\n\r\n"
    first = OK + b"Trailer: X\r\n" + CHUNKED + b"\r\n" + chunks

    result = exchange(answers(first + excess))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert list(result.outcome.trailers.get_all()) == [("X", "y")]
    assert not (result.was_reused and excess.strip())


# A second response.

NO_BODY = [("HEAD", b"200 OK"), ("GET", b"204 None"), ("GET", b"304 Same")]


@pytest.mark.parametrize(("method", "status"), NO_BODY)
@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b"Content-Length: %d" % len(POISON)],
        [b"Content-Length: 0"],
        [b"Transfer-Encoding: chunked"],
    ],
)
def test_body_where_none_may_be_is_not_the_next_response(method, status, lines):
    result = exchange(answers(head(*lines, status=status) + POISON), method=method)

    assert getattr(result.outcome, "code", result.outcome) == int(status[:3])
    assert result.outcome.body == b""
    assert not result.was_reused


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 45\r\n",
        b"Content-Length: 0\r\n",
        CHUNKED,
        b"Content-Length: 2\r\n" + CHUNKED,
    ],
)
def test_informational_answer_has_no_body_whatever_it_says(lines):
    first = b"HTTP/1.1 100 Continue\r\n" + lines + b"\r\n"

    result = exchange(answers(first + with_length(b"Content-Length: 2") + POISON))

    # RFC 9110, 15.2: it ends with its head; what says otherwise may be refused as well.
    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused


def test_body_of_an_informational_answer_is_no_response():
    first = b"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello"

    result = exchange(answers(first + with_length(b"Content-Length: 2")))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("count", [1, 2])
def test_blank_lines_before_a_response_are_no_response(count):
    # RFC 9112, 2.2 lets servers pass over them, and says nothing of clients.
    response = b"\r\n" * count + with_length(b"Content-Length: 2")

    result = exchange(answers(response + POISON))

    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused


def test_redirect_with_a_response_behind_it_is_followed_elsewhere():
    redirect = head(b"Location: /b", b"Content-Length: 2", status=b"302 Moved") + b"ok"

    result = exchange(answers(redirect + POISON))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert not result.was_reused
