"""What is no HTTP, or not the HTTP that was asked for."""

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from crawler_app.httpclient import BadResponseError
from tests.helpers.http.faulty import Peer, answers, exchange, head

LENGTH = b"Content-Length: 2"

VERSIONS = "HTTP/2.0 HTTP/3.0 HTTP/0.9 HTTP/1.2 HTTP/1 HTTP/1.10 HTTP/11 http/1.1"
STATUSES = "20 2000 +20 -20 2xx 403.14 \xb2\xb2\xb2 2_0"
ODD_STARTS = [
    *(f"{version} 200" for version in VERSIONS.split()),
    *(f"HTTP/1.1 {status}" for status in STATUSES.split()),
    *("HTTP/1.1", "HTTP/2", "HTTP/ 1.1 200", "HTTP/1.1200", "HTTP/1.1  200"),
    "HTTP/1.1\t200",
]

# What speaks another protocol, or none.
GARBAGE = {
    "random bytes": bytes(range(128, 256)) * 4,
    "zeros": bytes(1_000),
    "blanks": b" " * 1_000,
    "text": b"hello\r\n",
    "a page, as HTTP/0.9 has it": b"<html><body>hello</body></html>",
    "a TLS alert": b"\x15\x03\x01\x00\x02\x02\x46",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "settings of HTTP/2": b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64",
    "SMTP": b"220 mail.test ESMTP\r\n",
    "SSH": b"SSH-2.0-OpenSSH_9.6\r\n",
    "FTP": b"220 Welcome\r\n",
    "Redis": b"-ERR unknown command 'GET'\r\n",
    "RTSP": b"RTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "ICY": b"ICY 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a request": b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
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
def test_what_is_no_http_is_refused(garbage, end):
    result = exchange(answers(GARBAGE[garbage], end=end), request_timeout=2.0)

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert str(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("garbage", ["SMTP", "SSH", "a TLS alert", "random bytes"])
def test_server_that_speaks_first_is_refused(garbage):
    async def script(peer):
        await peer.send(GARBAGE[garbage])

    result = exchange(script)

    # Bytes before a request need not even be looked at.
    assert isinstance(result.outcome, HTTPStreamClosedError), repr(result.outcome)
    assert not result.was_reused


def test_response_before_the_request_is_no_harm():
    async def script(peer):
        await peer.send(head(LENGTH) + b"no")

    result = exchange(script)

    # Nobody can tell such a response from a fast one, once it is on its way.
    is_refused = isinstance(result.outcome, HTTPStreamClosedError)
    assert is_refused or result.outcome.body == b"no"


@pytest.mark.parametrize("rest", [b"", b"\x81\x05hello"])
def test_switch_of_protocols_is_refused(rest):
    switching = head(b"Upgrade: websocket", status=b"101 Switching")

    result = exchange(answers(switching + rest))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert "101" in str(result.outcome)
    assert not result.was_reused


@pytest.mark.parametrize("status", [0, 1, 99])
def test_status_below_all_classes_is_refused(status):
    result = exchange(answers(head(LENGTH, status=b"%03d x" % status) + b"ok"))

    assert isinstance(result.outcome, BadResponseError), repr(result.outcome)
    assert not result.was_reused
