"""Proxies that refuse, send invalid responses, or are silent."""

import asyncio
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
