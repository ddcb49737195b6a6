"""Parses HTTP headers: dates, Retry-After and content types.

Pure; imports nothing of the crawler.  Times are seconds since the epoch.
"""

import datetime
from email.utils import parsedate_to_datetime

__all__ = ["MAX_RETRY_AFTER_S", "http_date_at", "is_html", "retry_after_s"]

HTML_TYPES = ("text/html", "application/xhtml+xml")

# The longest wait that is honored.  A server that asks for more has a wrong clock, or means
# "never".
MAX_RETRY_AFTER_S = 24 * 3600.0


def retry_after_s(header: str | None, now: float) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds; None if none.

    Source: RFC 9110, 10.2.3: seconds, or a date.

    >>> retry_after_s("120", now=0.0)
    120.0
    >>> retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
    10.0
    """
    header = (header or "").strip()
    if header.isdecimal() and header.isascii():
        wait = float(header.lstrip("0")[:10] or 0)
    else:
        at = http_date_at(header)
        if at is None:
            return None
        wait = at - now
    return min(max(wait, 0.0), MAX_RETRY_AFTER_S)


def http_date_at(text: str) -> float | None:
    """Return the time of a date in a header; None if it is not a date.

    Source: RFC 9110, 5.6.7.

    >>> http_date_at("Thu, 01 Jan 1970 00:01:00 GMT"), http_date_at("tomorrow")
    (60.0, None)
    """
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:  # the format of C's asctime() has no time zone
        at = at.replace(tzinfo=datetime.UTC)
    return at.timestamp()


def is_html(content_type: str) -> bool:
    """Return whether a Content-Type header means an HTML page.

    >>> is_html("Text/HTML; charset=utf-8"), is_html("image/png")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() in HTML_TYPES
