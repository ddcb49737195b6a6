"""Proxies: requests to them, tunnels through them, credentials, and faults."""

import asyncio
import base64
import contextlib
import gc

import pytest
from tornado.httpclient import HTTPClientError
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from crawler_app.httpclient import (
    BadResponseError,
    ProxyError,
    ResponseTooLargeError,
)
from gencoro import gen
from tests.helpers.http.peers import Addresses, answer

HELLO = answer(b"hello")


def login(name, password):
    return b"Basic " + base64.b64encode(f"{name}:{password}".encode())


# Plain HTTP.


@gen.coroutine
def test_http_request_to_a_proxy_has_the_absolute_form(client, web, proxy):
    response = yield client.fetch(
        f"{web.url}/path?q=1", method="PUT", body=b"body", **proxy.options
    )

    (request,) = web.requests
    assert response.body == b"hello"
    assert proxy.lines == [f"PUT {web.url}/path?q=1 HTTP/1.1"]
    assert (request.target, request.body) == ("/path?q=1", b"body")
    assert request.headers["Host"] == f"127.0.0.1:{web.port}"


@gen.coroutine
def test_refusal_of_a_plain_request_is_the_response(client, web, proxy):
    proxy.login = ("me", "secret")

    with pytest.raises(HTTPClientError) as caught:
        yield client.fetch(web.url, **proxy.options)

    assert (caught.value.code, caught.value.response.body) == (407, b"login")
    assert web.requests == []


# HTTPS.


@gen.coroutine
def test_https_uses_a_tunnel(secure_client, secure_web, proxy):
    response = yield secure_client.fetch(
        f"{secure_web.url}/secret?q=1", method="PUT", body=b"body", **proxy.options
    )

    (request,) = secure_web.requests
    assert response.body == b"hello"
    assert proxy.lines == [f"CONNECT 127.0.0.1:{secure_web.port} HTTP/1.1"]
    assert f"Host: 127.0.0.1:{secure_web.port}".encode() in proxy.heads[0]
    assert (request.target, request.body) == ("/secret?q=1", b"body")
    # The TLS handshake, and nothing in plain text.
    assert proxy.tunneled[:1] == b"\x16"
    assert b"secret?q" not in proxy.tunneled


@gen.coroutine
def test_certificate_is_that_of_the_server(secure_client, secure_web, proxy):
    url = f"https://a.test:{secure_web.port}/"

    response = yield secure_client.fetch(url, **proxy.options)
    with pytest.raises(OSError, match=r"elsewhere\.test"):
        yield secure_client.fetch(
            url.replace("a.test", "elsewhere.test"), **proxy.options
        )

    assert response.body == b"hello"


@gen.coroutine
def test_tunnel_to_an_ipv6_address_has_brackets(secure_client, secure_web, proxy):
    url = f"https://[::1]:{secure_web.port}/"

    response = yield secure_client.fetch(url, **proxy.options)

    assert response.body == b"hello"
    assert proxy.lines == [f"CONNECT [::1]:{secure_web.port} HTTP/1.1"]


@gen.coroutine
def test_response_to_connect_is_not_returned(secure_client, secure_web, proxy):
    lines = []
    # RFC 9110, 9.3.6: a client must ignore the length in a 2xx to CONNECT.
    proxy.says_to_connect = (
        b"HTTP/1.1 200 OK\r\nX-Proxy: y\r\nContent-Length: 5\r\n\r\n"
    )

    response = yield secure_client.fetch(
        secure_web.url, header_callback=lines.append, **proxy.options
    )

    assert response.body == b"hello"
    assert b"X-Proxy" not in response.raw_head
    assert not [line for line in lines if "Proxy" in line]
    assert len([line for line in lines if line.startswith("HTTP/")]) == 1


# Credentials.


@pytest.mark.parametrize(
    ("scheme", "password"), [("http", "søcret"), ("http", None), ("https", "søcret")]
)
@gen.coroutine
def test_login_is_sent_only_to_the_proxy(
    secure_client, web, secure_web, proxy, scheme, password
):
    proxy.login = ("me", password or "")
    server = secure_web if scheme == "https" else web

    yield secure_client.fetch(
        server.url,
        proxy_username="me",
        proxy_password=password,
        proxy_auth_mode="basic",
        auth_username="other",
        auth_password="hidden",
        headers={"Cookie": "c=1"},
        **proxy.options,
    )

    (request,) = server.requests
    (head,) = proxy.heads
    assert b"Proxy-Authorization: " + login(*proxy.login) in head
    assert "Proxy-Authorization" not in request.headers
    assert request.headers["Authorization"].encode() == login("other", "hidden")
    assert request.headers["Cookie"] == "c=1"
    if scheme == "https":
        assert b"\r\nAuthorization" not in head
        assert b"Cookie" not in head


@gen.coroutine
def test_login_without_a_proxy_is_not_sent(client, web):
    yield client.fetch(web.url, proxy_username="me", proxy_password="secret")

    assert "Proxy-Authorization" not in web.requests[0].headers


@gen.coroutine
def test_login_is_kept_across_redirects(client, web, serve, proxy):
    proxy.login = ("me", "secret")
    elsewhere = serve(HELLO)
    web.redirect("/", to=elsewhere.url)

    yield client.fetch(
        web.url, proxy_username="me", proxy_password="secret", **proxy.options
    )

    assert [login("me", "secret") in head for head in proxy.heads] == [True, True]
    assert "Proxy-Authorization" not in elsewhere.requests[0].headers


# Shared connections.


@pytest.mark.parametrize("scheme", ["http", "https"])
@gen.coroutine
def test_connection_is_not_shared_across_proxies(
    secure_client, web, secure_web, make_proxy, scheme
):
    server = secure_web if scheme == "https" else web
    one, other = make_proxy(), make_proxy()

    for options in (one.options, other.options, {}, one.options, other.options, {}):
        yield secure_client.fetch(server.url, **options)

    times = 1 if scheme == "https" else 2
    assert one.used == other.used == [0] * times
    assert len(set(server.used)) >= 3


@pytest.mark.parametrize("scheme", ["http", "https"])
@gen.coroutine
def test_connection_is_not_shared_across_logins(
    secure_client, web, secure_web, proxy, scheme
):
    server = secure_web if scheme == "https" else web
    logins = [
        {"proxy_username": name, "proxy_password": password}
        for name, password in [("a", "x"), ("a", "y"), ("b", "x")]
    ]

    for options in [*logins, {}]:
        yield secure_client.fetch(server.url, **options, **proxy.options)

    assert proxy.used == [0, 1, 2, 3]


# Proxies that refuse, send invalid responses, or are silent.


@pytest.mark.parametrize(
    "status", ["403 Forbidden", "407 Login", "502 Bad Gateway", "302 Found"]
)
@gen.coroutine
def test_refused_tunnel_is_an_error_with_its_status(
    secure_client, secure_web, proxy, status
):
    proxy.says_to_connect = answer(b"sorry", status, Location="http://a.test/")

    with pytest.raises(ProxyError, match=status[:3]) as caught:
        yield secure_client.fetch(secure_web.url, **proxy.options)

    assert isinstance(caught.value, HTTPClientError)
    assert caught.value.code == 599
    assert secure_web.streams == []

    # Its connection is not reused.
    proxy.says_to_connect = b"HTTP/1.1 200 OK\r\n\r\n"
    response = yield secure_client.fetch(secure_web.url, **proxy.options)

    assert response.body == b"hello"
    assert proxy.used == [0, 1]


@pytest.mark.parametrize(
    ("said", "errors"),
    [
        (b"no HTTP\r\n\r\n", (BadResponseError, ProxyError)),
        (b"HTTP/1.1 403 " + b"x" * 100_000, (ResponseTooLargeError, ProxyError)),
        (None, (ProxyError, HTTPStreamClosedError, OSError)),
    ],
    ids=["rubbish", "too_large", "closes"],
)
@gen.coroutine
def test_invalid_response_to_connect_is_an_error(
    client, secure_web, proxy, said, errors
):
    proxy.says_to_connect = said

    with pytest.raises(errors):
        yield client.fetch(secure_web.url, **proxy.options)

    # There is no retry, because the connection was new.
    assert len(proxy.heads) == 1


@gen.coroutine
def test_silent_proxy_is_limited_by_the_connect_timeout(client, serve, virtual_clock):
    server = serve(lambda request: None)

    with pytest.raises(HTTPTimeoutError):
        yield client.fetch(
            "https://a.test/",
            proxy_host="127.0.0.1",
            proxy_port=server.port,
            connect_timeout=3,
        )
    yield server.gone(0)

    assert virtual_clock.time() == 3
    assert [request.method for request in server.requests] == ["CONNECT"]


@pytest.mark.parametrize("turns", range(20))
@pytest.mark.parametrize("way", ["cancel", "close"])
@gen.coroutine
def test_cancelling_connect_at_any_turn_leaves_no_error(make_client, serve, way, turns):
    server = serve(b"")
    address = ("127.0.0.1", server.port)
    # Without a thread, so that it takes the same number of turns each time.
    client = make_client(resolver=Addresses(address))
    options = dict(zip(("proxy_host", "proxy_port"), address, strict=True))
    future = client.fetch("https://a.test/", **options)
    for _ in range(turns):
        yield gen.moment

    (future.cancel if way == "cancel" else client.close)()
    with contextlib.suppress(HTTPClientError, asyncio.CancelledError):
        yield future
    for _ in range(5):
        yield gen.moment
    # asyncio logs an error that was never retrieved; the fixture fails then.
    gc.collect()


@gen.coroutine
def test_dead_tunnel_is_replaced(secure_client, secure_web, proxy):
    yield secure_client.fetch(secure_web.url, **proxy.options)

    proxy.close_connections()
    response = yield secure_client.fetch(secure_web.url, **proxy.options)

    assert response.body == b"hello"
    assert proxy.used == [0, 1]


@gen.coroutine
def test_addresses_of_the_proxy_are_not_checked(make_client, web, proxy):
    def refuse(host, address):
        raise PermissionError(f"{host} is {address}")

    client = make_client(check_address=refuse)

    response = yield client.fetch(web.url, **proxy.options)
    with pytest.raises(PermissionError):
        yield client.fetch(web.url)

    assert response.body == b"hello"
