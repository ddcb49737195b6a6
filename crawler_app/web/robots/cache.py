"""The robots.txt cache: fetched once per origin, kept for a day.

Rule: every origin has `Rules`.  If its robots.txt cannot be fetched, that is part of the
`Rules` and never raised.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from crawler_app.base.errors import FetchError, UrlError
from crawler_app.base.http_headers import different_values, retry_after_s
from crawler_app.base.models import Fetched
from crawler_app.base.shared_calls import SharedCalls
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import origin_of, redirect_target
from crawler_app.web import politeness
from crawler_app.web.robots.rules import Rules, parse_rules
from gencoro import gen

__all__ = ["RobotsCache", "RobotsResult"]

# RFC 9309, 2.3.1.2: at least five, even across hosts.
MAX_REDIRECTS = 5

# Takes about ten milliseconds.
MAX_BYTES_ON_LOOP = 32 * 1024

# RFC 9309, 2.4: no longer, unless newer rules cannot be fetched.
MAX_AGE_S = 24 * 3600.0

# Origins and their rules, counted together.  A rule takes 0.5 kB, so all take at most
# 100 MB; most origins have fewer than ten.
MAX_KEPT = 200_000


@dataclass(slots=True, frozen=True)
class RobotsResult:
    """The result of a fetch of robots.txt.

    Attributes:
        until: When it expires.
        pauses: Failed fetches since the last successful one.
        body: The file; empty if there is none, and None if it could not be fetched.
        has_retry: Whether it is fetched again then.
        error: Why it could not be fetched, if there was no response at all.
    """

    until: float
    pauses: int = 0
    body: bytes | None = None
    has_retry: bool = True
    error: FetchError | None = None


class RobotsCache:
    """Fetches and caches the rules of each origin.

    Args:
        fetch: See `crawler_app.web.fetcher.Fetcher`.
        user_agent: Our User-Agent header.
        first_pause_s: The pause before the first retry of an origin that did not respond;
            further pauses are longer, see `politeness.outage_pause_s`.
        clock: Returns the current time in seconds since the epoch.
        on_found: Called with an origin and the result of a fetch; may be None.

    >>> def fetch(url):
    ...     answer = gen.Future()
    ...     answer.set_result(Fetched(url, 404, {}, b"", 0.0))
    ...     return answer
    >>> cache = RobotsCache(fetch, "bot/1.0")
    >>> cache.known("http://a.test/x") is None
    True
    >>> cache.ask("http://a.test/x").result().allows("http://a.test/x")
    True
    >>> cache.known("http://a.test/y")
    Rules(crawl_delay_s=None, sitemaps=(), is_unreachable=False, retry_at=None, error=None, usage=())
    """

    def __init__(
        self,
        fetch: "Callable[[str], gen.Future[Fetched]]",
        user_agent: str,
        first_pause_s: float = 1.0,
        clock: Callable[[], float] = time.time,
        on_found: Callable[[str, RobotsResult], None] | None = None,
    ) -> None:
        self._on_found = on_found
        self._fetch = fetch
        self._user_agent = user_agent
        self._first_pause_s = first_pause_s
        self._clock = clock
        self._kept: dict[str, _CachedRules] = {}  # the oldest entry first
        self._size = 0
        self._fetches = SharedCalls[Rules]()

    def known(self, url: str) -> Rules | None:
        """Return the rules of a canonical URL's origin; None if missing or expired."""
        kept = self._kept.get(origin_of(url))
        if kept is None or self._clock() >= kept.fresh_until:
            return None
        return kept.rules

    def ask(self, url: str) -> "gen.Future[Rules]":
        """Return a Future for the rules of a canonical URL's origin.

        Concurrent calls share one fetch, which is cancelled if all their Futures are.
        """
        rules = self.known(url)
        if rules is not None:
            answer: gen.Future[Rules] = gen.Future()
            answer.set_result(rules)
            return answer
        origin = origin_of(url)
        return self._fetches.ask(origin, lambda: self._learn(origin))

    def learn(self, origin: str, result: RobotsResult) -> Subgenerator[Rules | None]:
        """Keep the result of another process; return its rules, or None if they are old."""
        kept = self._kept.get(origin)
        if kept is not None and kept.fresh_until >= result.until:
            return None
        if result.body is not None:
            rules = yield from self._parse(origin, result.body)
        else:
            rules = _unreachable(result)
        return self._keep(origin, rules, result)

    @gen.coroutine
    def _learn(self, origin: str) -> Generator[Any, Any, Rules]:
        """Fetch and cache the rules of an origin, or the fact that they are unreachable."""
        asked_for_s = error = None
        try:
            fetched = yield from self._follow(f"{origin}/robots.txt")
            if not _is_unreachable(fetched.status):
                # RFC 9309, 2.3.1.3: otherwise there is no file, so everything is allowed.
                # Too many redirects are treated the same (2.3.1.2).
                body = fetched.body if 200 <= fetched.status < 300 else b""
                rules = yield from self._parse(origin, body)
                result = RobotsResult(self._clock() + MAX_AGE_S, body=body)
                return self._keep_found(origin, rules, result)
            retry_after = fetched.headers.get("Retry-After")
            asked_for_s = retry_after_s(retry_after, self._clock())
        except FetchError as exc:
            # For any reason: by RFC 9309, 2.3.1.4, every network error means
            # "disallow all", and a response that is too large or not HTTP cannot allow
            # more.  Precedent: Google.
            # A new exception, because the cause and the frames of this one would keep a
            # connection or a body alive for a day.
            error = FetchError(exc.reason, str(exc))
        return self._miss(origin, asked_for_s, error)

    def _follow(self, url: str) -> Subgenerator[Fetched]:
        """Fetch a URL, following redirects; return the last response."""
        fetched: Fetched = yield self._fetch(url)
        for _ in range(MAX_REDIRECTS):
            target = _redirect_target(url, fetched)
            if target is None:
                break
            url = target
            fetched = yield self._fetch(url)
        return fetched

    def _parse(self, origin: str, body: bytes) -> Subgenerator[Rules]:
        parse = partial(parse_rules, body, self._user_agent, origin)
        if len(body) <= MAX_BYTES_ON_LOOP:
            return parse()
        # In Python, so the loop and a thread take turns.
        loop = asyncio.get_running_loop()
        rules: Rules = yield loop.run_in_executor(None, parse)
        return rules

    def _miss(
        self, origin: str, asked_for_s: float | None, error: FetchError | None
    ) -> Rules:
        """Keep using the known rules, or disallow everything, until the next try."""
        before = self._kept.get(origin)
        pauses = 0 if before is None else before.pauses
        pause_s = politeness.outage_pause_s(pauses, self._first_pause_s)
        has_retry = pause_s is not None and (error is None or error.is_passing)
        pause_s = max(pause_s or 0.0, asked_for_s or 0.0) if has_retry else MAX_AGE_S
        result = RobotsResult(
            self._clock() + pause_s, pauses + 1, has_retry=has_retry, error=error
        )
        if before is not None and not before.rules.is_unreachable:
            return self._keep_found(origin, before.rules, result)  # RFC 9309, 2.4
        return self._keep_found(origin, _unreachable(result), result)

    def _keep_found(self, origin: str, rules: Rules, result: RobotsResult) -> Rules:
        if self._on_found is not None:
            self._on_found(origin, result)
        return self._keep(origin, rules, result)

    def _keep(self, origin: str, rules: Rules, result: RobotsResult) -> Rules:
        self._drop(origin)
        self._size += rules.size
        self._kept[origin] = _CachedRules(rules, result.until, result.pauses)
        while self._size > MAX_KEPT and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))
        return rules

    def _drop(self, origin: str) -> None:
        kept = self._kept.pop(origin, None)
        if kept is not None:
            self._size -= kept.rules.size


@dataclass(slots=True)
class _CachedRules:
    """The cache entry of an origin.

    Attributes:
        pauses: Failed fetches since the last successful one.
    """

    rules: Rules
    fresh_until: float
    pauses: int


def _unreachable(result: RobotsResult) -> Rules:
    retry_at = result.until if result.has_retry else None
    return Rules(is_unreachable=True, retry_at=retry_at, error=result.error)


def _redirect_target(url: str, fetched: Fetched) -> str | None:
    """Return the target of a redirect; None if the response is not a valid one."""
    locations = different_values(fetched.headers, "Location")
    if not 300 <= fetched.status < 400 or fetched.status == 304 or len(locations) != 1:
        return None
    try:
        return redirect_target(url, locations[0])
    except UrlError:
        return None


def _is_unreachable(status: int) -> bool:
    """Return whether a status means that the file may exist but could not be read.

    RFC 9309, 2.3.1.4: 5xx, and numbers that are not a status.  429 concerns us and not the
    file (precedent: Google).  304 is invalid, because the request was not conditional.
    """
    return status in (304, 429) or not 200 <= status < 500
