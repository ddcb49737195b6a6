"""Rate limits per host, and the pauses before retries.

Pure: the current time is an argument, nothing here sleeps.  Times are seconds since the
epoch, because they are stored and outlive the process.
"""

import math
from collections.abc import Iterable

from crawler_app.base.http_headers import MAX_RETRY_AFTER_S
from crawler_app.base.urls import is_loopback

__all__ = [
    "MAX_CRAWL_DELAY_S",
    "crawl_delay_s",
    "host_gap_s",
    "least_gap_s",
    "next_gap_s",
    "outage_pause_s",
    "per_host_limit",
    "refused_gap_s",
    "retry_at",
    "smoothed_latency_s",
]

# Precedents: Scrapy 0 (DOWNLOAD_DELAY), wget 0, Heritrix "a few times the last fetch".
OPEN_WEB_GAP_S = 1.0

# The longest Crawl-delay that is honored.  At a page per minute a crawl of any size does
# not end; a longer delay is meant in milliseconds, or means "never", for which there is
# Disallow.  Precedents: Bing honors up to 30, Heritrix waits up to 300, and Nutch skips a
# site that asks for more than 30.
MAX_CRAWL_DELAY_S = 60.0

# The longest gap due to latency.  Precedent: Scrapy's AUTOTHROTTLE_MAX_DELAY 60.
MAX_LATENCY_GAP_S = 60.0

# Weight of the latest latency.  Precedents: Scrapy's AutoThrottle 1/2, TCP's round-trip
# time 1/8 (RFC 6298).  TCP has many samples per second and we have one: a host in trouble
# should be spared after the first.
NEWEST_LATENCY_WEIGHT = 0.5

# Concurrent fetches from one host.  Precedents: RFC 2616 (8.1.4) 2, Heritrix and Nutch 1,
# browsers 6, Scrapy 8.
OPEN_WEB_HOST_LIMIT = 2

# The factor by which the pause grows with each try, and the number of tries after which it
# stops growing: it is far too long by then, and the power would exceed the range of a float.
PAUSE_FACTOR = 4.0
GROWING_TRIES = 50

# How much longer the gap is when a host that refused a crawl is asked again.
REFUSED_GAP_FACTOR = 4.0

# Pauses for a host that is down, each twice as long as the one before.
MAX_OUTAGE_PAUSES = 7


def host_gap_s(host: str, configured_s: float | None) -> float:
    """Return the minimum time between the starts of two fetches from a host, in seconds.

    The default for this machine is 0.

    >>> host_gap_s("a.test", None), host_gap_s("127.0.0.1:80", None)
    (1.0, 0.0)
    """
    if configured_s is not None:
        return configured_s
    return 0.0 if is_loopback(host) else OPEN_WEB_GAP_S


def least_gap_s(hosts: Iterable[str], configured_s: float | None) -> float:
    """Return the gap of hosts that several workers ask together: the longest of theirs.

    >>> least_gap_s(["127.0.0.1:80", "a.test"], None)
    1.0
    """
    return max(host_gap_s(host, configured_s) for host in hosts)


def next_gap_s(
    gap_s: float, latency_s: float | None, crawl_delay_s: float | None = None
) -> float:
    """Return the minimum time from the start of one fetch to the next, in seconds.

    A host that takes three seconds to respond is asked every three seconds.  If neither the
    configuration nor robots.txt asks for a gap, as on this machine, there is none.

    Args:
        gap_s: The configured minimum, from `host_gap_s`.
        latency_s: From `smoothed_latency_s`; None before the first response.
        crawl_delay_s: The Crawl-delay of robots.txt, from the function of that name.

    >>> next_gap_s(1.0, 0.2), next_gap_s(1.0, 3.0), next_gap_s(0.0, 3.0)
    (1.0, 3.0, 0.0)
    >>> next_gap_s(1.0, 3.0, crawl_delay_s=5.0), next_gap_s(0.0, 0.2, crawl_delay_s=5.0)
    (5.0, 5.0)
    """
    wanted_s = max(gap_s, crawl_delay_s or 0.0)
    if wanted_s == 0.0:
        return 0.0
    return max(wanted_s, min(latency_s or 0.0, MAX_LATENCY_GAP_S))


def crawl_delay_s(value: bytes) -> float | None:
    """Return the value of a Crawl-delay, capped at MAX_CRAWL_DELAY_S, in seconds.

    None if it is not a valid time.

    >>> crawl_delay_s(b"2.5"), crawl_delay_s(b"86400"), crawl_delay_s(b"nan")
    (2.5, 60.0, None)
    """
    try:
        delay_s = float(value)
    except ValueError:
        return None
    if not math.isfinite(delay_s) or delay_s < 0:
        return None
    return min(delay_s, MAX_CRAWL_DELAY_S)


def smoothed_latency_s(before_s: float | None, took_s: float) -> float:
    """Return the latency of a host, as an exponential moving average, in seconds.

    Args:
        before_s: The average before the last response; None if that was the first.
        took_s: Duration of the last fetch.

    >>> smoothed_latency_s(None, 3.0), smoothed_latency_s(1.0, 3.0)
    (3.0, 2.0)
    """
    if before_s is None:
        return took_s
    return before_s + (took_s - before_s) * NEWEST_LATENCY_WEIGHT


def per_host_limit(
    configured: int | None, seed_hosts: Iterable[str], reach: str, concurrency: int
) -> int | None:
    """Return the maximum number of concurrent fetches from one host; None for no limit.

    One slow host never occupies all workers, unless it is the only one to crawl.

    Args:
        configured: The user's setting, which has precedence.
        seed_hosts: As returned by `host_of`.
        reach: See `crawler_app.run.crawl.scope`.
        concurrency: Concurrent fetches from all hosts.

    >>> per_host_limit(None, ["a.test", "b.test"], "host", concurrency=10)
    2
    >>> per_host_limit(None, ["localhost:8000"], "host", concurrency=10) is None
    True
    """
    if configured is not None:
        return configured
    hosts = set(seed_hosts)
    if reach in ("host", "prefix") and len(hosts) == 1:
        return None if is_loopback(hosts.pop()) else OPEN_WEB_HOST_LIMIT
    return max(1, min(OPEN_WEB_HOST_LIMIT, concurrency - 1))


def retry_at(
    now: float, tries: int, first_pause_s: float, asked_for_s: float | None = None
) -> float:
    """Return when a failed fetch may be retried.

    Args:
        tries: Failed fetches so far, including this one.
        first_pause_s: The pause after the first failure.
        asked_for_s: The server's Retry-After, from
            `crawler_app.base.http_headers.retry_after_s`, which has precedence.

    >>> [retry_at(0.0, tries, first_pause_s=1.0) for tries in (1, 2, 3)]
    [1.0, 4.0, 16.0]
    """
    if asked_for_s is not None:
        return now + asked_for_s
    pause_s = first_pause_s * PAUSE_FACTOR ** min(tries - 1, GROWING_TRIES)
    return now + min(pause_s, MAX_RETRY_AFTER_S)


def refused_gap_s(gap_s: float, first_pause_s: float) -> float:
    """Return the gap of a host that has refused a crawl, in seconds.

    >>> refused_gap_s(1.0, 1.0), refused_gap_s(0.0, 2.0)
    (4.0, 2.0)
    """
    return max(gap_s * REFUSED_GAP_FACTOR, first_pause_s)


def outage_pause_s(pauses: int, first_pause_s: float) -> float | None:
    """Return how long to pause for a host that has responded before and is down now.

    None if the pauses are used up: after two minutes in total, if the first pause is one
    second.

    Args:
        pauses: Pauses already made in this outage.

    >>> [outage_pause_s(pauses, 1.0) for pauses in (0, 1, 6, 7)]
    [1.0, 2.0, 64.0, None]
    """
    if pauses >= MAX_OUTAGE_PAUSES:
        return None
    return min(first_pause_s * 2.0**pauses, MAX_RETRY_AFTER_S)
