"""Access control of the dashboard: every request needs the token.

Rule: access is checked before anything else in a request is looked at.
"""

import hmac
import secrets
from collections.abc import Mapping

from tornado.httputil import HTTPServerRequest

from crawler_app.base.errors import ConfigError
from crawler_app.show.dashboard.address import is_own_name

__all__ = ["TOKEN_VARIABLE", "Access", "token_from"]

# For clients that need the same URL each time, such as Prometheus.
TOKEN_VARIABLE = "GENCRAWL_DASHBOARD_TOKEN"

# 16 characters of base64 are 96 bits.
MIN_TOKEN_CHARS = 16
TOKEN_BYTES = 24

NOT_OUR_NAME = "Use the address of the dashboard that the crawl has printed."
NO_TOKEN = "Open the complete URL that the crawl has printed, with its token."
OTHER_SITE = "Only the dashboard's own page may do that."


def token_from(environment: Mapping[str, str]) -> str:
    """Return the token in the environment, or a new one.

    Raises:
        ConfigError: the token in the environment is too short to be a secret, or has
            characters that are not allowed in a header.

    >>> token_from({"GENCRAWL_DASHBOARD_TOKEN": "correct-horse-battery"})
    'correct-horse-battery'
    >>> len(token_from({}))
    32
    """
    token = environment.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(TOKEN_BYTES)
    if len(token) < MIN_TOKEN_CHARS:
        raise ConfigError(
            f"{TOKEN_VARIABLE} has only {len(token)} characters; anyone who guesses it "
            f"can stop the crawl, so use {MIN_TOKEN_CHARS} or more, or leave it unset"
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{TOKEN_VARIABLE} has characters that are not allowed in a header; use "
            "letters, digits, - and _"
        )
    return token


class Access:
    """Decides which requests are allowed.

    Args:
        token: The secret that every request must carry.
        own_name: The name or address at which the dashboard listens.
    """

    def __init__(self, token: str, own_name: str) -> None:
        self._token = token.encode()
        self._own_name = own_name

    def refusal(self, request: HTTPServerRequest) -> str:
        """Return why a request is refused, in a sentence; empty if it is allowed."""
        if not is_own_name(request.headers.get("Host", ""), self._own_name):
            return NOT_OUR_NAME
        if not hmac.compare_digest(_token_of(request), self._token):
            return NO_TOKEN
        if request.method != "GET" and not _is_of_same_site(request):
            return OTHER_SITE
        return ""


def _token_of(request: HTTPServerRequest) -> bytes:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip().encode()
    return request.query_arguments.get("token", [b""])[-1]


def _is_of_same_site(request: HTTPServerRequest) -> bool:
    """Return whether a request comes from our page, or from no page, as with curl."""
    origin = request.headers.get("Origin")
    return (
        origin is None or origin.lower() == f"http://{request.headers['Host']}".lower()
    )
