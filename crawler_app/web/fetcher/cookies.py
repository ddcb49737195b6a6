"""The cookie store: a cookie is sent only to the origin that set it.

Rule: a cookie goes back only to the origin (scheme, host and port) that set it, whatever its
Domain attribute says.  That is stricter than RFC 6265, on purpose: no host can plant a
session in another, and no public suffix list is needed.  Only the user can send a cookie to
several hosts, with a cookie file (`crawler_app.web.fetcher.cookie_files`).

It does not use `http.cookiejar`, which reads the clock itself and is organized by domain; a
test compares the two.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from crawler_app.base.urls import host_of, is_loopback, name_of, origin_of
from crawler_app.web.fetcher.addresses import is_literal
from crawler_app.web.fetcher.set_cookie import Cookie, read_set_cookie

__all__ = ["CookieStore", "FileCookie", "OnCookies"]

# Source: RFC 6265, 6.1, which requires at least 50 cookies per domain, 3000 cookies in total.
MAX_COOKIES_OF_ORIGIN = 50
MAX_ORIGINS = 3000

# Of all cookies together: 3000 of the usual size, or fewer that are larger.  Without this
# limit, those above would allow 600 MB.
MAX_KEPT_BYTES = 16 * 2**20
# What Python needs for a cookie besides its text.
COOKIE_OVERHEAD_BYTES = 700

# Many cookies are set again with every response.  To other processes that is news when this
# part of the time has passed in which the cookie is sent.
NEWS_AFTER = 0.1


@dataclass(slots=True, frozen=True)
class FileCookie:
    """A cookie from a file.

    Attributes:
        has_subdomains: Whether it is also sent to the subdomains of its domain.
    """

    domain: str
    has_subdomains: bool
    cookie: Cookie


# Called with an origin and the cookies that it has changed.
OnCookies: TypeAlias = Callable[[str, list[Cookie]], None]

# By name and path, the oldest first.
_Jar: TypeAlias = dict[tuple[str, str], Cookie]


class CookieStore:
    """Keeps the cookies of a crawl.

    Args:
        clock: Returns seconds since the epoch.
        on_set: Called with an origin and the cookies that it has changed; None for nothing.

    >>> cookies = CookieStore()
    >>> cookies.take("http://a.test/in", ["id=7; Domain=test", "n=8; Path=/x"])
    >>> cookies.header_for("http://a.test/x"), cookies.header_for("http://b.test/x")
    ('n=8; id=7', '')
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        on_set: OnCookies | None = None,
    ) -> None:
        self._on_set = on_set
        self._clock = clock
        self._jar_by_origin: dict[str, _Jar] = {}
        self._kept_bytes = 0
        self._file_cookies_by_domain: dict[str, list[FileCookie]] = {}

    def header_for(self, url: str) -> str:
        """Return the Cookie header for a canonical URL; empty for none.

        Source: RFC 6265, 5.4: the longest path first, then the oldest.
        """
        if not self._jar_by_origin and not self._file_cookies_by_domain:
            return ""
        now = self._clock()
        origin, scheme, path = _parts_of(url)
        # A cookie that the origin has set, or deleted, overrides the one in the file.
        jar = self._from_files(host_of(url)) | self._jar_by_origin.get(origin, {})
        fitting = [each for each in jar.values() if each.is_for(scheme, path, now)]
        fitting.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(cookie.pair for cookie in fitting)

    def take(self, url: str, set_cookie_headers: Iterable[str]) -> None:
        """Store the cookies that a response has set; invalid ones are ignored.

        Args:
            url: The canonical URL of the request.
            set_cookie_headers: Separate headers; they cannot be joined with commas.
        """
        now = self._clock()
        origin, scheme, path = _parts_of(url)
        found = [
            # The order within a response counts too.
            read_set_cookie(header, scheme, path, now + place * 1e-6)
            for place, header in enumerate(set_cookie_headers)
        ]
        if not any(found):
            return
        jar, news = self._forget(origin), []
        for cookie in filter(None, found):
            before = jar.get((cookie.name, cookie.path))
            if before is not None:
                cookie = replace(cookie, set_at=before.set_at)
                if self._on_set is not None and not _is_news(cookie, before, now):
                    continue  # it stays as other processes know it
            news.append(cookie)
            jar[cookie.name, cookie.path] = cookie
            _drop_surplus(jar, now)
        self._keep(origin, jar)
        if news and self._on_set is not None:
            self._on_set(origin, news)

    def learn(self, origin: str, cookies: Iterable[Cookie]) -> None:
        """Store cookies that an origin has set in another process."""
        jar = self._forget(origin) | {(each.name, each.path): each for each in cookies}
        newest = sorted(jar.items(), key=lambda item: item[1].set_at)
        self._keep(origin, dict(newest[-MAX_COOKIES_OF_ORIGIN:]))

    def _keep(self, origin: str, jar: _Jar) -> None:
        """Store the cookies of an origin, which was forgotten, and forget others if needed."""
        self._jar_by_origin[origin] = jar
        self._kept_bytes += _bytes_of(jar)
        while (
            len(self._jar_by_origin) > MAX_ORIGINS or self._kept_bytes > MAX_KEPT_BYTES
        ):
            # The origin that has set no cookie for the longest time.
            self._forget(next(iter(self._jar_by_origin)))

    def _forget(self, origin: str) -> _Jar:
        """Remove the cookies of an origin, and return them."""
        jar = self._jar_by_origin.pop(origin, {})
        self._kept_bytes -= _bytes_of(jar)
        return jar

    def add(self, cookies: Iterable[FileCookie]) -> None:
        """Add cookies that the user gives, for the hosts of their domains, on any port."""
        for each in cookies:
            self._file_cookies_by_domain.setdefault(each.domain, []).append(each)

    def kept(self) -> dict[str, list[Cookie]]:
        """Return the cookies that servers have set and that last, by their origins."""
        now = self._clock()
        return {
            origin: [each for each in jar.values() if each.expires_at > now]
            for origin, jar in self._jar_by_origin.items()
        }

    def _from_files(self, host: str) -> _Jar:
        if not self._file_cookies_by_domain:
            return {}
        name = name_of(host).removesuffix(".")
        return {
            (each.cookie.name, each.cookie.path): each.cookie
            for domain in _domains_of(name)
            for each in self._file_cookies_by_domain.get(domain, ())
            if each.has_subdomains or domain == name
        }


def _parts_of(url: str) -> tuple[str, str, str]:
    """Return the origin, the scheme and the path of a canonical URL.

    The scheme of loopback is https: browsers send secure cookies there (Secure Contexts, 3.1).
    """
    origin = origin_of(url)
    scheme = "https" if is_loopback(host_of(url)) else url.partition(":")[0]
    return origin, scheme, url.partition("?")[0][len(origin) :]


def _domains_of(name: str) -> Iterator[str]:
    """List the domains that contain a host, the widest first and the host itself last.

    In this order, a cookie of a narrower domain replaces that of a wider one.
    """
    labels = [] if is_literal(name) else name.split(".")
    for first in range(len(labels) - 1, 0, -1):
        yield ".".join(labels[first:])
    yield name


def _bytes_of(jar: _Jar) -> int:
    """Return roughly how much memory the cookies of an origin take."""
    return sum(
        COOKIE_OVERHEAD_BYTES + len(cookie.name) + len(cookie.value) + len(cookie.path)
        for cookie in jar.values()
    )


def _drop_surplus(jar: _Jar, now: float) -> None:
    """Keep a jar within its limit.  Source: RFC 6265, 5.3: expired cookies go first."""
    if len(jar) > MAX_COOKIES_OF_ORIGIN:
        key = next((key for key in jar if jar[key].expires_at <= now), next(iter(jar)))
        del jar[key]


def _is_news(cookie: Cookie, before: Cookie, now: float) -> bool:
    """Return whether a cookie has changed, or expires much later than before."""
    if replace(cookie, expires_at=before.expires_at) != before:
        return True
    if cookie.expires_at == before.expires_at:
        return False
    later_s = cookie.expires_at - before.expires_at
    return not 0.0 <= later_s <= NEWS_AFTER * (before.expires_at - now)
