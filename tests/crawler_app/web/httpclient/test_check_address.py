"""The address check sees every address of a name before the client connects to it."""

import socket

import pytest

from gencoro import gen
from tests.helpers.http.peers import Addresses, answer

HELLO = answer(b"hello")


class Check:
    """Records its calls, and refuses some ports."""

    def __init__(self, *refused_ports):
        self.asked = []
        self._refused_ports = refused_ports

    def __call__(self, host, address):
        self.asked.append((host, address))
        if address[1] in self._refused_ports:
            raise PermissionError(f"{host} is at {address}")


@gen.coroutine
def test_address_is_checked_before_connecting(make_client, web):
    check = Check(web.port)
    client = make_client(check_address=check, resolver=Addresses(web.address))

    with pytest.raises(PermissionError, match=r"a\.test is at"):
        yield client.fetch("http://a.test/")

    assert check.asked == [("a.test", web.address)]
    assert web.streams == []


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@gen.coroutine
def test_literal_address_is_checked(make_client, serve, host):
    server = serve(HELLO, host=host)
    check = Check(server.port)
    client = make_client(check_address=check)

    with pytest.raises(PermissionError):
        yield client.fetch(server.url)

    ((asked, address),) = check.asked
    assert (asked, address[:2]) == (host, (host, server.port))
    assert server.streams == []


@pytest.mark.parametrize("literal", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"])
@gen.coroutine
def test_obfuscated_literal_address_is_checked(make_client, web, literal):
    check = Check(web.port)
    client = make_client(check_address=check)

    with pytest.raises((PermissionError, socket.gaierror)):
        yield client.fetch(f"http://{literal}:{web.port}/")

    assert {address for _, address in check.asked} <= {web.address}
    assert web.streams == []


@gen.coroutine
def test_every_redirect_is_checked(make_client, serve):
    inner = serve(HELLO)
    outer = serve(answer(status="302 Found", Location=inner.url))
    check = Check(inner.port)
    client = make_client(check_address=check)

    with pytest.raises(PermissionError):
        yield client.fetch(outer.url)

    assert check.asked == [("127.0.0.1", outer.address), ("127.0.0.1", inner.address)]
    assert inner.streams == []
