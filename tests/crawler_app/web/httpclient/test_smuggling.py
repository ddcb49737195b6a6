"""Responses that two readers would cut apart in two ways.

Whoever takes other bytes for the body than the server, or a proxy before it, meant,
takes the rest for the answer to the next request.  So such responses are refused
(`BadResponseError`), and the few that RFC 9112 lets a client read are read in one way
and end their connection.  In all of them a second response waits behind the first: that
it never answers the next request is what `exchange` asserts.
"""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import Peer, answers, exchange
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
    """Return a value with each odd character at its start, behind it, and within."""
    return [
        value[:place] + bytes([character]) + value[place:]
        for character in odd
        for place in (0, 1, len(value))
    ]


def with_other_ends(*lines):
    """Return lines, of which one in turn has each wrong end; the last one has none."""
    found = []
    for place in range(len(lines) - 1):
        for end in (b"\n", b"\r", b"\r\r\n", b"\n\r"):
            ends = [b"\r\n"] * (len(lines) - 1)
            ends[place] = end
            found.append(b"".join(map(bytes.__add__, lines, [*ends, b""])))
    return found


# What is no part of a number, hexadecimal or not, nor of the name of a coding.
ODD = b"+-x._,'\"\x00\x0b\x0c\xa0\xb2\xff"
# RFC 9110, 5.6.2: what is no part of a name.
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

# With Transfer-Encoding, what the body is depends on who reads it.
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
    "NUL alone": with_line(b"A: \x00"),
    **{
        f"control character {code} in a value": with_line(b"A: b%cc" % code)
        for code in (0, 1, 7, 8, 11, 12, 14, 27, 31, 127)
    },
    "NUL in the reason": b"HTTP/1.1 200 O\x00K\r\nContent-Length: 2\r\n\r\nok",
    "ESC in the reason": b"HTTP/1.1 200 O\x1bK\r\nContent-Length: 2\r\n\r\nok",
}

# RFC 9112, 4: no control characters here either; but llhttp takes those in a reason that
# end no line, and nothing but the reason depends on them.
TAKEN = ["NUL in the reason", "ESC in the reason"]


def refuses(response, end=None, **options):
    result = exchange(answers(response + POISON, end=end), **options)

    assert isinstance(result.outcome, BadResponseError), (response, result.outcome)
    assert not result.was_reused, response


REFUSED = [
    *map(with_length, LENGTHS.values()),
    *map(with_chunks, CHUNK_LINES.values()),
    *(HEADS[shape] for shape in HEADS if shape not in TAKEN),
    *SPOILED,
    *OTHER_ENDS,
]


def test_odd_response_is_refused():
    for response in REFUSED:
        refuses(response)


@pytest.mark.parametrize("shape", CODINGS)
@pytest.mark.parametrize("end", [None, Peer.half_close])
def test_odd_transfer_coding_is_refused(shape, end):
    refuses(with_coding(CODINGS[shape]), end)


@pytest.mark.parametrize("shape", TAKEN)
def test_odd_head_that_ends_nowhere_else_is_read_in_one_way(shape):
    result = exchange(answers(HEADS[shape] + POISON))

    assert getattr(result.outcome, "body", result.outcome) == b"ok"
    assert not result.was_reused


def test_large_chunk_is_not_taken_for_a_small_one():
    # Modulo 2 to the 32nd it would be 2.
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
def test_odd_head_is_refused_though_no_body_follows(method, lines):
    status = b"200 OK" if method == "HEAD" else b"304 Same"

    refuses(b"HTTP/1.1 " + status + b"\r\n" + lines + b"\r\n\r\n", method=method)


@pytest.mark.parametrize("informational", [b"100 Continue", b"103 Early Hints"])
@pytest.mark.parametrize(
    "line", [b"A: b\r\n c", b"A : b", b"A: \x00", b"A: b\nC: d", b"garbage"]
)
def test_odd_head_is_refused_though_it_is_not_the_last(informational, line):
    first = b"HTTP/1.1 " + informational + b"\r\n" + line + b"\r\n\r\n"

    refuses(first + with_length(b"Content-Length: 2"))


def test_chunked_response_of_http_1_0_is_refused_or_ends_its_connection():
    # RFC 9112, 6.1: its framing is faulty, and the connection ends after it.
    lines = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + CHUNKED + b"\r\n"

    result = exchange(answers(lines + CHUNKS))

    is_refused = isinstance(result.outcome, BadResponseError)
    assert is_refused or result.outcome.body == b"ok"
    assert not result.was_reused
