"""Converts an HTTPRequest to bytes, and finds the key of its connection.

Pure.  Rule: every option of an HTTPRequest is either honored or refused with an error
message, before anything is sent.
"""

import base64
import functools
import ipaddress
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import ada_url
import tornado
from tornado.httpclient import HTTPRequest
from tornado.httputil import encode_username_password

from crawler_app.web.httpclient.codings import ACCEPTED
from crawler_app.web.httpclient.tls import TlsOptions, tls_options

__all__ = [
    "DEFAULT_PORT_BY_SCHEME",
    "SECRET",
    "ConnectionKey",
    "OutgoingRequest",
    "Proxy",
    "basic_authorization",
    "outgoing",
    "settings_of",
]

DEFAULT_PORT_BY_SCHEME = {"http": 80, "https": 443}

# Of a ``proxy_host``, as in libcurl; the proxy resolves the names with either.
SOCKS_SCHEMES = ("socks5", "socks5h")
PROXY_SCHEMES = ("", "http", *SOCKS_SCHEMES)

METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
METHODS_WITH_BODY = {"POST", "PUT", "PATCH"}

# RFC 9110, 9.2.2: sending such a request twice has the same effect as sending it once.
IDEMPOTENT_METHODS = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"}

# If repeated, they would be ambiguous.
ONCE = {"Host", "Content-Length", "Transfer-Encoding"}

# Not cached, because a cache would keep them in memory after the request.
SECRET = {"Authorization", "Cookie", "Proxy-Authorization"}

USER_AGENT = f"Tornado/{tornado.version}"

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# A URL that needs neither splitting nor escaping.
_PLAIN_URL = re.compile(r"(https?)://([\w.\-]+(?::\d+)?)(/[!-\"$-~]*)?", re.ASCII)
_PLAIN_NETLOC = re.compile(r"([a-z0-9][a-z0-9.\-]*)(?::(\d{1,5}))?", re.ASCII)
# The characters that `quote` must not escape: all of visible ASCII.
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
# Not `str.isprintable`, which is false for a tab.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Proxy(NamedTuple):
    """A proxy for HTTP, or for SOCKS5.

    Attributes:
        username: None if the proxy needs no login.
    """

    host: str
    port: int
    username: str | None = None
    password: str = ""
    is_socks: bool = False

    @property
    def authorization(self) -> str:
        """The value of ``Proxy-Authorization``; empty if the proxy needs none."""
        if self.username is None or self.is_socks:
            return ""
        return basic_authorization(self.username, self.password)


class ConnectionKey(NamedTuple):
    """Everything that a connection depends on: equal keys may share one.

    Attributes:
        host: Without brackets; empty if the proxy takes requests for any host.
        source_ip: The local address to bind to; empty for any.
        tls: None for plain TCP.
    """

    scheme: str
    host: str
    port: int
    family: socket.AddressFamily = socket.AF_UNSPEC
    source_ip: str = ""
    proxy: Proxy | None = None
    tls: TlsOptions | None = None


@dataclass(slots=True)
class OutgoingRequest:
    """A request, ready to be sent.

    Attributes:
        head: Request line and header block, including the blank line.
        body: None if there is none, or if a producer writes it.
        length: The exact length of the body that a producer writes; None if chunked.
    """

    key: ConnectionKey
    method: str
    head: bytes
    body: bytes | None
    body_producer: Callable[[Callable[[bytes], Any]], Any] | None
    length: int | None
    waits_for_continue: bool
    wants_close: bool

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent again if the effect of the first time is unknown."""
        return self.method in IDEMPOTENT_METHODS and self.body_producer is None


class _Target(NamedTuple):
    scheme: str
    netloc: str
    path: str
    credentials: tuple[str, str] | None


def settings_of(request: HTTPRequest, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a request, with the defaults for those that are None."""
    # The properties `headers` and `body` of an HTTPRequest store `_headers` and `_body`.
    settings = vars(request).copy()
    for name, default in defaults.items():
        if settings.get(name) is None:
            settings[name] = default
    return settings


def outgoing(settings: Mapping[str, Any]) -> OutgoingRequest:
    """Build the request for the settings of an HTTPRequest.

    Raises:
        ValueError: the request is invalid; the text says why.

    >>> request = HTTPRequest("http://a.test/x?q")
    >>> outgoing(settings_of(request, HTTPRequest._DEFAULTS)).head.split(b"\\r\\n")[:2]
    [b'GET /x?q HTTP/1.1', b'Host: a.test']
    """
    _refuse_unsupported(settings)
    target = _split(settings["url"])
    proxy = _proxy(settings)
    key = _connection_key(settings, target, proxy)
    method = _method(settings)
    items = tuple(settings["_headers"].get_all())
    given = _fields(items)
    own = _own_fields(settings, method, target, given)
    if proxy is not None and proxy.authorization and key.tls is None:
        own["Proxy-Authorization"] = proxy.authorization
    if not given.value_by_name.keys().isdisjoint(own):
        given = _fields(tuple(item for item in items if item[0] not in own))
    start = f"{method} {_request_target(target, proxy)} HTTP/1.1\r\n"
    if "Host" not in given.value_by_name:
        start += f"Host: {target.netloc}\r\n"
    return OutgoingRequest(
        key=key,
        method=method,
        head=b"".join(
            (
                start.encode("ascii"),
                _fields(tuple(own.items())).encoded,
                given.encoded,
                b"\r\n",
            )
        ),
        body=settings["_body"],
        body_producer=settings["body_producer"],
        length=_produced_length(settings, given),
        waits_for_continue="Expect" in own,
        wants_close="close" in given.value_by_name.get("Connection", "").lower(),
    )


class _Fields(NamedTuple):
    """Header fields: the last value of each name, and their encoding for the wire."""

    value_by_name: Mapping[str, str]
    encoded: bytes


def _fields(items: tuple[tuple[str, str | bytes], ...]) -> _Fields:
    for name, _ in items:
        if name in SECRET:
            return _make_fields(items)
    return _known_fields(items)


def _make_fields(items: tuple[tuple[str, str | bytes], ...]) -> _Fields:
    fields = [
        (name, value.decode("utf-8") if isinstance(value, bytes) else value)
        for name, value in items
    ]
    for name, value in fields:
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid header name")
        if _FORBIDDEN.search(value):
            raise ValueError(f"{name} has a control character: {value!r}")
    value_by_name = dict(fields)
    for name in ONCE & value_by_name.keys():
        if sum(name == other for other, _ in fields) > 1:
            raise ValueError(f"{name} is given more than once")
    text = "".join(f"{name}: {value}\r\n" for name, value in fields)
    try:
        return _Fields(value_by_name, text.encode("latin-1"))
    except UnicodeEncodeError as exc:
        raise ValueError(
            f"{exc.object[exc.start : exc.end]!r} is not allowed in a header; "
            "only latin-1 characters are"
        ) from None


# Most requests of a program have the same header fields, so few entries are needed.
_known_fields = functools.lru_cache(256)(_make_fields)


def _refuse_unsupported(settings: Mapping[str, Any]) -> None:
    if settings["prepare_curl_callback"] is not None:
        raise ValueError("prepare_curl_callback is only for curl_httpclient")
    for name in ("auth_mode", "proxy_auth_mode"):
        if settings[name] not in (None, "basic"):
            raise ValueError(
                f"unsupported {name} {settings[name]!r}; this client supports 'basic'"
            )
    for name in ("connect_timeout", "request_timeout", "max_redirects"):
        value = settings[name]
        if not (isinstance(value, int | float) and value >= 0):
            raise ValueError(f"{name} is {value!r}; it must be a number, 0 or more")
    if settings["_body"] is not None and settings["body_producer"] is not None:
        raise ValueError("a request has a body or a body_producer, not both")


def _split(url: str) -> _Target:
    plain = _PLAIN_URL.fullmatch(url)
    if plain is not None:
        return _Target(plain[1], plain[2], plain[3] or "/", None)
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORT_BY_SCHEME:
        raise ValueError(f"Unsupported url scheme: {url}")
    userinfo, at, netloc = parts.netloc.rpartition("@")
    credentials = None
    if at:
        username, _, password = userinfo.partition(":")
        credentials = (unquote(username), unquote(password))
    path = parts.path or "/"
    if "?" in url.partition("#")[0]:
        path = f"{path}?{parts.query}"
    netloc = _ascii_netloc(parts.scheme, netloc)
    return _Target(parts.scheme, netloc, quote(path, _VISIBLE), credentials)


def _ascii_netloc(scheme: str, netloc: str) -> str:
    if netloc.isascii():
        return netloc
    try:
        return str(ada_url.URL(f"{scheme}://{netloc}").host)
    except ValueError:
        raise ValueError(f"{netloc!r} is not a host name") from None


# A program asks each of its hosts many times.
@functools.lru_cache(1024)
def _address(scheme: str, netloc: str) -> tuple[str, int]:
    plain = _PLAIN_NETLOC.fullmatch(netloc)
    if plain is not None and plain[2] is None:
        return plain[1], DEFAULT_PORT_BY_SCHEME[scheme]
    if plain is not None and int(plain[2]) < 65536:
        return plain[1], int(plain[2])
    parts = urlsplit(f"//{netloc}")
    if not parts.hostname or not parts.hostname.isprintable() or " " in netloc:
        raise ValueError(f"{netloc!r} has no host")
    port = DEFAULT_PORT_BY_SCHEME[scheme] if parts.port is None else parts.port
    return parts.hostname, port


def _proxy(settings: Mapping[str, Any]) -> Proxy | None:
    host, port = settings["proxy_host"], settings["proxy_port"]
    if not host and not port:
        return None
    if not host or not port:
        raise ValueError("proxy_host and proxy_port must be given together")
    if not (isinstance(port, int) and 0 < port < 65536):
        raise ValueError(f"proxy_port is {port!r}; it must be a port number")
    password = settings["proxy_password"] or ""
    scheme, _, host = host.rpartition("://")
    if scheme not in PROXY_SCHEMES:
        raise ValueError(f"a proxy of {scheme}:// is not supported; socks5h:// is")
    return Proxy(
        host.strip("[]"),
        port,
        settings["proxy_username"],
        password,
        is_socks=scheme in SOCKS_SCHEMES,
    )


def _connection_key(
    settings: Mapping[str, Any], target: _Target, proxy: Proxy | None
) -> ConnectionKey:
    host, port = _address(target.scheme, target.netloc)
    family = socket.AF_UNSPEC
    if settings["allow_ipv6"] is False:
        family = socket.AF_INET
    tls = None
    if target.scheme == "https":
        tls = tls_options(
            settings["ssl_options"],
            settings["validate_cert"],
            settings["ca_certs"],
            settings["client_cert"],
            settings["client_key"],
        )
    elif proxy is not None and not proxy.is_socks:
        host, port = "", 0  # the connection can carry requests for any host
    return ConnectionKey(
        target.scheme, host, port, family, _source_ip(settings), proxy, tls
    )


def _source_ip(settings: Mapping[str, Any]) -> str:
    interface = settings["network_interface"]
    if not interface:
        return ""
    try:
        return str(ipaddress.ip_address(interface))
    except ValueError:
        raise ValueError(
            f"network_interface is {interface!r}; it must be a local IP address"
        ) from None


def _method(settings: Mapping[str, Any]) -> str:
    method: str = settings["method"]
    if settings["allow_nonstandard_methods"]:
        if not _TOKEN.fullmatch(method) or method == "CONNECT":
            raise ValueError(f"{method!r} is not a method that can be sent")
        return method
    if method not in METHODS:
        raise ValueError(
            f"unknown method {method!r}; it needs allow_nonstandard_methods=True"
        )
    # Some methods nearly always have a body, others almost never.  The text is Tornado's.
    if _has_body(settings) != (method in METHODS_WITH_BODY):
        wanted = "must not be" if method in METHODS_WITH_BODY else "must be"
        raise ValueError(
            f"the body {wanted} None for method {method} "
            "(unless allow_nonstandard_methods is true)"
        )
    return method


def _has_body(settings: Mapping[str, Any]) -> bool:
    return settings["_body"] is not None or settings["body_producer"] is not None


def _request_target(target: _Target, proxy: Proxy | None) -> str:
    if proxy is not None and not proxy.is_socks and target.scheme == "http":
        return f"http://{target.netloc}{target.path}"
    return target.path


def _own_fields(
    settings: Mapping[str, Any], method: str, target: _Target, given: _Fields
) -> dict[str, str]:
    """Return the fields that precede, and replace, those of the program."""
    names = given.value_by_name
    own: dict[str, str] = {}
    if settings["user_agent"]:
        own["User-Agent"] = settings["user_agent"]
    elif "User-Agent" not in names:
        own["User-Agent"] = USER_AGENT
    if settings["decompress_response"] and "Accept-Encoding" not in names:
        own["Accept-Encoding"] = ACCEPTED
    if target.credentials is not None:
        own["Authorization"] = basic_authorization(*target.credentials)
    elif settings["auth_username"] or settings["auth_password"]:
        own["Authorization"] = basic_authorization(
            settings["auth_username"] or "", settings["auth_password"] or ""
        )
    if _has_body(settings) or method in METHODS_WITH_BODY:
        _add_body_fields(own, settings, method, names)
    elif "Transfer-Encoding" in names or names.get("Content-Length", "0") != "0":
        raise ValueError("Content-Length or Transfer-Encoding without a body")
    return own


def _add_body_fields(
    own: dict[str, str],
    settings: Mapping[str, Any],
    method: str,
    names: Mapping[str, str],
) -> None:
    if method == "POST" and "Content-Type" not in names:
        own["Content-Type"] = "application/x-www-form-urlencoded"
    if settings["expect_100_continue"] and _has_body(settings):
        own["Expect"] = "100-continue"
    # Two lengths, or a length and chunks, would be interpreted differently by different
    # servers.
    if settings["body_producer"] is None:
        if "Transfer-Encoding" in names:
            raise ValueError("Transfer-Encoding is only for a body_producer")
        own["Content-Length"] = str(len(settings["_body"] or b""))
    elif "Content-Length" not in names:
        own["Transfer-Encoding"] = "chunked"
    elif "Transfer-Encoding" in names:
        raise ValueError("a request has a Content-Length or is chunked, not both")


def _produced_length(settings: Mapping[str, Any], given: _Fields) -> int | None:
    """Return how many bytes a producer has to write; None if unknown."""
    if settings["body_producer"] is None:
        return None
    length = given.value_by_name.get("Content-Length")
    if length is None:
        return None
    if not (length.isascii() and length.isdecimal()):
        raise ValueError(f"Content-Length is {length!r}; it must be a number")
    return int(length)


def basic_authorization(username: str, password: str) -> str:
    """Return the value of an ``Authorization`` header for Basic authentication.

    Source: RFC 7617, 2.1: UTF-8 is what current servers expect.

    >>> basic_authorization("me", "secret")
    'Basic bWU6c2VjcmV0'
    """
    encoded = base64.b64encode(encode_username_password(username, password))
    return f"Basic {encoded.decode('ascii')}"
