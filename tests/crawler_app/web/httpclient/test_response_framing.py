"""Where a response ends: ambiguous responses are refused, and a second response behind the first
is never the answer to the next request, which `exchange` asserts in each test.

If a client takes other bytes for the body than the server or a proxy before it, it takes the rest
for the response to the next request ("response smuggling").  So such responses are refused with
`BadResponseError`, and the few that RFC 9112 lets a client read close their connection.
"""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import Peer, answers, exchange, head
from tests.helpers.http.shapes import (
    CHUNKED,
    CHUNKS,
    OK,
    POISON,
    with_chunks,
    with_coding,
    with_length,
)


def with_line(line, ending=b"\r\n"):
    return OK + line + ending + b"Content-Length: 2\r\n\r\nok"


def spoiled(value, odd):
    """Return a value with each odd character at its start, at its end, and inside."""
    return [
        value[:place] + bytes([character]) + value[place:]
        for character in odd
        for place in (0, 1, len(value))
    ]


def with_other_ends(*lines):
    """Return texts of these lines, in each of which one line has a wrong ending."""
    found = []
    for place in range(len(lines) - 1):
        for end in (b"\n", b"\r", b"\r\r\n", b"\n\r"):
            ends = [b"\r\n"] * (len(lines) - 1)
            ends[place] = end
            found.append(b"".join(map(bytes.__add__, lines, [*ends, b""])))
    return found


# Not part of a decimal or hexadecimal number, nor of the name of a coding.
ODD = b"+-x._,'\"\x00\x0b\x0c\xa0\xb2\xff"
# RFC 9110, 5.6.2: not part of a header name.
NO_TOKEN = b' \t\x00\x7f\xe9()[]{}<>/,;=?@\\"'

SPOILED = [
    *map(with_length, [b"Content-Length: " + value for value in spoiled(b"02", ODD)]),
    *map(
        with_coding,
        [b"Transfer-Encoding: " + value for value in spoiled(b"chunked", ODD)],
    ),
    *(
        with_chunks(size + b"\r\nok\r\n0\r\n\r\n")
        for size in spoiled(b"02", ODD + b" \t")
    ),
    *(with_line(name + b": c") for name in spoiled(b"AB", NO_TOKEN)),
]

OTHER_ENDS = [
    *with_other_ends(b"HTTP/1.1 200 OK", b"A: b", b"Content-Length: 2", b"", b"ok"),
    *map(with_chunks, with_other_ends(b"2", b"ok", b"0", b"", b"")),
]

LENGTHS = {
    "two of them": b"Content-Length: 2\r\nContent-Length: 3",
    "two of them, larger first": b"Content-Length: 45\r\nContent-Length: 2",
    "two that agree": b"Content-Length: 2\r\nContent-Length: 2",
    "two that agree as numbers": b"Content-Length: 2\r\nContent-Length: 02",
    "two in other cases": b"Content-Length: 2\r\ncontent-length: 3",
    "two far apart": b"Content-Length: 2\r\nA: b\r\nC: d\r\nContent-Length: 3",
    "a list": b"Content-Length: 2, 3",
    "a list that agrees": b"Content-Length: 2, 2",
    "a list without blanks": b"Content-Length: 2,2",
    "minus zero": b"Content-Length: -0",
    "letters": b"Content-Length: two",
    "a blank within": b"Content-Length: 2 0",
    "a tab within": b"Content-Length: 2\t0",
    "nothing": b"Content-Length:",
    "blanks": b"Content-Length:   ",
    "other digits": "Content-Length: ٢".encode(),
    "64 bits": b"Content-Length: 18446744073709551618",
    "64 bits exactly": b"Content-Length: 18446744073709551616",
    "very many digits": b"Content-Length: " + b"9" * 5_000,
    "a parameter": b"Content-Length: 2;a=b",
}

# Readers disagree about the body of a response with these codings.
CODINGS = {
    "a length before": b"Content-Length: 2\r\nTransfer-Encoding: chunked",
    "a length behind": b"Transfer-Encoding: chunked\r\nContent-Length: 2",
    "a length of zero": b"Transfer-Encoding: chunked\r\nContent-Length: 0",
    "a length between": b"TE: x\r\nContent-Length: 12\r\nTransfer-Encoding: chunked",
    "a list": b"Transfer-Encoding: gzip, chunked",
    "a list that ends otherwise": b"Transfer-Encoding: chunked, gzip",
    "identity": b"Transfer-Encoding: identity",
    "identity and a length": b"Transfer-Encoding: identity\r\nContent-Length: 2",
    "identity, chunked": b"Transfer-Encoding: identity, chunked",
    "chunked, identity": b"Transfer-Encoding: chunked, identity",
    "chunked twice in a list": b"Transfer-Encoding: chunked, chunked",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "two of them": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "two the other way": b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    "gzip only": b"Transfer-Encoding: gzip",
    "gzip and a length": b"Transfer-Encoding: gzip\r\nContent-Length: 2",
    "an unknown one": b"Transfer-Encoding: cow",
    "a parameter": b"Transfer-Encoding: chunked;q=1",
    "a blank within": b"Transfer-Encoding: chun ked",
    "nothing": b"Transfer-Encoding:",
    "nothing and a length": b"Transfer-Encoding:\r\nContent-Length: 2",
    "an underscore": b"Transfer_Encoding: chunked\r\nTransfer-Encoding: x",
}

CHUNK_LINES = {
    "no digit": b"\r\nok\r\n0\r\n\r\n",
    "64 bits": b"10000000000000002\r\nok\r\n0\r\n\r\n",
    "very many digits": b"f" * 1_000 + b"\r\nok\r\n0\r\n\r\n",
    "LF only, everywhere": b"2\nok\n0\n\n",
    "LF in an extension": b"2;a\nok\r\n0\r\n\r\n",
    "CR in an extension": b"2;a\rb\r\nok\r\n0\r\n\r\n",
    "LF in a quoted extension": b'2;a="\n"\r\nok\r\n0\r\n\r\n',
    "NUL in an extension": b"2;a=\x00\r\nok\r\n0\r\n\r\n",
    "data that is longer": b"2\r\nokay\r\n0\r\n\r\n",
    "data that is shorter": b"3\r\nok\r\n0\r\n\r\n",
    "nothing behind the data": b"2\r\nok0\r\n\r\n",
    "a blank line between": b"2\r\nok\r\n\r\n0\r\n\r\n",
    "another chunk behind the last": b"2\r\nok\r\n0\r\n2\r\nok\r\n0\r\n\r\n",
    "a trailer without a colon": b"2\r\nok\r\n0\r\ntrailer\r\n\r\n",
    "a trailer that is folded": b"2\r\nok\r\n0\r\nA: b\r\n c\r\n\r\n",
    "a trailer with LF": b"2\r\nok\r\n0\r\nA: b\n\r\n",
    "a trailer that gives a length": b"2\r\nok\r\n0\r\nContent-Length: 45\r\n\r\n",
    "a trailer with NUL": b"2\r\nok\r\n0\r\nA: \x00\r\n\r\n",
    "a trailer with a blank name": b"2\r\nok\r\n0\r\n : x\r\n\r\n",
}

HEADS = {
    "LF everywhere": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "CR in the reason": b"HTTP/1.1 200 O\rK\r\nContent-Length: 2\r\n\r\nok",
    "CR within a value": with_line(b"A: b\rC: d"),
    "CR within a name": with_line(b"A\rB: c"),
    "LF that hides a length": with_line(b"A: b\nContent-Length: 45"),
    "CR that hides a length": with_line(b"A: b\rContent-Length: 45"),
    "a folded header": with_line(b"A: b\r\n c"),
    "a folded header, by a tab": with_line(b"A: b\r\n\tc"),
    "a folded header, empty": with_line(b"A:\r\n b"),
    "a folded header, twice": with_line(b"A: b\r\n c\r\n d"),
    "a folded length": OK + b"Content-Length:\r\n 2\r\n\r\nok",
    "a folded length that goes on": OK + b"Content-Length: 2\r\n 3\r\n\r\nok",
    "a folded coding": OK + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKS,
    "a folded coding that goes on": (
        OK + b"Transfer-Encoding: x,\r\n chunked\r\n\r\n" + CHUNKS
    ),
    "a folded connection": with_line(b"Connection: x,\r\n close"),
    "a fold that hides a length": with_line(b"A: b\r\n Content-Length: 45"),
    "a fold of nothing": with_line(b"A: b\r\n "),
    "a blank before the colon of a length": OK + b"Content-Length : 2\r\n\r\nok",
    "a blank before the colon of a coding": (
        OK + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKS
    ),
    "a blank before a length": OK + b" Content-Length: 2\r\n\r\nok",
    "a blank line of blanks": OK + b"Content-Length: 2\r\n \r\n\r\nok",
    "a blank before the status line": b" " + with_length(b"Content-Length: 2"),
    "an empty name": with_line(b": b"),
    "only a colon": with_line(b":"),
    "no colon": with_line(b"garbage"),
    "no colon, but a length": with_line(b"Content-Length 45"),
    "an equals sign": with_line(b"A=b"),
    "NUL in a length's name": OK + b"Content\x00-Length: 2\r\n\r\nok",
    **{
        f"control character {code} in a value": with_line(b"A: b%cc" % code)
        for code in (0, 1, 7, 8, 11, 12, 14, 27, 31, 127)
    },
    "NUL in the reason": b"HTTP/1.1 200 O\x00K\r\nContent-Length: 2\r\n\r\nok",
    "ESC in the reason": b"HTTP/1.1 200 O\x1bK\r\nContent-Length: 2\r\n\r\nok",
}

# RFC 9112, 4, allows no control characters here either; but llhttp accepts those in a reason
# that do not end a line, and only the reason depends on them.
ACCEPTED = ["NUL in the reason", "ESC in the reason"]


def assert_refused(response, end=None, **options):
    result = exchange(answers(response + POISON, end=end), **options)

    assert isinstance(result.outcome, BadResponseError), (response, result.outcome)
    assert not result.was_reused, response


REFUSED = [
    *map(with_length, LENGTHS.values()),
    *map(with_chunks, CHUNK_LINES.values()),
    *(HEADS[shape] for shape in HEADS if shape not in ACCEPTED),
    *SPOILED,
    *OTHER_ENDS,
]


def test_ambiguous_response_is_refused():
    for response in REFUSED:
        assert_refused(response)


@pytest.mark.parametrize("shape", CODINGS)
@pytest.mark.parametrize("end", [None, Peer.half_close])
def test_ambiguous_transfer_coding_is_refused(shape, end):
    assert_refused(with_coding(CODINGS[shape]), end)


@pytest.mark.parametrize("shape", ACCEPTED)
def test_control_character_in_a_reason_is_accepted(shape):
    result = exchange(answers(HEADS[shape] + POISON))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert not result.was_reused


def test_size_of_a_chunk_does_not_wrap_around():
    # 2 modulo 2**32.
    chunks = b"100000002\r\nok\r\n0\r\n\r\n"

    result = exchange(answers(with_chunks(chunks) + POISON, end=Peer.half_close))

    assert isinstance(result.outcome, HTTPStreamClosedError), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("method", ["HEAD", "GET"])
@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 2\r\nContent-Length: 3",
        b"Content-Length: +2",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: identity",
        b"A: b\r\n c",
    ],
)
def test_invalid_head_without_a_body_is_refused(method, lines):
    status = b"200 OK" if method == "HEAD" else b"304 Same"

    assert_refused(b"HTTP/1.1 " + status + b"\r\n" + lines + b"\r\n\r\n", method=method)


@pytest.mark.parametrize("informational", [b"100 Continue", b"103 Early Hints"])
@pytest.mark.parametrize(
    "line", [b"A: b\r\n c", b"A : b", b"A: \x00", b"A: b\nC: d", b"garbage"]
)
def test_invalid_interim_head_is_refused(informational, line):
    first = b"HTTP/1.1 " + informational + b"\r\n" + line + b"\r\n\r\n"

    assert_refused(first + with_length(b"Content-Length: 2"))


def test_chunked_http_1_0_response_is_refused_or_ends_its_connection():
    # RFC 9112, 6.1: its framing is faulty, and the connection ends after it.
    lines = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + CHUNKED + b"\r\n"

    result = exchange(answers(lines + CHUNKS))

    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused


# Responses that can be read in only one way, and data behind them.


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
def test_each_spelling_of_the_framing_is_accepted(response):
    result = exchange(answers(response))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert result.was_reused


@pytest.mark.parametrize(
    "excess", [b"", b"\r\n", b"\r\n\r\n", b"x", POISON, b"Z: z\r\n\r\n"]
)
def test_data_behind_a_response_does_not_change_its_trailers(excess):
    chunks = b"2\r\nok\r\n0\r\nX: y\r\n\r\n"
    first = OK + b"Trailer: X\r\n" + CHUNKED + b"\r\n" + chunks

    result = exchange(answers(first + excess))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert list(result.outcome.trailers.get_all()) == [("X", "y")]
    assert not (result.was_reused and excess.strip())


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
def test_body_of_a_response_without_one_is_not_the_next_response(method, status, lines):
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
def test_interim_response_has_no_body(lines):
    first = b"HTTP/1.1 100 Continue\r\n" + lines + b"\r\n"

    result = exchange(answers(first + with_length(b"Content-Length: 2") + POISON))

    # RFC 9110, 15.2: it ends with its head; one with a length may also be refused.
    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused


# The parser knows that 100 has no body, and not that of 104 and others.
@pytest.mark.parametrize(
    "status", [b"100 Continue", b"104 Upload Resumption Supported"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("lines", [b"Content-Length: 5\r\n", CHUNKED])
def test_body_of_an_interim_response_is_refused(status, method, lines):
    body = b"5\r\nhello\r\n0\r\n\r\n" if lines is CHUNKED else b"hello"
    first = b"HTTP/1.1 " + status + b"\r\n" + lines + b"\r\n" + body

    result = exchange(answers(first + with_length(b"Content-Length: 2")), method=method)

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("count", [1, 2])
def test_blank_lines_before_a_response_are_skipped_or_refused(count):
    # RFC 9112, 2.2, lets servers skip them, and does not mention clients.
    response = b"\r\n" * count + with_length(b"Content-Length: 2")

    result = exchange(answers(response + POISON))

    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused


def test_redirect_with_data_behind_it_is_followed_on_a_new_connection():
    redirect = head(b"Location: /b", b"Content-Length: 2", status=b"302 Moved") + b"ok"

    result = exchange(answers(redirect + POISON))

    assert getattr(result.outcome, "body", result.outcome) == b"good"
    assert not result.was_reused


# Heads that are not HTTP/1.x, or not a response to this request.

LENGTH_OF_2 = b"Content-Length: 2"

VERSIONS = "HTTP/2.0 HTTP/3.0 HTTP/0.9 HTTP/1.2 HTTP/1 HTTP/1.10 HTTP/11 http/1.1"
STATUSES = "20 2000 +20 -20 2xx 403.14 \xb2\xb2\xb2 2_0"
ODD_STARTS = [
    *(f"{version} 200" for version in VERSIONS.split()),
    *(f"HTTP/1.1 {status}" for status in STATUSES.split()),
    *("HTTP/1.1", "HTTP/2", "HTTP/ 1.1 200", "HTTP/1.1200", "HTTP/1.1  200"),
    "HTTP/1.1\t200",
]

# Other protocols, and no protocol at all.
GARBAGE = {
    "random bytes": bytes(range(128, 256)) * 4,
    "zeros": bytes(1_000),
    "blanks": b" " * 1_000,
    "a page in HTTP/0.9": b"<html><body>hello</body></html>",
    "a TLS alert": b"\x15\x03\x01\x00\x02\x02\x46",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "SMTP": b"220 mail.test ESMTP\r\n",
    "RTSP": b"RTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "ICY": b"ICY 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a request": b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "a byte order mark": b"\xef\xbb\xbfHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "UTF-16": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".encode("utf-16"),
    "headers only": b"Content-Type: text/html\r\nContent-Length: 2\r\n\r\nok",
    **{
        repr(start): start.encode("latin-1") + b" OK\r\nContent-Length: 2\r\n\r\nok"
        for start in ODD_STARTS
    },
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("end", [None, Peer.half_close])
def test_other_protocol_is_refused(garbage, end):
    result = exchange(answers(GARBAGE[garbage], end=end), request_timeout=2.0)

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert str(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("garbage", ["SMTP", "a TLS alert", "random bytes"])
def test_server_that_speaks_first_is_refused(garbage):
    async def script(peer):
        await peer.send(GARBAGE[garbage])

    result = exchange(script)

    # Data before a request need not be parsed.
    assert isinstance(result.outcome, HTTPStreamClosedError), repr(result.outcome)
    assert not result.was_reused


def test_response_before_the_request_is_refused_or_accepted():
    async def script(peer):
        await peer.send(head(LENGTH_OF_2) + b"no")

    result = exchange(script)

    # In transit, it cannot be told from a fast response.
    is_refused = isinstance(result.outcome, HTTPStreamClosedError)
    assert is_refused or result.outcome.body == b"no"


@pytest.mark.parametrize("rest", [b"", b"\x81\x05hello"])
def test_unrequested_protocol_switch_is_refused(rest):
    switching = head(b"Upgrade: websocket", status=b"101 Switching")

    result = exchange(answers(switching + rest))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert "101" in str(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("status", [0, 1, 99])
def test_status_below_100_is_refused(status):
    result = exchange(answers(head(LENGTH_OF_2, status=b"%03d x" % status) + b"ok"))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert not result.was_reused
