"""Shares per-host state between workers: robots.txt, cookies, gaps and outages.

What one worker learns goes with its next step; the others get it before they are handed a URL of
that origin.  Times are sent by the clock of the server.

Used by `crawler_app.run.crawl.worker_crawl`.
"""

import math
from typing import Any

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import reason_of_word
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from crawler_app.run.crawl.observer import HostObserver
from crawler_app.run.crawl.wiring import CrawlParts
from crawler_app.store.frontier.postgres.caches import OriginNews
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.web.fetcher.set_cookie import Cookie
from crawler_app.web.robots.cache import RobotsResult
from crawler_app.web.robots.rules import MAX_BYTES

__all__ = ["HostUpdates", "learn_news"]


class HostUpdates(HostObserver):
    """Passes what this worker learns about hosts on to the others.

    Args:
        frontier: Sends it to the server.
    """

    def __init__(self, frontier: PostgresFrontier) -> None:
        self._frontier = frontier
        # By origin, until its sitemaps were added: they are recorded together.
        self._robots: dict[str, RobotsResult] = {}

    def gap_changed(self, host: str, gap_s: float) -> None:
        self._frontier.set_gap(host, gap_s)

    def outage_changed(self, origin: str, pauses: int, is_down: bool) -> None:
        self._frontier.note_pauses(origin, pauses, is_down)

    def robots_found(self, origin: str, result: RobotsResult) -> None:
        self._robots[origin] = result

    def robots_applied(self, origin: str) -> None:
        result = self._robots.pop(origin, None)
        if result is not None:
            fields = _fields_of(result, self._frontier.shift_s)
            self._frontier.note_robots(origin, fields, result.until)

    def cookies_set(self, origin: str, cookies: list[Cookie]) -> None:
        shift_s = self._frontier.shift_s
        values = dict(_named_values(each, shift_s) for each in cookies)
        self._frontier.note_cookies(origin, values)


def learn_news(
    news: OriginNews, parts: CrawlParts, shift_s: float
) -> Subgenerator[None]:
    """Use what other workers know of an origin.

    Args:
        shift_s: From the server's clock to this one.
    """
    context = parts.context
    robots, cookies = parts.permission.robots, parts.fetcher.policy.cookies
    if news.robots and robots is not None:
        result = _result_of(news.robots, shift_s)
        rules = yield from robots.learn(news.name, result)
        if rules is not None:
            context.hosts.note_crawl_delay(host_of(news.name), rules.crawl_delay_s)
    if news.cookies and cookies is not None:
        learned = [_cookie_of(*item, shift_s) for item in news.cookies.items()]
        cookies.learn(news.name, learned)
    context.outages.learn(news.name, news.pauses)


def _fields_of(result: RobotsResult, shift_s: float) -> dict[str, Any]:
    """Return the columns to update for a robots.txt result.

    Without a body, a file that was stored before stays.
    """
    fields: dict[str, Any] = {
        "until": result.until - shift_s,
        "pauses": result.pauses,
        "has_retry": result.has_retry,
        "error": result.error and [result.error.reason, str(result.error)],
    }
    if result.body is not None:
        fields["body"] = result.body[: MAX_BYTES + 1].decode("latin-1")
    return fields


def _result_of(fields: dict[str, Any], shift_s: float) -> RobotsResult:
    body, error = fields.get("body"), fields["error"]
    return RobotsResult(
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
