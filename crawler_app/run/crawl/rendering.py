"""Renders the pages of a crawl that need it, and makes the requests of the browser.

Rule: what a page asks for goes through the same rules as a URL of the crawl: robots.txt, the gap
of its host, the patterns, private addresses, cookies, retries, limits; and it is archived.  Nothing
else reaches the network.

Only imported with ``--render``.  Used by `crawler_app.run.crawl.interpreting`.
"""

import dataclasses
import time
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Self

from crawler_app.base.errors import FetchError, UrlError
from crawler_app.base.models import Fetched, Outcome
from crawler_app.base.reasons import RETRYABLE, Reason, meaning_of, reason_of_status
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import canonicalize, host_of, join_or_nothing
from crawler_app.run.crawl import ending
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.logouts import logs_out
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.permission import Permission
from crawler_app.run.crawl.scope import Scope
from crawler_app.run.results.rendered_pages import DOCUMENT, RenderedPage
from crawler_app.web import politeness
from crawler_app.web.documents.html import Page
from crawler_app.web.render.browser import chromium_path
from crawler_app.web.render.choosing import (
    NEARLY_EMPTY_CHARS,
    RenderChoice,
    has_scripts,
)
from crawler_app.web.render.kept import KeptResponses
from crawler_app.web.render.pool import BrowserPool
from crawler_app.web.render.requests import BrowserRequest
from crawler_app.web.render.tab import Rendering
from gencoro import gen

__all__ = ["PageRenderer"]

# Only these change nothing on a server.
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

# Requests for what the crawl itself fetches as an asset: in a recrawl, only if it has changed.
ASSET_KINDS = ("Font", "Image", "Manifest", "Script", "Stylesheet")


class PageRenderer:
    """Renders pages; a context manager, at whose end the browsers end.

    Args:
        observer: Notified of what the scripts of pages get wrong; None for none.

    Raises:
        ConfigError: Chromium is not installed.
    """

    def __init__(
        self,
        context: RunContext,
        fetching: Fetching,
        permission: Permission,
        observer: CrawlObserver | None = None,
    ) -> None:
        config = context.config
        self._context = context
        self._fetching = fetching
        self._permission = permission
        self._observer = observer
        self._scope = Scope(config.seeds, exclude=config.exclude, reach=config.scope)
        self._choice = None if config.render == "always" else RenderChoice()
        self._kept = fetching.kept = KeptResponses()
        self._pool = BrowserPool(chromium_path(), config.browsers, self._fetch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._pool.close()

    def render(
        self, fetched: Fetched, page: Page
    ) -> Subgenerator[tuple[Fetched, Rendering] | None]:
        """Return a response with a page as its scripts make it; None if it does not need that.

        Args:
            page: What it is without its scripts.

        Raises:
            FetchError: it cannot be rendered.
        """
        if not has_scripts(fetched.body):
            return None
        choice = self._choice
        if choice is not None and not choice.wants(fetched.url, len(page.text)):
            return None
        began_at = time.monotonic()
        rendering: Rendering = yield from self._pool.render(
            fetched,
            scrolls=self._context.config.scroll,
            pictures=self._context.config.screenshots,
        )
        stats = self._context.stats
        stats.add("render/ms", int((time.monotonic() - began_at) * 1000))
        if rendering.is_cut:
            stats.add("render/cut")
        for name, picture in rendering.pictures.items():
            stats.add("render/pictures")
            place = f"urn:{name}:{fetched.url}"
            yield from self._fetching.keep(place, "image/webp", picture)
        if self._observer is not None and rendering.problems:
            self._observer.saw_problems(fetched.url, rendering.problems)
        response = _rendered_response(fetched, rendering)
        mime = response.headers["Content-Type"]
        yield from self._fetching.keep(DOCUMENT + fetched.url, mime, response.body)
        return response, rendering

    def take_missed(self) -> list[str]:
        """Return the pages that are to be fetched again, to be rendered."""
        return [] if self._choice is None else self._choice.take_missed()

    def learn(
        self,
        fetched: Fetched,
        rendering: Rendering,
        before: Page,
        after: Page,
        outcome: Outcome,
    ) -> None:
        """Note what rendering a page has found and cost.

        Args:
            outcome: Gets the reason, and the digest of what is read now: the pages that one script
                makes are not all the same page.
        """
        url = fetched.url
        links = _targets(url, after) - _targets(url, before)
        texts = len(before.text), len(after.text)
        has_gained = bool(links) or texts[1] > max(1.2 * texts[0], NEARLY_EMPTY_CHARS)
        words = len(after.text.split()) - len(before.text.split())
        cost = RenderedPage(
            len(links),
            max(0, words),
            rendering.requests,
            round(rendering.chromium_s * 1000),
            round(rendering.python_s * 1000),
            pages=1,
            gained=int(bool(links) or words > 0),
        )
        for name, count in cost._asdict().items():
            self._context.stats.add(f"render/{name}", count)
        outcome.add_note(cost.note)
        if self._choice is not None:
            was_empty = texts[0] < NEARLY_EMPTY_CHARS
            self._choice.learn(url, has_gained=has_gained, was_empty=was_empty)
        read = "\n".join([after.title, after.text, *after.links])
        outcome.digest = ending.digest_of(read.encode("utf-8", "replace"))
        outcome.reason = Reason.RENDERED

    # -- requests of the browser ----------------------------------------------------------

    def _fetch(
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
        headers = self._headers(request, url)
        is_document = request.kind == "Document"
        if (
            is_document
            or request.method != "GET"
            or {"authorization", "range"} & headers.keys()
        ):
            return (yield from self._exchange(request, url, headers, on_wait))
        # Where a server allows one origin only, the response to another differs.
        key = (url, headers["origin"]) if "origin" in headers else url
        return (
            yield from self._kept.fetch(
                key, lambda: self._exchange(request, url, headers, on_wait)
            )
        )

    def _require_allowed(self, request: BrowserRequest, url: str) -> None:
        is_safe = request.method in SAFE_METHODS
        if not is_safe and not self._context.config.render_post:
            raise self._refusal(
                Reason.BAD_REQUEST, f"{request.method} may change something"
            )
        if self._scope.excludes(url):
            raise self._refusal(Reason.EXCLUDED_BY_PATTERN)
        if self._context.config.is_logged_in and logs_out(url):
            raise self._refusal(Reason.LOGS_OUT)
        # A frame is a page of its own; that of another site is not a part of this crawl.
        if request.kind == "Document" and self._scope.check_asset(url).refusal:
            raise self._refusal(Reason.OUT_OF_SCOPE)

    def _refusal(self, reason: Reason, text: str = "") -> FetchError:
        self._context.stats.add(f"render_refused/{reason}")
        return FetchError(reason, text or meaning_of(reason))

    def _headers(self, request: BrowserRequest, url: str) -> dict[str, str]:
        """Return the headers of a request, with cookies that a script has set."""
        headers = dict(request.headers)
        if request.cookie and self._context.config.cookies:
            own = self._fetching.cookies_for(url)
            names = {pair.partition("=")[0].strip() for pair in own.split(";")}
            pairs = [pair.strip() for pair in request.cookie.split(";")]
            new = [pair for pair in pairs if pair.partition("=")[0] not in names]
            if new:
                headers["Cookie"] = "; ".join([own] * bool(own) + new)
        return headers

    def _exchange(
        self,
        request: BrowserRequest,
        url: str,
        headers: dict[str, str],
        on_wait: Callable[[], None],
    ) -> Subgenerator[Fetched]:
        """Make a request as often as it may be tried."""
        yield from self._require_robots(url)
        config, method = self._context.config, request.method
        most_tries = config.tries if method in SAFE_METHODS else 1
        for tries in range(1, most_tries + 1):
            try:
                fetched = yield from self._fetch_once(request, url, headers)
                if self._context.hosts.gap_s(host_of(url)):
                    on_wait()
                if reason_of_status(fetched.status) not in RETRYABLE:
                    return fetched
            except FetchError as exc:
                if not exc.is_passing or tries == most_tries:
                    raise
            if tries < most_tries:
                pause_s = politeness.retry_at(0.0, tries, config.retry_pause_s)
                yield gen.sleep(pause_s)
                on_wait()
        return fetched

    def _fetch_once(
        self, request: BrowserRequest, url: str, headers: dict[str, str]
    ) -> Subgenerator[Fetched]:
        if request.kind in ASSET_KINDS and "origin" not in headers:
            fetched, _ = yield from self._fetching.fetch_changed(url)
            return fetched
        return (
            yield from self._fetching.fetch(
                url,
                headers,
                method=request.method,
                body=request.body,
                # What is replayed is looked up without these.
                is_archived=request.method not in ("HEAD", "OPTIONS"),
            )
        )

    def _require_robots(self, url: str) -> Subgenerator[None]:
        if not (yield from self._permission.allows(url)):
            raise self._refusal(Reason.ROBOTS)


def _rendered_response(fetched: Fetched, rendering: Rendering) -> Fetched:
    """Return a response with the rendered document as its body.

    Where a script leads elsewhere, the document says so as one without scripts would.
    """
    html = rendering.html
    added = ""
    if rendering.url.partition("#")[0] != fetched.url:
        added = f'<base href="{_escaped(rendering.url)}">'
    if rendering.led_to:
        added += (
            f'<meta http-equiv="refresh" content="0;url={_escaped(rendering.led_to)}">'
        )
    if added:
        start, tag, rest = html.partition("<head>")
        html = start + tag + added + rest if tag else added + html
    headers = dict(fetched.headers) | {"Content-Type": "text/html; charset=utf-8"}
    body = BOM_UTF8 + html.encode("utf-8", "replace")
    return dataclasses.replace(fetched, body=body, headers=headers)


def _escaped(url: str) -> str:
    return url.replace("&", "&amp;").replace('"', "&quot;")


def _targets(url: str, page: Page) -> set[str]:
    base = join_or_nothing(url, page.base) or url
    return {target for link in page.links if (target := join_or_nothing(base, link))}
