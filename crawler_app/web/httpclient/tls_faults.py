"""Says in words why a TLS handshake failed.

Pure.  OpenSSL gives a code; what a person needs (the date, the names, the issuer) is in the
certificates that the server has sent.
"""

import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["UNTRUSTED", "NotTlsError", "explain"]

# A certificate as `ssl.SSLSocket.getpeercert` returns it.
Certificate: TypeAlias = Mapping[str, Any]

# Codes of OpenSSL (x509_vfy.h).
NOT_YET_VALID, EXPIRED, SELF_SIGNED, SELF_SIGNED_IN_CHAIN, NO_ISSUER = 9, 10, 18, 19, 20
UNTRUSTED = (SELF_SIGNED, SELF_SIGNED_IN_CHAIN, NO_ISSUER)
WRONG_NAMES = (62, 64)  # of a host, of an IP address

# The names of a large certificate would fill the screen.
MAX_NAMES = 3
MAX_NAME_CHARS = 80


class NotTlsError(ssl.SSLError):
    """The server has answered in plain HTTP."""


def explain(code: int, message: str, host: str, chain: Sequence[Certificate]) -> str:
    """Return why a certificate is not accepted.

    Args:
        code: The ``verify_code`` of an `ssl.SSLCertVerificationError`.
        message: Its ``verify_message``, which is returned for other codes.
        host: The name that the certificate must have.
        chain: The certificates that the server has sent, its own first; may be empty.

    >>> dated = {"subject": ((("commonName", "a.test"),),), "notAfter": "May  1 08:00:00 2024 GMT"}
    >>> explain(10, "certificate has expired", "a.test", [dated])
    "the certificate of 'a.test' expired on 2024-05-01"
    """
    if not chain:
        return message
    own, last = chain[0], chain[-1]
    if code == EXPIRED:
        now = time.time()
        late = next((c for c in chain if _time_of(c, "notAfter") < now), own)
        return f"the certificate of {_name(late)} expired on {_day(late, 'notAfter')}"
    if code == NOT_YET_VALID:
        return f"the certificate of {_name(own)} begins on {_day(own, 'notBefore')}"
    if code == SELF_SIGNED:
        return f"the certificate of {_name(own)} is self-signed"
    if code == SELF_SIGNED_IN_CHAIN:
        return f"the authority {_name(last)} is not trusted here"
    if code == NO_ISSUER:
        return (
            f"the issuer {_name(last, 'issuer')} of the certificate of {_name(last)} is not "
            "trusted here, and the server does not send its certificate"
        )
    if code in WRONG_NAMES:
        return f"the certificate is for {_hosts(own)}, not for {host}"
    return message


def _time_of(certificate: Certificate, key: str) -> float:
    return ssl.cert_time_to_seconds(certificate[key])


def _day(certificate: Certificate, key: str) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(_time_of(certificate, key)))


def _name(certificate: Certificate, whose: str = "subject") -> str:
    """Return the common name of the subject or issuer, or what else it is called."""
    names = {key: value for part in certificate.get(whose, ()) for key, value in part}
    text = names.get("commonName") or ", ".join(names.values()) or "unnamed"
    return repr(text[:MAX_NAME_CHARS])


def _hosts(certificate: Certificate) -> str:
    names = [name for _, name in certificate.get("subjectAltName", ())]
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(n[:MAX_NAME_CHARS] for n in names[:MAX_NAMES]) + more or "no host"
