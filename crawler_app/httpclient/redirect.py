"""Builds the request that follows a redirect.

Pure.  The rules are those of simple_httpclient and libcurl: which method is used, and that no
HTTP credentials are sent to another origin.
"""

import copy
import string
from urllib.parse import quote, urljoin, urlsplit

from tornado.httpclient import HTTPRequest

from crawler_app.httpclient.request import DEFAULT_PORT_BY_SCHEME, SECRET
from crawler_app.httpclient.response import ResponseHead

__all__ = ["redirected"]

_ABOUT_THE_BODY = (
    "Content-Length",
    "Content-Type",
    "Content-Encoding",
    "Transfer-Encoding",
)


def redirected(
    request: HTTPRequest, original: HTTPRequest, head: ResponseHead
) -> HTTPRequest:
    """Return the request that a redirect asks for.

    Args:
        request: The request that was redirected.
        original: The first of the chain; its origin may receive the credentials.

    Raises:
        ValueError: the target is not a valid URL.
    """
    following = copy.copy(request)
    following.headers = request.headers.copy()
    following.headers.pop("Host", None)
    # Some servers send it twice.
    location = head.headers.get_list("Location")[0]
    url = urljoin(request.url, _reference(location))
    if _origin(url) == _origin(original.url):
        url = _with_credentials(url, _userinfo(url) or _userinfo(request.url))
    else:
        url = _with_credentials(url, "")
        following.auth_username = following.auth_password = ""  # None is the default
        for name in SECRET:
            following.headers.pop(name, None)
    following.url = url
    if _becomes_get(request.method, head.status):
        following.method = "GET"
        following.body = None  # type: ignore[assignment]  # as in its constructor
        following.body_producer = None
        for name in _ABOUT_THE_BODY:
            following.headers.pop(name, None)
    return following


def _reference(location: str) -> str:
    """Return the reference in a Location header, in any charset.

    Args:
        location: Decoded as latin-1, which preserves each byte, as Tornado does.
    """
    octets = location.encode("latin-1", "replace")
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        # The charset is unknown, so each byte must be preserved.
        return quote(octets, safe=string.punctuation)


def _becomes_get(method: str, status: int) -> bool:
    if status == 303:
        return method != "HEAD"
    return status in (301, 302) and method == "POST"


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORT_BY_SCHEME.get(parts.scheme)
    return parts.scheme, parts.hostname, port


def _userinfo(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[0]


def _with_credentials(url: str, userinfo: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{userinfo}@{host}" if userinfo else host).geturl()
