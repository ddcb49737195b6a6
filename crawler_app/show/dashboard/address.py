"""The address of the dashboard, and the host names accepted in requests.

Pure.  Rule: a host name is accepted only if no other site can have it: an IP address,
``localhost``, or the name given to listen at.  So no site can point its own name at this
machine and make a visitor's browser talk to us (DNS rebinding).
"""

import ipaddress
import re

from crawler_app.base.errors import ConfigError

__all__ = [
    "ANY_PORT",
    "LOOPBACK",
    "is_loopback",
    "is_own_name",
    "parse_address",
    "place_of",
]

LOOPBACK = "127.0.0.1"
ANY_PORT = f"{LOOPBACK}:0"

# A port has 16 bits.
MAX_PORT = 65535

_ADDRESS = re.compile(r"(?:(?P<host>\[[^\[\]]*\]|[\w.-]*):)?(?P<port>[0-9]+)", re.ASCII)
_HOST_HEADER = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]+)?", re.IGNORECASE
)


def parse_address(text: str) -> tuple[str, int]:
    """Return the host and the port of an address; port 0 is any free port.

    Raises:
        ConfigError: it is not a valid address.

    >>> parse_address("8080"), parse_address("[::1]:0")
    (('127.0.0.1', 8080), ('::1', 0))
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        advice = "give ADDR:PORT, as in 127.0.0.1:8080"
        if "/" in text:
            advice += "; if it is the URL to crawl, write it before --dashboard"
        raise ConfigError(f"--dashboard {text}: not an address to listen at; {advice}")
    port = int(match["port"])
    if port > MAX_PORT:
        raise ConfigError(f"--dashboard {text}: the highest port is {MAX_PORT}")
    host = match["host"] or LOOPBACK
    if host.startswith("["):
        host = host[1:-1]
        if not _is_ip(host):
            raise ConfigError(
                f"--dashboard {text}: {host} is not an IPv6 address; use brackets only "
                "around those"
            )
    return host, port


def place_of(host: str, port: int) -> str:
    """Return an address as written in a URL.

    A server that listens at all addresses of a machine gets the loopback address.

    >>> place_of("::1", 80), place_of("0.0.0.0", 80)
    ('[::1]:80', '127.0.0.1:80')
    """
    if _is_ip(host):
        address = ipaddress.ip_address(host)
        if address.is_unspecified:
            host = LOOPBACK if address.version == 4 else "::1"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether an IP address can be reached only from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::"), is_loopback("192.0.2.1")
    (True, False, False)
    """
    return ipaddress.ip_address(host).is_loopback


def is_own_name(host_header: str, own_name: str) -> bool:
    """Return whether a ``Host`` header can only mean the dashboard.

    Args:
        own_name: The name or address at which the dashboard listens.

    >>> is_own_name("192.0.2.1:8080", "0.0.0.0"), is_own_name("a.test:8080", "0.0.0.0")
    (True, False)
    """
    match = _HOST_HEADER.fullmatch(host_header)
    if match is None:
        return False
    name = match["host"].strip("[]").lower()
    return name in ("localhost", own_name.lower()) or _is_ip(name)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
