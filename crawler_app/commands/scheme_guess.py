"""Guesses the scheme of a start URL that was given without one: https, else http.

Rule: nothing is asked past a proxy, which may be there to hide that.
"""

import re
import socket
import ssl
import sys
from collections.abc import Iterable
from urllib.parse import urlsplit

__all__ = ["with_schemes"]

# A host with a dot or a port, and perhaps a path; not a file, nor a password.
_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+\.?|[\w-]+(?=:))(:\d{1,5})?([/?#].*)?")

# Some servers of plain HTTP wait for more when they are spoken to in TLS.
ASK_FOR_S = 3.0


def with_schemes(seeds: Iterable[str], has_proxy: bool) -> list[str]:
    """Return the start URLs, with a scheme where it can be guessed; tell each guess.

    >>> with_schemes(["http://a.test/", "./folder"], False)
    ['http://a.test/', './folder']
    """
    return [_with_scheme(seed, has_proxy) for seed in seeds]


def _with_scheme(seed: str, has_proxy: bool) -> str:
    if not _HOST.fullmatch(seed):
        return seed  # has one, or is refused with the cure
    scheme = "https" if has_proxy else _scheme_of(seed)
    url = f"{scheme}://{seed}"
    print(f"Starting at {url}, since no scheme was given.", file=sys.stderr)
    return url


def _scheme_of(seed: str) -> str:
    """Return http if only that is answered: what is wrong with https, the crawl says."""
    try:
        parts = urlsplit(f"//{seed}")
        host, port = parts.hostname or "", parts.port
    except ValueError:  # the port is too large
        return "https"
    if _speaks_tls(host, port or 443):
        return "https"
    try:
        socket.create_connection((host, port or 80), ASK_FOR_S).close()
    except (OSError, UnicodeError):
        return "https"
    return "http"


def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False  # whether the certificate is valid, the crawl says
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), ASK_FOR_S) as sock,
            context.wrap_socket(sock, server_hostname=host),
        ):
            return True
    except ssl.SSLError as exc:
        return "ALERT" in (exc.reason or "")
    except (OSError, UnicodeError):
        return False
