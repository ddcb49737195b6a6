"""Which requests may share a connection: counted at the server."""

import ssl

import pytest

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


@gen.coroutine
def fetch_each(client, url, *requests):
    for options in requests:
        yield client.fetch(url, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST", "body": b"x"},
        {"headers": {"X-Other": "1"}},
        {"auth_username": "me", "auth_password": "secret"},
        {"user_agent": "other"},
        {"connect_timeout": 3, "request_timeout": 4},
        {"decompress_response": False},
        {"streaming_callback": lambda chunk: None},
        {"follow_redirects": False},
        {"allow_nonstandard_methods": True},
    ],
    ids=lambda options: next(iter(options)),
)
@gen.coroutine
def test_option_of_the_exchange_does_not_part_connections(client, web, options):
    yield fetch_each(client, web.url, {}, options, {})

    assert web.used == [0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"allow_ipv6": True}, {"allow_ipv6": False}),
        ({}, {"network_interface": "127.0.0.2"}),
        ({"network_interface": "127.0.0.2"}, {"network_interface": "127.0.0.3"}),
    ],
    ids=["allow_ipv6", "network_interface", "other_interface"],
)
@gen.coroutine
def test_option_of_the_connection_parts_connections(client, web, one, other):
    yield fetch_each(client, web.url, one, other, one, other)

    assert web.used == [0, 1, 0, 1]


@gen.coroutine
def test_each_host_name_has_its_own_connection_at_the_same_address(named, web):
    for host in ("a.test", "b.test", "a.test", "b.test"):
        yield named.fetch(f"http://{host}:{web.port}/")

    assert web.used == [0, 1, 0, 1]


@gen.coroutine
def test_host_name_is_the_same_in_capitals_and_with_the_port_of_the_scheme(
    make_client, web
):
    address = ("127.0.0.1", web.port)
    client = make_client(
        hostname_mapping={("a.test", 80): address, ("A.TEST", 80): address}
    )

    for url in ("http://a.test/", "http://A.TEST/", "http://a.test:80/"):
        yield client.fetch(url)

    assert web.used == [0, 0, 0]


@gen.coroutine
def test_plain_connection_is_not_used_for_https(client, web):
    yield client.fetch(web.url)

    with pytest.raises(OSError):
        secure = client.fetch(web.url.replace("http:", "https:"))
        # The server takes the greeting of TLS for a head without an end.
        yield web.connected(2)
        web.streams[1].close()
        yield secure

    assert web.used == [0]


PARTING_TLS_OPTIONS = {
    "validate_cert": ("trusting", "careless"),
    "ca_certs": ("blind", "careless"),
    "other_ca_certs": ("careless", "careless_of_others"),
    "client_cert": ("trusting", "mine"),
    "other_client_cert": ("mine", "others"),
    "ssl_options": ("trusting", "as_dict"),
    "other_ssl_options": ("as_dict", "mine_as_dict"),
    "context": ("trusting", "context"),
    "other_context": ("context", "other_context"),
}


@pytest.fixture
def tls_options(certificates, other_certificates):
    """Return options of requests by the names that the table above uses."""
    ca = certificates.ca
    cert, key = certificates.client_files("one")
    other_cert, other_key = certificates.client_files("other")
    files = {"certfile": cert, "keyfile": key}
    return {
        "blind": {"validate_cert": False},
        "trusting": {"ca_certs": ca},
        "careless": {"ca_certs": ca, "validate_cert": False},
        "careless_of_others": {
            "ca_certs": other_certificates.ca,
            "validate_cert": False,
        },
        "mine": {"ca_certs": ca, "client_cert": cert, "client_key": key},
        "others": {"ca_certs": ca, "client_cert": other_cert, "client_key": other_key},
        "as_dict": {"ssl_options": {"ca_certs": ca}},
        "mine_as_dict": {"ssl_options": {"ca_certs": ca, **files}},
        "context": {"ssl_options": ssl.create_default_context(cafile=ca)},
        "other_context": {"ssl_options": ssl.create_default_context(cafile=ca)},
    }


@pytest.mark.parametrize("name", PARTING_TLS_OPTIONS)
@gen.coroutine
def test_tls_option_parts_connections(client, secure_web, tls_options, name):
    one, other = (tls_options[each] for each in PARTING_TLS_OPTIONS[name])

    yield fetch_each(client, secure_web.url, one, other, one, other)

    assert secure_web.used == [0, 1, 0, 1]


@gen.coroutine
def test_equal_tls_options_share_a_connection(client, secure_web, certificates):
    ca = certificates.ca

    for _ in range(2):
        # Equal, and not the same object.
        yield client.fetch(secure_web.url, ssl_options={"ca_certs": str(ca)})

    assert secure_web.used == [0, 0]
