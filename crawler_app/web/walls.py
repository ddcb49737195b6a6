"""Recognizes a bot wall: a response that stands in for the page, and says nothing about it.

Pure.  The signs are those that the vendors document, or that their blocking pages have in
common; each counts only with a status that such a page has.  A site behind a vendor's proxy has
some of the headers on every response.
"""

import re
from collections.abc import Mapping

from crawler_app.base.models import Fetched

__all__ = ["REFUSALS", "is_wall"]

# What a host answers that has begun to refuse a program; none of them proves it.
REFUSALS = (403, 429, 503)

# LinkedIn's "request denied".
DENIED = 999

# Challenges are 202 and 405 (AWS), 403 and 503 (Cloudflare), 429 (Kasada, Vercel), and others.
WALL_STATUSES = frozenset((202, 403, 405, 406, 429, 430, 503))

# Headers that no other response has.
CERTAIN_HEADERS = (
    "cf-mitigated",
    "x-amzn-waf-action",
    "x-sucuri-block",
    "x-vercel-mitigated",
)

# Headers that a wall adds to all responses, so that they count with a refusal only.
VENDOR_HEADERS = (
    "x-datadome",
    "x-dd-b",
    "x-iinfo",
    "x-kpsdk-ct",
    "x-px",
    "x-sucuri-id",
)
VENDOR_STATUSES = frozenset((403, 405, 406, 429))

# Proxies whose own refusals name them as the server; the site's own are passed on with the
# name of the site's server.
VENDOR_SERVERS = re.compile(
    "akamaighost|cloudproxy|datadome|ddos-guard|imperva|sucuri", re.IGNORECASE
)

# In the first part of a body; only few of them are also sent with status 200.
MAX_BODY_BYTES = 8192
BODY_MARKS = re.compile(
    rb"_cf_chl_opt|cf-browser-verification|challenge-error-text|<title>Just a moment\.\.\."
    rb"|Attention Required! \| Cloudflare|captcha-delivery\.com|_pxAppId|px-captcha"
    rb"|_Incapsula_Resource|errors\.edgesuite\.net|gokuProps|awsWafCookieDomainList"
    rb"|anubis_challenge|<H2>The request could not be satisfied.{1,200}Request blocked\."
    rb"|(?:g-recaptcha|h-captcha|cf-turnstile)\b",
    re.IGNORECASE | re.DOTALL,
)
MARKS_OF_200 = (b"_Incapsula_Resource", b"anubis_challenge", b"gokuProps")


def is_wall(fetched: Fetched) -> bool:
    """Return whether a response is that of a bot wall.

    >>> is_wall(Fetched("http://a.test/", 403, {"cf-mitigated": "challenge"}, b"", 0.1))
    True
    >>> is_wall(Fetched("http://a.test/", 403, {"Server": "nginx"}, b"Forbidden", 0.1))
    False
    """
    status, headers = fetched.status, fetched.headers
    if status == 200:  # nearly all responses
        body = fetched.body
        return len(body) <= MAX_BODY_BYTES and any(
            mark in body for mark in MARKS_OF_200
        )
    if status == DENIED:
        return True
    if status not in WALL_STATUSES:
        return False
    if any(name in headers for name in CERTAIN_HEADERS):
        return True
    if status in VENDOR_STATUSES and _names_vendor(headers):
        return True
    return BODY_MARKS.search(fetched.body, 0, MAX_BODY_BYTES) is not None


def _names_vendor(headers: Mapping[str, str]) -> bool:
    if any(name in headers for name in VENDOR_HEADERS):
        return True
    return VENDOR_SERVERS.search(headers.get("Server", "")) is not None
