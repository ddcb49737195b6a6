"""Makes the requests of the browser that renders pages.

Rule: what a page asks for goes through the same rules as a URL of the crawl: robots.txt, the gap
of its host, the patterns, private addresses, cookies, retries, limits; and it is archived.  Nothing
else reaches the network.  Used by `crawler_app.run.crawl.rendering`.
"""

import dataclasses
from collections.abc import Callable
from functools import partial

from crawler_app.base.errors import FetchError, UrlError
from crawler_app.base.http_headers import different_values
from crawler_app.base.models import Fetched
from crawler_app.base.reasons import Reason, meaning_of
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import canonicalize, host_of
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.logouts import logs_out
from crawler_app.run.crawl.permission import Permission
from crawler_app.run.crawl.retrying import retried
from crawler_app.run.crawl.scope import Scope
from crawler_app.web.render.kept import KeptResponses
from crawler_app.web.render.requests import BrowserRequest

__all__ = ["BrowserRequests"]

# Only these change nothing on a server.
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

# That are known, to tell them from those of scripts.
MAX_SERVED_COOKIES = 10_000

# Requests for what the crawl itself fetches as an asset: in a recrawl, only if it has changed.
ASSET_KINDS = ("Font", "Image", "Manifest", "Script", "Stylesheet")


class BrowserRequests:
    """Makes requests; responses that several pages use are fetched once."""

    def __init__(
        self, context: RunContext, fetching: Fetching, permission: Permission
    ) -> None:
        config = self._config = context.config
        self._context = context
        self._fetching = fetching
        self._permission = permission
        self._scope = Scope(config.seeds, exclude=config.exclude, reach=config.scope)
        self._kept = fetching.kept = KeptResponses()
        self._served_cookies: dict[str, None] = {}

    def fetch(
        self, request: BrowserRequest, on_wait: Callable[[], None]
    ) -> Subgenerator[Fetched]:
        """Return the response to a request of the browser.

        Raises:
            FetchError: it is refused, or there was no response.
        """
        try:
            url = canonicalize(request.url)
        except UrlError as exc:
            raise self._refusal(Reason.BAD_REQUEST, str(exc)) from None
        self._require_allowed(request, url)
        headers = self._headers(request)
        request = dataclasses.replace(request, url=url, headers=headers)
        make = partial(self._exchange, request, on_wait)
        if request.method != "GET" or request.kind == "Document":
            return (yield from make())
        # A server may answer by any header; what it sets for one visitor differs from tab to tab.
        told = frozenset(each for each in headers.items() if each[0] != "Cookie")
        key = url if self._is_asset(request) else (url, told)
        return (yield from self._kept.fetch(key, make))

    def may_show(self, url: str) -> bool:
        """Return whether a state of a page may be shown, by its URL with what is after the "#"."""
        path = url.replace("#!", "").replace("#", "")
        ends_session = self._config.is_logged_in and logs_out(path)
        return not (ends_session or self._scope.excludes(url))

    def _require_allowed(self, request: BrowserRequest, url: str) -> None:
        is_safe = request.method in SAFE_METHODS
        if not is_safe and not self._config.render_post:
            raise self._refusal(
                Reason.BAD_REQUEST, f"{request.method} may change something"
            )
        if self._scope.excludes(url):
            raise self._refusal(Reason.EXCLUDED_BY_PATTERN)
        if self._config.is_logged_in and logs_out(url):
            raise self._refusal(Reason.LOGS_OUT)
        # A frame is a page of its own; that of another site is not a part of this crawl.
        if request.kind == "Document" and self._scope.check_asset(url):
            raise self._refusal(Reason.OUT_OF_SCOPE)

    def _refusal(self, reason: Reason, text: str = "") -> FetchError:
        self._context.stats[f"render_refused/{reason}"] += 1
        return FetchError(reason, text or meaning_of(reason))

    def _headers(self, request: BrowserRequest) -> dict[str, str]:
        """Return the headers of a request, of its cookies only those that a script has set.

        The crawl itself has those of servers, which may be newer there.
        """
        headers = dict(request.headers)
        pairs = map(str.strip, headers.pop("cookie", "").split(";"))
        own = [pair for pair in pairs if pair and pair not in self._served_cookies]
        if own and self._config.cookies:
            headers["Cookie"] = "; ".join(own)
        return headers

    def note_cookies(self, fetched: Fetched) -> None:
        """Note what a server has set in the browser."""
        for line in different_values(fetched.headers, "Set-Cookie"):
            self._served_cookies[line.partition(";")[0].strip()] = None
        while len(self._served_cookies) > MAX_SERVED_COOKIES:
            del self._served_cookies[next(iter(self._served_cookies))]

    def _exchange(
        self, request: BrowserRequest, on_wait: Callable[[], None]
    ) -> Subgenerator[Fetched]:
        """Make a request as often as it may be tried."""
        if not (yield from self._permission.allows(request.url)):
            raise self._refusal(Reason.ROBOTS)
        fetch = partial(self._fetch_once, request)
        tries = self._config.tries if request.method in SAFE_METHODS else 1
        fetched = yield from retried(fetch, tries, self._config.retry_pause_s, on_wait)
        if self._context.hosts.gap_s(host_of(request.url)):
            on_wait()
        return fetched

    @staticmethod
    def _is_asset(request: BrowserRequest) -> bool:
        return request.kind in ASSET_KINDS and "origin" not in request.headers

    def _fetch_once(self, request: BrowserRequest) -> Subgenerator[Fetched]:
        if self._is_asset(request):
            fetched, _ = yield from self._fetching.fetch_changed(request.url)
        else:
            fetched = yield from self._fetching.fetch(
                request.url,
                request.headers,
                method=request.method,
                body=request.body,
                # What is replayed is looked up without these.
                is_archived=request.method not in ("HEAD", "OPTIONS"),
            )
        self.note_cookies(fetched)
        return fetched
