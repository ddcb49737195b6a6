"""TLS contexts, cached by their options.

Creating a context reads the system's certificates, which takes longer than a hundred fetches,
so each is created once and shared by all clients.
"""

import functools
import os
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from tornado.netutil import ssl_options_to_context

__all__ = ["TlsOptions", "Verification", "context_of", "tls_options"]

# Enough for all client certificates of a program; more would only waste memory.
MAX_CONTEXTS = 64

# The keys allowed in `ssl_options` if it is a dict.
DICT_OPTIONS = {
    "ca_certs",
    "cert_reqs",
    "certfile",
    "ciphers",
    "keyfile",
    "ssl_version",
}


class Verification(NamedTuple):
    """The TLS options of an HTTPRequest, if it has no ``ssl_options``."""

    validate_cert: bool
    ca_certs: str | None
    client_cert: str | None
    client_key: str | None


# The TLS options of an HTTPRequest, or its ssl_options: a context, or the items of a dict.
TlsOptions: TypeAlias = Verification | ssl.SSLContext | tuple[tuple[str, Any], ...]

_USUAL = Verification(True, None, None, None)


def tls_options(
    ssl_options: Mapping[str, Any] | ssl.SSLContext | None = None,
    validate_cert: bool = True,
    ca_certs: str | None = None,
    client_cert: str | None = None,
    client_key: str | None = None,
) -> TlsOptions:
    """Return the TLS options of a request as a hashable value.

    Raises:
        ValueError: a name in ssl_options is unknown, or a key has no certificate.
    """
    if ssl_options is None:
        if client_key and not client_cert:
            raise ValueError("client_key is given, but no client_cert")
        if validate_cert and not (ca_certs or client_cert or client_key):
            return _USUAL
        return Verification(bool(validate_cert), ca_certs, client_cert, client_key)
    if isinstance(ssl_options, ssl.SSLContext):
        return ssl_options
    unknown = ssl_options.keys() - DICT_OPTIONS
    if unknown:
        raise ValueError(
            f"unknown ssl_options {sorted(unknown)}; supported: {sorted(DICT_OPTIONS)}"
        )
    return tuple(sorted(ssl_options.items()))


def context_of(options: TlsOptions) -> ssl.SSLContext:
    """Return the context for these options.

    Changed certificate files are read again, for new connections.

    Raises:
        OSError: a file cannot be read; `ssl.SSLError` if it holds no certificate.
    """
    if isinstance(options, ssl.SSLContext):
        return options
    names = dict(options) if not isinstance(options, Verification) else {}
    if isinstance(options, Verification):
        files = (options.ca_certs, options.client_cert, options.client_key)
    else:
        files = (names.get("ca_certs"), names.get("certfile"), names.get("keyfile"))
    return _make_context(options, tuple(map(_stamp, files)))


def _stamp(path: str | None) -> tuple[int, int] | None:
    if path is None:
        return None
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(MAX_CONTEXTS)
def _make_context(options: Any, stamps: tuple[Any, ...]) -> ssl.SSLContext:
    if not isinstance(options, Verification):
        context = ssl_options_to_context(dict(options), server_side=False)
        context.hostname_checks_common_name = False
        return context
    context = ssl.create_default_context(cafile=options.ca_certs)
    # RFC 9525, 1.4: the names are in subjectAltName.  Browsers have ignored the subject
    # since 2017; OpenSSL takes it if there is no subjectAltName.
    context.hostname_checks_common_name = False
    if not options.validate_cert:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if options.client_cert is not None:
        context.load_cert_chain(options.client_cert, options.client_key)
    context.set_alpn_protocols(["http/1.1"])
    return context
