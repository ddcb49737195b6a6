"""Cookies, and the ``Set-Cookie`` header that sets one.  Pure."""

import math
import re
from dataclasses import dataclass

from crawler_app.base.http_headers import http_date_at

__all__ = ["NOT_SENT", "Cookie", "read_set_cookie"]

# Source: RFC 6265, 6.1, which requires at least this much.
MAX_COOKIE_BYTES = 4096

# Characters that would end the Cookie header, or are not allowed in one.
NOT_SENT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]")
# RFC 6265, 5.2.  Not Python's default: a byte of UTF-8, read as latin-1, may be a space.
_SPACES = " \t"
# Browsers keep a cookie with such a name only if it is secure; the first also of this host.
_PREFIX = re.compile("__(?:(host)|secure)-", re.IGNORECASE)
_MAX_AGE = re.compile(r"-?[0-9]+")


@dataclass(slots=True, frozen=True)
class Cookie:
    """A cookie without its scope.

    Attributes:
        expires_at: Seconds since the epoch; infinite for a session cookie.
        set_at: When it was first set.
    """

    name: str
    value: str
    path: str
    is_secure: bool
    expires_at: float
    set_at: float = 0.0

    @property
    def pair(self) -> str:
        """Its part of a Cookie header."""
        return f"{self.name}={self.value}" if self.name else self.value

    def is_for(self, scheme: str, path: str, now: float) -> bool:
        """Return whether it is sent with a request.  Source: RFC 6265, 5.4 and 5.1.4."""
        if self.expires_at <= now or (self.is_secure and scheme != "https"):
            return False
        if not path.startswith(self.path):
            return False
        return self.path.endswith("/") or path[len(self.path) :][:1] in ("", "/")


def read_set_cookie(
    header: str, scheme: str, url_path: str, now: float
) -> Cookie | None:
    """Parse a Set-Cookie header; None if it must be ignored.

    Source: RFC 6265, 5.2; for cookies without a name, and for prefixes, its successor
    (draft-ietf-httpbis-rfc6265bis, 5.6 and 5.7), as browsers do.
    """
    if len(header) > MAX_COOKIE_BYTES or NOT_SENT.search(header):
        return None
    pair, *attributes = header.split(";")
    name, equals, value = (part.strip(_SPACES) for part in pair.partition("="))
    if not equals:
        name, value = "", name
    if not (name or value):
        return None
    value_by_attribute = {
        key.strip(_SPACES).lower(): text.strip(_SPACES)
        for key, _, text in (each.partition("=") for each in attributes)
    }
    path = value_by_attribute.get("path", "")
    is_secure = "secure" in value_by_attribute
    prefix = _PREFIX.match(name or value)
    if prefix and not (
        name
        and is_secure
        and scheme == "https"
        # Only this host may have set it, and for all of it.
        and (not prefix[1] or path == "/" and not value_by_attribute.get("domain"))
    ):
        return None
    return Cookie(
        name,
        value,
        path=path if path.startswith("/") else _default_path(url_path),
        is_secure=is_secure,
        expires_at=_expires_at(value_by_attribute, now),
        set_at=now,
    )


def _default_path(url_path: str) -> str:
    """Return the path of a cookie that specifies none.  Source: RFC 6265, 5.1.4."""
    return url_path[: url_path.rfind("/")] or "/"


def _expires_at(value_by_attribute: dict[str, str], now: float) -> float:
    """Return when a cookie expires.  Source: RFC 6265, 5.3: Max-Age has precedence."""
    max_age = value_by_attribute.get("max-age", "")
    if _MAX_AGE.fullmatch(max_age):
        seconds = float(max_age)
        return now + seconds if seconds > 0 else -math.inf
    date_at = http_date_at(value_by_attribute.get("expires", ""))
    return math.inf if date_at is None else date_at
