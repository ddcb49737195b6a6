"""SURT: sort-friendly keys by which replay tools look up URLs.

Pure.  The key must equal theirs, or they find nothing.  So it drops what they drop:
``www.``, session ids and the case of the path.

Source: the `surt` package of the Internet Archive, which pywb and cdxj-indexer use.
"""

import contextlib
import functools
import re
import socket
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from crawler_app.base.urls import DEFAULT_PORT_BY_SCHEME

__all__ = ["surt"]

_WWW = re.compile(r"www\d*\.")
_IP_NUMBERS = re.compile(r"\d+(\.\d+){0,3}", re.ASCII)

# Printable ASCII except "#" and "%".
_KEPT = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"

_PATH_SESSION_IDS = (
    re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$"),
    re.compile(r"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$"),
)
_QUERY_SESSION_IDS = tuple(
    re.compile(rf"^(.*)(?:{pattern})(?:&(.*))?$", re.IGNORECASE)
    for pattern in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "ASPSESSIONID[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)


# Most URLs: nothing in the path but its case and a slash at the end needs a change.
_PLAIN_URL = re.compile(
    r"(https?://[a-z0-9.-]+(?::\d+)?)((?:/[a-z0-9_~-][a-z0-9_.~-]*)*)/?",
    re.ASCII | re.IGNORECASE,
)


def surt(url: str) -> str:
    """Return the SURT key of a canonical URL; anything else is returned unchanged.

    >>> surt("https://www.Example.com:8443/A//b/?z=1&b=2")
    'com,example:8443)/a/b?b=2&z=1'
    """
    if (plain := _PLAIN_URL.fullmatch(url)) is None:
        return _surt(url)
    origin, path = plain.groups()
    return _surt_origin(origin) + (path.lower() or "/")


@functools.lru_cache(maxsize=1024)
def _surt_origin(origin: str) -> str:
    return _surt(f"{origin}/")[:-1]


def _surt(url: str) -> str:
    if url.startswith("urn:"):
        return url.lower().removesuffix("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    is_default = port is None or port == DEFAULT_PORT_BY_SCHEME.get(parts.scheme)
    key = _surt_host(parts.hostname or "") + ("" if is_default else f":{port}")
    query = _query_key(parts.query)
    return f"{key}){_path_key(parts.path)}" + (f"?{query}" if query else "")


def _surt_host(host: str) -> str:
    host = host.replace("..", ".").strip(".")
    if _IP_NUMBERS.fullmatch(host):
        with contextlib.suppress(OSError):  # not an address after all
            host = socket.inet_ntoa(socket.inet_aton(host))
    if www := _WWW.match(host):
        host = host[www.end() :]
    return ",".join(reversed(host.split(".")))


def _path_key(path: str) -> str:
    segments = _without_empty_segments(_unescaped(path))
    path = quote_from_bytes(segments, safe=_KEPT).lower()
    for pattern in _PATH_SESSION_IDS:
        path = pattern.sub(r"\1\2", path)
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _without_empty_segments(path: bytes) -> bytes:
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    *directories, name = kept or [b""]
    return b"/" + b"".join(part + b"/" for part in directories if part) + name


def _query_key(query: str) -> str:
    query = quote_from_bytes(_unescaped(query), safe=_KEPT)
    for pattern in _QUERY_SESSION_IDS:
        query = pattern.sub(lambda match: match[1] + (match[2] or ""), query)
    arguments = [tuple(part.split("=", 1)) for part in query.lower().split("&")]
    return "&".join("=".join(argument) for argument in sorted(arguments))


def _unescaped(text: str) -> bytes:
    """Undo percent-escapes, also of escapes, until none is left."""
    before = text.encode()
    while (after := unquote_to_bytes(before)) != before:
        before = after
    return after
