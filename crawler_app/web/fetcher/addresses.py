"""Refuses addresses that are not on the public Internet.

Rule: an address that is not known to be public is private.  A page can link to anything,
such as ``http://169.254.169.254/``, the service that gives a cloud machine its credentials,
and DNS can map any name to any address.  So addresses are checked after they have been
resolved and before they are connected to.

The tables are our own: what `ipaddress` calls global has changed between 3.11 and 3.13, and
it does not consider IPv4 addresses embedded in IPv6 addresses.
"""

import functools
import ipaddress
import re
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import is_loopback, name_of

__all__ = [
    "is_literal",
    "is_private_host",
    "is_public",
    "require_public",
    "require_public_host",
]

# Source: IANA's IPv4 special-purpose registry, except the last.
PRIVATE_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared, for carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, and cloud metadata services
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
            "168.63.129.16/32",  # the Azure host, as seen by its virtual machines
        ),
    )
)

# All of the unicast space that IANA has allocated; "IPv6 Address Space", RFC 3513.
GLOBAL_UNICAST = IPv6Network("2000::/3")

# Source: IANA's IPv6 special-purpose registry, the part within the above.
PRIVATE_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, including Teredo, which has no servers
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation
        ),
    )
)

# Prefixes with an embedded IPv4 address, and the number of bits after it.
MAPPED = IPv6Network("::ffff:0:0/96")
NAT64 = IPv6Network("64:ff9b::/96")  # for IPv6-only networks to reach IPv4 hosts
SIX_TO_FOUR = IPv6Network("2002::/16")
BITS_AFTER_IPV4 = ((MAPPED, 0), (NAT64, 0), (SIX_TO_FOUR, 80))

# ISATAP (RFC 5214, 6.1): the bits before the IPv4 address, for any network prefix.
ISATAP_MARKS = (0x0000_5EFE, 0x0200_5EFE)

# WHATWG URL, 3.5: a host that ends in a number is an IPv4 address, or invalid.
_NUMBER_AT_END = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", re.IGNORECASE)


def is_public(address: str) -> bool:
    """Return whether an address, in the notation of a socket, is on the public Internet.

    False if it has a zone, or is not an address.

    >>> is_public("93.184.216.34"), is_public("2606:4700::1111")
    (True, True)
    >>> is_public("10.0.0.1"), is_public("::ffff:127.0.0.1"), is_public("localhost")
    (False, False, False)
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return _is_public_ipv4(ip)
    return _is_public_ipv6(ip)


def require_public(host: str, sockaddr: Any) -> None:
    """Raise FetchError if an address is not on the public Internet.

    Intended as ``check_address`` of `crawler_app.httpclient.PooledAsyncHTTPClient`.

    Args:
        sockaddr: As in `socket.connect`; Unix sockets are refused.

    Raises:
        FetchError: ``private_address``.

    >>> require_public("a.test", ("93.184.216.34", 80))
    >>> try:
    ...     require_public("a.test", ("10.0.0.1", 80))
    ... except FetchError as exc:
    ...     print(exc)
    a.test is at 10.0.0.1, which is not on the public Internet; --allow-private crawls it
    """
    address = sockaddr[0] if isinstance(sockaddr, tuple) and sockaddr else sockaddr
    if isinstance(address, str) and address is not sockaddr and is_public(address):
        return
    raise _refusal(f"{host} is at {address}, which")


def require_public_host(host: str) -> None:
    """Raise FetchError if a host is private by its name alone, without resolving it.

    This suffices where a proxy resolves the names: the proxy must then check the addresses.

    Args:
        host: As returned by `crawler_app.base.urls.host_of`.

    Raises:
        FetchError: ``private_address``.

    >>> require_public_host("a.test")
    """
    if is_private_host(host):
        raise _refusal(host)


def _refusal(subject: str) -> FetchError:
    return FetchError(
        Reason.PRIVATE_ADDRESS,
        f"{subject} is not on the public Internet; --allow-private crawls it",
    )


@functools.lru_cache(maxsize=1000)
def is_private_host(host: str) -> bool:
    """Return whether a host, as returned by `crawler_app.base.urls.host_of`, is certainly private.

    True for an address that is not public and for a name of this machine.  Any other name
    has to be resolved first.

    >>> is_private_host("192.168.1.1:8000"), is_private_host("localhost:8000")
    (True, True)
    >>> is_private_host("a.test"), is_private_host("[2606:4700::1111]")
    (False, False)
    """
    name = name_of(host)
    if not is_literal(name):
        return is_loopback(host)
    return not is_public(_plain(name))


def is_literal(name: str) -> bool:
    """Return whether a host without its port is an address, in any notation.

    >>> is_literal("[::1]"), is_literal("127.1"), is_literal("0x7f000001")
    (True, True, True)
    >>> is_literal("1.a.test")
    False
    """
    return name.startswith("[") or _NUMBER_AT_END.fullmatch(name) is not None


def _plain(literal: str) -> str:
    """Return an address in the notation that `ipaddress` accepts."""
    if literal.startswith("["):
        return literal.strip("[]")
    try:
        # As resolvers do: 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 are all 127.0.0.1.
        return socket.inet_ntoa(socket.inet_aton(literal.removesuffix(".")))
    except (OSError, ValueError):
        return literal


def _is_public_ipv4(ip: IPv4Address) -> bool:
    return not any(ip in network for network in PRIVATE_IPV4)


def _is_public_ipv6(ip: IPv6Address) -> bool:
    if ip.scope_id is not None:
        return False
    for prefix, bits_after in BITS_AFTER_IPV4:
        if ip in prefix:
            return _is_public_ipv4(_ipv4_within(ip, bits_after))
    if ip not in GLOBAL_UNICAST or any(ip in network for network in PRIVATE_IPV6):
        return False
    is_isatap = int(ip) >> 32 & 0xFFFF_FFFF in ISATAP_MARKS
    return not is_isatap or _is_public_ipv4(_ipv4_within(ip, 0))


def _ipv4_within(ip: IPv6Address, bits_after: int) -> IPv4Address:
    return IPv4Address(int(ip) >> bits_after & 0xFFFF_FFFF)
