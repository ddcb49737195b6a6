"""Addresses that are not known to be public are refused before connecting."""

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import FetchError
from crawler_app.base.urls import canonicalize, host_of
from crawler_app.web.fetcher.addresses import (
    is_literal,
    is_private_host,
    is_public,
    require_public,
)
from tests.helpers.fuzzing import examples

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.31.196.1",
    "192.167.255.255",
    "192.169.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2606:4700::5efe:8.8.8.8",
]

PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",  # Alibaba's metadata
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",  # AWS's, Azure's and Google's metadata
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",  # Oracle's metadata
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:fffe::10.0.0.1",
    "100::1",
    "2001::1",  # Teredo
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2002:a9fe:a9fe::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:192.168.1.1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # AWS's metadata
    "fe80::1",
    "fe80::1%eth0",
    "fe80::1%2",
    "2606:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]

NO_ADDRESSES = ["", "a.test", "localhost", "127.1", "0177.0.0.1", "2130706433", "[::1]"]


@pytest.mark.parametrize("text", [*PUBLIC, *PRIVATE, *NO_ADDRESSES])
def test_address_is_public_or_not(text):
    assert is_public(text) is (text in PUBLIC)


@given(st.text())
def test_any_text_is_public_or_not(text):
    assert is_public(text) in (True, False)
    assert is_literal(text) in (True, False)
    assert is_private_host(text) in (True, False)


def is_tunnel(ip):
    return ip.ipv4_mapped or ip.sixtofour or ip in ipaddress.ip_network("64:ff9b::/96")


@given(
    st.ip_addresses(v=4)
    | st.ip_addresses(v=6).filter(lambda ip: not is_tunnel(ip))
    | st.ip_addresses(v=6, network="2000::/3").filter(lambda ip: not is_tunnel(ip))
)
def test_no_address_is_public_against_python(ip):
    if is_public(str(ip)):
        assert ip.is_global
        assert not ip.is_multicast
        assert not ip.is_reserved


# Global in some versions of Python, but not for us.
STRICTER = [
    ipaddress.IPv4Network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "224.0.0.0/4")
]


@given(st.ip_addresses(v=4))
def test_ipv4_that_is_global_in_python_is_public(ip):
    if not any(ip in network for network in STRICTER):
        assert is_public(str(ip)) is ip.is_global


@given(st.ip_addresses(v=4))
def test_embedded_ipv4_is_judged_itself(ip):
    value = int(ip)
    wrapped = [
        ipaddress.IPv6Address(f"::ffff:{ip}"),
        ipaddress.IPv6Address(f"64:ff9b::{ip}"),
        ipaddress.IPv6Address((0x2002 << 112) | (value << 80) | 1),
        ipaddress.IPv6Address(f"2606:4700::5efe:{ip}"),
    ]

    assert {is_public(str(each)) for each in wrapped} == {is_public(str(ip))}


@pytest.mark.parametrize(
    "sockaddr",
    [
        ("127.0.0.1", 80),
        ("::ffff:127.0.0.1", 80, 0, 0),
        ("fe80::1", 80, 0, 2),
        ("a.test", 80),
        (b"93.184.216.34", 80),
        "/run/docker.sock",
        "93.184.216.34",
        b"\0abstract",
        (),
        (None, 80),
        None,
    ],
)
def test_refusal_names_host_address_and_cure(sockaddr):
    with pytest.raises(FetchError) as caught:
        require_public("a.test", sockaddr)

    assert caught.value.reason == "private_address"
    assert not caught.value.is_passing
    assert str(caught.value).startswith("a.test is at ")
    assert "--allow-private" in str(caught.value)


@pytest.mark.parametrize(
    ("host", "is_private"),
    [
        ("127.0.0.1:8000", True),
        ("127.0.0.1.", True),
        ("192.168.1.1", True),
        ("127.1", True),
        ("0x7f.1", True),
        ("0177.0.0.1:8000", True),
        ("2130706433", True),
        ("999.1.1.1", True),  # no address at all, and no name
        ("[::1]:8000", True),
        ("[fd00::1]", True),
        ("[::ffff:10.0.0.1]", True),
        ("localhost", True),
        ("localhost.:8000", True),
        ("a.localhost", True),
        ("93.184.216.34", False),
        ("0x5db8d822", False),
        ("[2606:4700::1111]:8000", False),
        ("a.test:8000", False),
        ("localhost.a.test", False),
        ("127.0.0.1.a.test", False),
        ("10.a.test", False),
    ],
)
def test_certainly_private_host(host, is_private):
    assert is_private_host(host) is is_private


def fullwidth(text):
    return text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})


def escaped(text):
    return "".join(f"%{ord(char):02x}" for char in text)


@st.composite
def spelled_ipv4(draw):
    """Return an address, and one of its spellings in a link."""
    ip = draw(
        st.ip_addresses(v=4) | st.sampled_from(PRIVATE[:20]).map(ipaddress.ip_address)
    )
    count = draw(st.integers(1, 4))
    numbers = [*ip.packed[: count - 1], int.from_bytes(ip.packed[count - 1 :])]
    forms = st.sampled_from(["{}", "0x{:x}", "0X00{:X}", "0{:o}", "000{:o}"])
    text = ".".join(draw(forms).format(number) for number in numbers)
    for write in draw(st.lists(st.sampled_from([fullwidth, escaped]), max_size=1)):
        text = write(text)
    return ip, text + draw(
        st.sampled_from(["", ".", "\u3002", "%2e", "\t", "\u00ad", ":80"])
    )


@settings(max_examples=examples(300))
@given(spelled_ipv4())
def test_every_spelling_of_an_address_in_a_url_is_checked(spelled):
    ip, text = spelled

    host = host_of(canonicalize(f"http://{text}/"))

    assert host == str(ip)
    assert is_private_host(host) is not is_public(str(ip))


@given(st.ip_addresses(v=6), st.sampled_from([str, str.upper]), st.booleans())
def test_ipv6_address_in_a_url_has_one_spelling(ip, write, is_whole):
    text = write(ip.exploded if is_whole else str(ip))

    host = host_of(canonicalize(f"http://[{text}]/"))

    assert ipaddress.ip_address(host.strip("[]")) == ip
    assert host == host_of(canonicalize(f"http://{host}/"))
    assert is_private_host(host) is not is_public(str(ip))
