"""Options of requests: refusals, and options that are new in Tornado."""

import inspect

import pytest
from tornado.httpclient import HTTPRequest

from gencoro import gen

# The tests in this folder check that each of these is honored or refused.
KNOWN_OPTIONS = """
    url method headers body auth_username auth_password auth_mode connect_timeout
    request_timeout if_modified_since follow_redirects max_redirects user_agent use_gzip
    network_interface streaming_callback header_callback prepare_curl_callback proxy_host
    proxy_port proxy_username proxy_password proxy_auth_mode allow_nonstandard_methods
    validate_cert ca_certs allow_ipv6 client_key client_cert body_producer
    expect_100_continue decompress_response ssl_options
"""


def test_new_option_of_tornado_is_noticed():
    new = inspect.signature(HTTPRequest).parameters.keys() - KNOWN_OPTIONS.split()

    assert new == set(), "what becomes of it?"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"request": "ftp://a.test/"}, "ftp"),
        ({"request": "//a.test/"}, "scheme"),
        ({"request": "a.test"}, "scheme"),
        ({"request": ""}, "scheme"),
        ({"request": "http:///path"}, "host"),
        ({"request": "http://:80/"}, "host"),
        ({"request": "http://a.test:port/"}, "port"),
        ({"request": "http://a.test:99999/"}, "ort"),
        ({"request": "http://a b.test/"}, "host"),
        ({"request": "http://[::1/"}, ""),
        ({"method": "BREW"}, "BREW"),
        ({"method": "get"}, "get"),
        ({"method": "GET /x", "allow_nonstandard_methods": True}, "GET /x"),
        ({"method": "CONNECT", "allow_nonstandard_methods": True}, "CONNECT"),
        ({"method": "POST"}, "must not be None"),
        ({"method": "PUT"}, "must not be None"),
        ({"body": b"x"}, "must be None"),
        ({"method": "DELETE", "body": b"x"}, "must be None"),
        ({"method": "HEAD", "body": b"x"}, "must be None"),
        ({"headers": {"A": "b\r\nC: d"}}, ""),
        ({"headers": {"A": "b\nC: d"}}, ""),
        ({"headers": {"A": "b\rC: d"}}, ""),
        ({"headers": {"A": "b\0"}}, ""),
        ({"headers": {"A b": "c"}}, "A b"),
        ({"headers": {"A:": "c"}}, "A:"),
        ({"headers": {"": "c"}}, ""),
        ({"headers": {"A": "€"}}, "€"),
        ({"user_agent": "a\r\nb: c"}, ""),
        ({"headers": {"Content-Length": "5"}}, "Content-Length"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "Transfer-Encoding"),
        ({"headers": {"Transfer-Encoding": ""}}, "Transfer-Encoding"),
        (
            {
                "method": "PUT",
                "body": b"x",
                "headers": {"Transfer-Encoding": "chunked"},
            },
            "Transfer-Encoding",
        ),
        (
            {
                "method": "PUT",
                "body_producer": lambda write: None,
                "headers": {"Content-Length": "+5"},
            },
            "Content-Length",
        ),
        ({"ssl_options": {"unheard": 1}, "request": "https://a.test/"}, "unheard"),
        ({"auth_username": "me", "auth_mode": "digest"}, "digest"),
        ({"proxy_auth_mode": "digest"}, "digest"),
        ({"proxy_host": "127.0.0.1"}, "proxy_port"),
        ({"proxy_port": 8080}, "proxy_host"),
        ({"network_interface": "eth0"}, "eth0"),
        ({"prepare_curl_callback": print}, "prepare_curl_callback"),
        ({"method": "PUT", "body": b"x", "body_producer": print}, "body_producer"),
    ],
    ids=lambda value: str(value)[:50] if isinstance(value, dict) else "",
)
@gen.coroutine
def test_invalid_request_is_refused(client, web, options, said):
    future = client.fetch(**{"request": web.url} | options)

    with pytest.raises(ValueError, match=said or None):
        yield future

    assert web.streams == []


@pytest.mark.parametrize("length", ["2", "3"])
@gen.coroutine
def test_only_the_true_length_is_sent(client, web, length):
    options = {"method": "PUT", "body": b"abc", "headers": {"Content-Length": length}}

    try:
        yield client.fetch(web.url, **options)
    except ValueError:
        assert (length, web.requests) == ("2", [])
    else:
        assert web.requests[0].headers.get_list("Content-Length") == ["3"]


@gen.coroutine
def test_headers_of_the_caller_are_not_changed(client, web):
    request = HTTPRequest(web.url, "POST", headers={"A": "b"}, body=b"x")

    yield client.fetch(request)
    yield client.fetch(request)

    assert list(request.headers.get_all()) == [("A", "b")]
    assert web.requests[0].headers == web.requests[1].headers
