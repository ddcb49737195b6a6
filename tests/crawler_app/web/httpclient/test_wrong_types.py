"""Requests with values of wrong types fail in their Future, and affect no other fetch.

The Future has every error, never the call, because a caller with many fetches under way looks for
errors there.
"""

import contextlib
import math

import pytest

from tests.helpers.http.faulty import run, serving

WRONG = [
    {"request_timeout": "5"},
    {"request_timeout": math.nan},
    {"request_timeout": -1},
    {"connect_timeout": math.nan},
    {"connect_timeout": -1},
    {"connect_timeout": "5"},
    {"max_redirects": "x"},
    {"max_redirects": -1},
    {"headers": {"X": 5}},
    {"headers": {"X": ["a"]}},
    {"user_agent": 5},
    {"auth_username": 5},
    {"auth_username": "me", "auth_password": 5},
    {"method": 5},
    {"method": ["GET"]},
    {"proxy_host": "127.0.0.1", "proxy_port": 99999999},
    {"proxy_host": "127.0.0.1", "proxy_port": "80"},
    {"proxy_host": "127.0.0.1", "proxy_port": -1},
    {"proxy_host": 5, "proxy_port": 80},
    {"proxy_host": "127.0.0.1", "proxy_port": 80, "proxy_username": 5},
    {"streaming_callback": 5},
    {"header_callback": 5},
    {"method": "PUT", "body_producer": 5},
]
# Options that matter only for https://.
WRONG_FOR_TLS = [
    {"ssl_options": {"ciphers": ["A"]}},
    {"ssl_options": {"cert_reqs": "x"}},
    {"ssl_options": 5},
    {"ca_certs": 5},
    {"client_cert": ["a"]},
]

wrong_requests = pytest.mark.parametrize("options", WRONG + WRONG_FOR_TLS, ids=str)


def url_for(options, server):
    is_about_tls = options in WRONG_FOR_TLS
    return server.url.replace("http:", "https:") if is_about_tls else server.url


@contextlib.asynccontextmanager
async def client_of_one_slot():
    """Yield a server and its client; assert that no fetch is under way at the end."""
    async with serving() as (server, client):
        yield server, client
        # It has one slot, so this would wait for any other fetch.
        assert (await client.fetch(server.url)).body == b"good"
        assert len(client.queue) == 0


@pytest.mark.parametrize("situation", ["new", "kept", "queued"])
@wrong_requests
def test_wrong_request_fails_only_in_its_future(options, situation):
    async def main():
        async with client_of_one_slot() as (server, client):
            others = [client.fetch(server.url)] if situation != "new" else []
            if situation == "kept":
                await others[0]
            failing = client.fetch(url_for(options, server), **options)
            others.append(client.fetch(server.url))

            for other in others:
                assert (await other).body == b"good"
            with pytest.raises((ValueError, TypeError, AttributeError)):
                await failing

    run(main)


def test_timeout_too_large_for_a_float_fails_in_its_future():
    async def main():
        async with client_of_one_slot() as (server, client):
            failing = client.fetch(server.url, connect_timeout=10**400)
            with pytest.raises(OverflowError):
                await failing

    run(main)


@pytest.mark.parametrize("name", ["connect_timeout", "request_timeout"])
def test_infinite_timeout_is_accepted(name):
    async def main():
        async with client_of_one_slot() as (server, client):
            response = await client.fetch(server.url, **{name: math.inf})
            return response.body

    assert run(main) == b"good"
