"""Turns the exceptions of any `AsyncHTTPClient` into a `FetchError`."""

import re
import socket
import ssl
from http import HTTPStatus
from urllib.parse import urlsplit

from tornado.httpclient import HTTPClientError
from tornado.iostream import UnsatisfiableReadError
from tornado.simple_httpclient import HTTPTimeoutError

from crawler_app.base.errors import FetchError, StaleConnectionError
from crawler_app.base.models import Fetched
from crawler_app.base.reasons import HOST_FAULTS, Reason
from crawler_app.web.httpclient.errors import (
    AmbiguousResponseError,
    BadResponseError,
    ConnectionWasIdleError,
    ProxyError,
    ResponseTooLargeError,
)
from crawler_app.web.httpclient.request import DEFAULT_PORT_BY_SCHEME, Proxy
from crawler_app.web.httpclient.tls_faults import UNTRUSTED, NotTlsError

__all__ = ["fetch_error", "of_proxy", "refuse_answer", "wrong_scheme"]

# How nginx, Apache and Go answer plain HTTP at a port for TLS.
SAYS_TLS = re.compile(
    rb"plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled"
    rb"|sent an HTTP request to an HTTPS server"
)
WANTS_CERTIFICATE = b"No required SSL certificate was sent"  # nginx
GIVE_CERTIFICATE = (
    "the server asks for a client certificate; give it with --client-cert FILE"
)
MAX_SEARCHED_BYTES = 4096

# What the reasons of OpenSSL for a failed handshake end with, in words.
OLD_TLS = "the server has only old versions of TLS, which browsers refuse"
WORDS_BY_TLS_REASON = {
    "CERTIFICATE_REQUIRED": GIVE_CERTIFICATE,
    "HANDSHAKE_FAILURE": "the server refuses the handshake: it may have no cipher that "
    "browsers accept, or ask for a client certificate (--client-cert FILE)",
    "PROTOCOL_VERSION": OLD_TLS,
    "UNRECOGNIZED_NAME": "the server does not know the name of the host",
    "UNSUPPORTED_PROTOCOL": OLD_TLS,
    "WRONG_VERSION_NUMBER": "the server does not speak TLS at this port",
}

# libcurl's CURLE_ codes that have a reason of their own.
REASON_BY_CURL_ERROR = {
    3: Reason.BAD_REQUEST,  # URL_MALFORMAT
    5: Reason.DNS,  # COULDNT_RESOLVE_PROXY
    6: Reason.DNS,  # COULDNT_RESOLVE_HOST
    7: Reason.CONNECTION_REFUSED,  # COULDNT_CONNECT
    28: Reason.TIMEOUT,  # OPERATION_TIMEDOUT
    35: Reason.TLS,  # SSL_CONNECT_ERROR
    60: Reason.TLS,  # PEER_FAILED_VERIFICATION
    100: Reason.TOO_LARGE,  # TOO_LARGE: the head, or a decompressed chunk
}


def fetch_error(exc: Exception) -> FetchError:
    """Return the error with its reason, which tells whether it is worth a retry.

    >>> error = fetch_error(ConnectionRefusedError("connection refused"))
    >>> error.reason, error.is_passing
    (<Reason.CONNECTION_REFUSED: 'refused'>, True)
    """
    text = str(exc) or type(exc).__name__
    if isinstance(exc, ssl.SSLError):
        return FetchError(Reason.TLS, _tls_text(exc, text))
    if isinstance(exc, socket.gaierror):
        return FetchError(Reason.DNS, text)
    if isinstance(exc, ConnectionRefusedError):
        return FetchError(Reason.CONNECTION_REFUSED, text)
    if isinstance(exc, ConnectionError):
        # Reset, or aborted, after it was made: this may be due to the request.
        return FetchError(Reason.CONNECTION_CLOSED, text)
    if isinstance(exc, OSError):
        return FetchError(Reason.NETWORK, text)
    if isinstance(exc, UnsatisfiableReadError):
        return FetchError(Reason.TOO_LARGE, f"the head: {text}")
    if isinstance(exc, ResponseTooLargeError):
        return FetchError(Reason.TOO_LARGE, text)
    if isinstance(exc, ProxyError):
        return FetchError(Reason.PROXY_ERROR, exc.message or text)
    if isinstance(exc, ConnectionWasIdleError):
        return StaleConnectionError(Reason.CONNECTION_CLOSED, text)
    if isinstance(exc, AmbiguousResponseError):
        return FetchError(Reason.DANGEROUS, text)
    if isinstance(exc, BadResponseError):
        return FetchError(Reason.BAD_RESPONSE, text)
    if isinstance(exc, HTTPClientError):  # code 599: errors of the client itself
        return _client_error(exc, text.removeprefix("HTTP 599: "))
    return FetchError(Reason.BAD_REQUEST, f"{type(exc).__name__}: {text}")


def of_proxy(error: FetchError, proxy: Proxy | None) -> FetchError:
    """Return the error of a fetch; of one through a proxy, which alone connects to the host.

    >>> refused = FetchError(Reason.CONNECTION_REFUSED, "Connection refused")
    >>> error = of_proxy(refused, Proxy("b.test", 3128))
    >>> error.reason, str(error)
    (<Reason.PROXY_ERROR: 'proxy_error'>, 'proxy b.test:3128: Connection refused')
    """
    is_named = error.reason is Reason.PROXY_ERROR or "the proxy" in str(error)
    if proxy is None or not is_named and error.reason not in HOST_FAULTS:
        return error
    text = f"proxy {proxy.host}:{proxy.port}: {error}"
    if re.search(r"\b407\b", str(error)):
        text += "; give its login with --proxy USER:PASSWORD@HOST:PORT"
    return FetchError(Reason.PROXY_ERROR, text)


def wrong_scheme(url: str, exc: Exception) -> FetchError | None:
    """Return the error of a port that speaks HTTP in place of TLS, or the reverse.

    >>> error = wrong_scheme("https://a.test/x", NotTlsError(1, "no TLS"))
    >>> str(error)
    'the server speaks plain HTTP at this port; start with http://a.test:443/'
    """
    if isinstance(exc, NotTlsError):
        text = f"the server speaks plain HTTP at this port; start with {_other(url)}"
        return FetchError(Reason.TLS, text)
    if isinstance(exc, BadResponseError) and exc.is_tls:
        return _wants_tls(url)
    return None


def refuse_answer(fetched: Fetched, proxy: Proxy | None) -> None:
    """Raise FetchError if a response is the proxy's, or says what TLS lacks.

    >>> refuse_answer(Fetched("http://a.test/", 400, {}, b"It is malformed.", 0.1), None)
    """
    is_of_proxy = fetched.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
    # Squid tells its own refusal from the site's; for https it refuses the tunnel.
    is_of_proxy |= "ERR_ACCESS_DENIED" in fetched.headers.get("X-Squid-Error", "")
    if is_of_proxy and proxy is not None:
        error = FetchError(Reason.PROXY_ERROR, f"it answered with {fetched.status}")
        raise of_proxy(error, proxy)
    if fetched.status == HTTPStatus.BAD_REQUEST:
        url, head = fetched.url, fetched.body[:MAX_SEARCHED_BYTES]
        is_plain = url.startswith("http:")
        if is_plain and SAYS_TLS.search(head):
            raise _wants_tls(url)
        if not is_plain and WANTS_CERTIFICATE in head:
            raise FetchError(Reason.TLS, GIVE_CERTIFICATE)


def _wants_tls(url: str) -> FetchError:
    text = f"the server wants TLS at this port; start with {_other(url)}"
    return FetchError(Reason.TLS, text)


def _other(url: str) -> str:
    """Return the home page with the other scheme, and the same port.

    The URL itself may be that of robots.txt, which is asked for first.

    >>> _other("https://a.test/x")
    'http://a.test:443/'
    """
    parts = urlsplit(url)
    scheme = "http" if parts.scheme == "https" else "https"
    port = parts.port or DEFAULT_PORT_BY_SCHEME[parts.scheme]
    is_usual = port == DEFAULT_PORT_BY_SCHEME[scheme]
    host = parts.netloc.removesuffix(f":{parts.port}")
    netloc = host if is_usual else f"{host}:{port}"
    return f"{scheme}://{netloc}/"


def _tls_text(exc: ssl.SSLError, text: str) -> str:
    """Return the text of a TLS error, with what the user can do."""
    if getattr(exc, "verify_code", 0) in UNTRUSTED:
        return f"{text}; if you trust it, give its certificate with --ca FILE"
    reason = exc.reason or ""
    words = (w for end, w in WORDS_BY_TLS_REASON.items() if reason.endswith(end))
    return next(words, text)


def _client_error(exc: HTTPClientError, text: str) -> FetchError:
    if text.startswith("CONNECT tunnel"):
        return FetchError(Reason.PROXY_ERROR, text)
    reason = REASON_BY_CURL_ERROR.get(getattr(exc, "errno", 0))
    if reason is None:
        is_late = isinstance(exc, HTTPTimeoutError)
        reason = Reason.TIMEOUT if is_late else Reason.CONNECTION_CLOSED
    return FetchError(reason, text)
