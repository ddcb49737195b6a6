"""Matching a certificate against a host name, like `ssl.match_hostname` until Python
3.11.

Pure.  Legacy code calls it through `tornado.netutil` after its own handshake; today TLS
does it itself, with ``check_hostname``.
"""

import ipaddress
import ssl
from collections.abc import Mapping
from typing import Any

__all__ = ["match_hostname"]


def match_hostname(cert: Mapping[str, Any], hostname: str) -> None:
    """Raise an error unless a certificate is valid for a host.

    The subject is used only if there are no alternative names (RFC 6125, 6.4.4); the first
    label of a name can be ``*`` (6.4.3).

    Args:
        cert: The result of ``getpeercert()`` of an `ssl.SSLSocket`.
        hostname: A host name or an IP address.

    Raises:
        ssl.CertificateError: the certificate is for other hosts.
        ValueError: cert is empty, since no certificate was verified.

    >>> match_hostname({"subjectAltName": (("DNS", "*.a.test"),)}, "www.a.test")
    >>> match_hostname({"subjectAltName": (("DNS", "*.a.test"),)}, "a.test")
    Traceback (most recent call last):
    ...
    ssl.SSLCertVerificationError: ("the certificate is for '*.a.test', not for 'a.test'",)
    """
    if not cert:
        raise ValueError(
            "there is no certificate to match; set verify_mode to CERT_REQUIRED"
        )
    alternatives: Any = cert.get("subjectAltName", ())
    names = [value for kind, value in alternatives if kind == "DNS"]
    addresses = [value for kind, value in alternatives if kind == "IP Address"]
    if not names and not addresses:
        parts = [part for parts in cert.get("subject", ()) for part in parts]
        names = [value for key, value in parts if key == "commonName"]
    address = _address(hostname)
    if address is not None:
        is_for_host = address in map(_address, addresses)
    else:
        is_for_host = any(_matches(name, hostname) for name in names)
    if not is_for_host:
        whose = ", ".join(map(repr, names + addresses)) or "no host"
        raise ssl.CertificateError(
            f"the certificate is for {whose}, not for {hostname!r}"
        )


def _matches(pattern: str, hostname: str) -> bool:
    first, _, rest = pattern.lower().partition(".")
    host_first, _, host_rest = hostname.lower().partition(".")
    if first != "*":
        return pattern.lower() == hostname.lower()
    return bool(rest and "*" not in rest and host_first) and rest == host_rest


def _address(
    text: str,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip())  # OpenSSL ends some with a newline
    except ValueError:
        return None
