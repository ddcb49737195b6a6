"""What the workers of a crawl tell one another of hosts: robots.txt, cookies, gaps, outages.

What one worker learns goes with its next step; the others are told before they are handed a
URL of that origin.  Times are sent by the clock of the server.

Used by `crawler_app.run.crawl.worker_crawl`.
"""

import math
from collections.abc import Generator
from typing import Any

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import reason_of_word
from crawler_app.base.urls import host_of
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.outages import Outages
from crawler_app.run.crawl.permission import Permission
from crawler_app.store.frontier.postgres.caches import OriginNews
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.web.fetcher.cookies import Cookie, CookieStore
from crawler_app.web.robots import Finding
from crawler_app.web.robots.rules import MAX_BYTES
from gencoro import gen

__all__ = ["Sharing"]


class Sharing:
    """Connects what one worker knows of hosts with the frontier that tells the others.

    Args:
        cookies: None if cookies are not enabled.
    """

    def __init__(
        self,
        frontier: PostgresFrontier,
        permission: Permission,
        hosts: HostStates,
        outages: Outages,
        cookies: CookieStore | None,
    ) -> None:
        self._frontier = frontier
        self._robots = permission.robots
        self._hosts = hosts
        self._outages = outages
        self._cookies = cookies
        # By origin, until its sitemaps were added: they are recorded together.
        self._findings: dict[str, Finding] = {}
        hosts.on_gap = frontier.set_gap
        outages.on_change = frontier.note_pauses
        if self._robots is not None:
            frontier.asks_robots = True
            self._robots.on_found = self._findings.__setitem__
            permission.on_applied = self._tell_robots
        if cookies is not None:
            cookies.on_set = self._tell_cookies
        frontier.on_news = self._learn

    def _tell_robots(self, origin: str) -> None:
        finding = self._findings.pop(origin, None)
        if finding is not None:
            fields = _fields_of(finding, self._frontier.shift_s)
            self._frontier.note_robots(origin, fields, finding.until)

    def _tell_cookies(self, origin: str, cookies: list[Cookie]) -> None:
        shift_s = self._frontier.shift_s
        values = dict(_named_values(each, shift_s) for each in cookies)
        self._frontier.note_cookies(origin, values)

    @gen.coroutine
    def _learn(self, news: OriginNews) -> Generator[Any, Any, None]:
        shift_s = self._frontier.shift_s
        if news.robots and self._robots is not None:
            finding = _finding_of(news.robots, shift_s)
            rules = yield from self._robots.learn(news.name, finding)
            if rules is not None:
                host = host_of(news.name)
                self._hosts.note_crawl_delay(host, rules.crawl_delay_s)
        if news.cookies and self._cookies is not None:
            cookies = [_cookie_of(*item, shift_s) for item in news.cookies.items()]
            self._cookies.learn(news.name, cookies)
        self._outages.learn(news.name, news.pauses)


def _fields_of(finding: Finding, shift_s: float) -> dict[str, Any]:
    """Return what is to be stored of a finding; a file that was read before stays."""
    fields: dict[str, Any] = {
        "until": finding.until - shift_s,
        "pauses": finding.pauses,
        "has_retry": finding.has_retry,
        "error": finding.error and [finding.error.reason, str(finding.error)],
    }
    if finding.body is not None:
        fields["body"] = finding.body[: MAX_BYTES + 1].decode("latin-1")
    return fields


def _finding_of(fields: dict[str, Any], shift_s: float) -> Finding:
    body, error = fields.get("body"), fields["error"]
    return Finding(
        fields["until"] + shift_s,
        fields["pauses"],
        None if body is None else body.encode("latin-1"),
        fields["has_retry"],
        error and FetchError(reason_of_word(error[0]), error[1]),
    )


def _named_values(cookie: Cookie, shift_s: float) -> tuple[str, list[Any]]:
    """Return what tells a cookie from others of its origin, and its values."""
    at = cookie.expires_at
    # JSON has no infinite numbers.
    expires_at = None if at == math.inf else max(at - shift_s, 0.0)
    values = [cookie.set_at - shift_s, cookie.value, cookie.is_secure, expires_at]
    return f"{cookie.name};{cookie.path}", values


def _cookie_of(name: str, values: list[Any], shift_s: float) -> Cookie:
    set_at, value, is_secure, at = values
    name, _, path = name.partition(";")
    expires_at = math.inf if at is None else at + shift_s
    return Cookie(name, value, path, is_secure, expires_at, set_at + shift_s)
