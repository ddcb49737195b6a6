"""The address of the dashboard, and the host names that it accepts."""

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.show.dashboard.address import is_own_name, parse_address, place_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8080", ("127.0.0.1", 8080)),
        (":8080", ("127.0.0.1", 8080)),
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:8080", ("::1", 8080)),
        ("localhost:8080", ("localhost", 8080)),
        ("0.0.0.0:65535", ("0.0.0.0", 65535)),
    ],
)
def test_address_is_read(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("http://a.test/", "give ADDR:PORT.*write it before --dashboard"),
        ("http://a.test:80", "write it before --dashboard"),
        ("a.test/docs", "write it before --dashboard"),
        ("localhost", "give ADDR:PORT"),
        ("::1", "give ADDR:PORT"),
        ("", "give ADDR:PORT"),
        ("127.0.0.1:", "give ADDR:PORT"),
        ("127.0.0.1:٣", "give ADDR:PORT"),
        ("65536", "highest port is 65535"),
        ("[localhost]:80", "localhost is not an IPv6 address"),
        ("[]:80", "is not an IPv6 address"),
    ],
)
def test_invalid_address_is_refused_with_advice(text, advice):
    with pytest.raises(ConfigError, match=advice):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("127.0.0.1", "127.0.0.1:80"),
        ("localhost", "localhost:80"),
        ("::1", "[::1]:80"),
        ("0.0.0.0", "127.0.0.1:80"),
        ("::", "[::1]:80"),
    ],
)
def test_address_is_formatted_for_a_url(host, place):
    assert place_of(host, 80) == place


@pytest.mark.parametrize(
    "header", ["127.0.0.1:80", "127.0.0.1", "[::1]:80", "LOCALHOST:80", "Box.test:80"]
)
def test_name_that_no_other_site_can_have_is_accepted(header):
    assert is_own_name(header, "box.test")


@pytest.mark.parametrize(
    "header",
    ["", "evil.test", "evil.test:80", "127.0.0.1.evil.test", "a@127.0.0.1", "[evil]:1"],
)
def test_name_that_another_site_can_have_is_refused(header):
    assert not is_own_name(header, "127.0.0.1")
