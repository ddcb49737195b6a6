"""When a host, or a URL that failed, may be asked again.

Pure: the current time is an argument, nothing here sleeps.  Times are seconds of the
epoch, since what is decided here outlives the process.
"""

import datetime
from email.utils import parsedate_to_datetime

from crawler_app.urls import is_loopback

__all__ = ["host_gap_s", "outage_pause_s", "retry_after_s", "retry_at"]

# Precedents: Scrapy 0 (DOWNLOAD_DELAY), wget 0, Heritrix "a few times the last fetch".
OPEN_WEB_GAP_S = 1.0

# The pause before each further try is so many times the one before; after so many tries
# it is longer than anybody waits, and the power would leave the range of a float.
PAUSE_FACTOR = 4.0
GROWING_TRIES = 50

# Pauses for a host that has gone away, each twice as long as the one before.
MAX_OUTAGE_PAUSES = 7

# Longest pause.  A server that asks for more has a clock that is wrong, or means "never".
MAX_RETRY_AFTER_S = 24 * 3600.0


def host_gap_s(host: str, configured_s: float | None) -> float:
    """Return the least time between the starts of two fetches from a host, in seconds.

    One's own machine needs no sparing.

    >>> host_gap_s("a.test", None), host_gap_s("127.0.0.1:80", None)
    (1.0, 0.0)
    """
    if configured_s is not None:
        return configured_s
    return 0.0 if is_loopback(host) else OPEN_WEB_GAP_S


def retry_at(
    now: float, tries: int, first_pause_s: float, asked_for_s: float | None = None
) -> float:
    """Return when a failed fetch may be tried again.

    Args:
        tries: Failed fetches so far, this one included.
        first_pause_s: Pause after the first.
        asked_for_s: The server's own wish, as of `retry_after_s`, which comes first.

    >>> [retry_at(0.0, tries, first_pause_s=1.0) for tries in (1, 2, 3)]
    [1.0, 4.0, 16.0]
    """
    if asked_for_s is not None:
        return now + asked_for_s
    pause_s = first_pause_s * PAUSE_FACTOR ** min(tries - 1, GROWING_TRIES)
    return now + min(pause_s, MAX_RETRY_AFTER_S)


def outage_pause_s(pauses: int, first_pause_s: float) -> float | None:
    """Return how long to leave a host alone that answered once and now does not.

    None when it has been waited for often enough: two minutes in all, if the first pause
    is a second.

    Args:
        pauses: Those made already in this outage.

    >>> [outage_pause_s(pauses, 1.0) for pauses in (0, 1, 6, 7)]
    [1.0, 2.0, 64.0, None]
    """
    return first_pause_s * 2.0**pauses if pauses < MAX_OUTAGE_PAUSES else None


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
        try:
            at = parsedate_to_datetime(header)
            if at.tzinfo is None:  # the form of C's asctime() names no zone
                at = at.replace(tzinfo=datetime.UTC)
            wait = at.timestamp() - now
        except (ValueError, OverflowError):
            return None
    return min(max(wait, 0.0), MAX_RETRY_AFTER_S)
