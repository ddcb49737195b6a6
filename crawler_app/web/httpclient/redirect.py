"""Builds the request that follows a redirect.

Pure.  The rules are those of simple_httpclient and libcurl: which method is used, and that no
HTTP credentials are sent to another origin.
"""

import copy
from urllib.parse import quote

import ada_url
from tornado.httpclient import HTTPRequest

from crawler_app.web.httpclient.request import SECRET
from crawler_app.web.httpclient.response import ResponseHead

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
    target = _target(request.url, head.headers.get_list("Location")[0])
    if target.origin == ada_url.URL(original.url).origin:
        if not (target.username or target.password):
            source = ada_url.URL(request.url)
            target.username, target.password = source.username, source.password
    else:
        if target.username or target.password:
            target.username = target.password = ""
        following.auth_username = following.auth_password = ""  # None is the default
        for name in SECRET:
            following.headers.pop(name, None)
    following.url = target.href
    if _becomes_get(request.method, head.status):
        following.method = "GET"
        following.body = None  # type: ignore[assignment]  # as in its constructor
        following.body_producer = None
        for name in _ABOUT_THE_BODY:
            following.headers.pop(name, None)
    return following


def _target(url: str, location: str) -> ada_url.URL:
    reference = _reference(location)
    try:
        return ada_url.URL(reference, url)
    except ValueError:
        raise ValueError(f"a redirect to {reference!r}, which is not a URL") from None


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
        return quote(octets, safe=bytes(range(128)))


def _becomes_get(method: str, status: int) -> bool:
    if status == 303:
        return method != "HEAD"
    return status in (301, 302) and method == "POST"
