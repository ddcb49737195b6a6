"""Renders the pages of a crawl that need it, keeps the documents, and notes what that has gained.

Only imported with ``--render``.  Used by `crawler_app.run.crawl.interpreting`.
"""

import contextlib
import dataclasses
import html
import json
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import TypeAlias

from crawler_app.base.models import Fetched, Outcome, digest_of
from crawler_app.base.reasons import Reason
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import join_or_nothing
from crawler_app.run.crawl.browser_requests import BrowserRequests
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.permission import Permission
from crawler_app.run.results.rendered_pages import DOCUMENT, RenderedPage
from crawler_app.web.documents.html import Page
from crawler_app.web.render.choosing import RenderChoice
from crawler_app.web.render.loading import Rendering
from crawler_app.web.render.pool import BrowserPool

__all__ = ["PageRenderer"]

# A date, or a number of visitors, is no reason to render pages.
MIN_NEW_WORDS = 2

# Reads a response of a media type.
ReadPage: TypeAlias = Callable[[Fetched, str], Subgenerator[Page]]


class PageRenderer(contextlib.AbstractContextManager["PageRenderer"]):
    """Renders pages; a context manager, at whose end the browsers end.

    Args:
        observer: Notified of what the scripts of pages get wrong; None for none.

    Attributes:
        choice: Which pages are rendered, unless all are.

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
        self._observer = observer
        self.choice = RenderChoice()
        own = self._requests = BrowserRequests(context, fetching, permission)
        storage = json.dumps(fetching.storage)
        self._pool = BrowserPool(config, own.fetch, own.may_show, storage)

    def __exit__(self, *exc_info: object) -> None:
        self._pool.close()

    def render(
        self, fetched: Fetched, page: Page, outcome: Outcome, read: ReadPage
    ) -> Subgenerator[Page]:
        """Return a page as its scripts make it, or as it is if it does not need that.

        Args:
            page: What it is without its scripts.
            outcome: Gets the reason, what that has found and cost, and the digest of what is read
                then: the pages that one script makes are not all the same page.

        Raises:
            FetchError: it cannot be rendered.
        """
        url = fetched.url
        is_always = self._context.config.render == "always"
        if not page.has_scripts or not (
            is_always or self.choice.wants(url, fetched.body, page.text)
        ):
            return page
        self._requests.note_cookies(fetched)
        rendering: Rendering = yield from self._pool.render(fetched)
        stats = self._context.stats
        if rendering.is_over:
            stats["render/cut"] += 1
        for name, picture in rendering.pictures.items():
            stats["render/pictures"] += 1
            yield from self._fetching.keep(f"urn:{name}:{url}", "image/webp", picture)
        if self._observer is not None:
            self._observer.saw_problems(url, list(rendering.problems))
        response = _rendered_response(fetched, rendering)
        mime = response.headers["Content-Type"]
        yield from self._fetching.keep(DOCUMENT + url, mime, response.body)
        after = yield from read(response, mime)
        if after.outline is not None:
            after.outline.is_rendered = True
        self._learn(rendering, page, after, outcome)
        return after

    def _learn(
        self, rendering: Rendering, before: Page, after: Page, outcome: Outcome
    ) -> None:
        """Note what rendering a page has found and cost."""
        url = rendering.fetched.url
        links = _targets(url, after) - _targets(url, before)
        words, had = after.text.split(), before.text.split()
        distinct = set(words)
        new = distinct.difference(had)
        has_gained = bool(links) or len(new) > max(MIN_NEW_WORDS, len(distinct) / 5)
        self.choice.learn(url, has_gained=has_gained)
        cost = RenderedPage(
            len(links),
            max(0, len(words) - len(had)),
            rendering.requests,
            round(rendering.chromium_s * 1000),
            pages=1,
            gained=int(has_gained),
        )
        for name, count in cost._asdict().items():
            self._context.stats[f"render/{name}"] += count
        outcome.add_note(cost.note)
        read = "\n".join([after.title, after.text, *after.links])
        outcome.digest = digest_of(read.encode("utf-8", "replace"))
        outcome.reason = Reason.RENDERED


def _rendered_response(fetched: Fetched, rendering: Rendering) -> Fetched:
    """Return a response with the rendered document as its body.

    Where a script leads elsewhere, the document says so as one without scripts would.
    """
    document = rendering.html
    added = ""
    if rendering.url.partition("#")[0] != fetched.url:
        added = f'<base href="{html.escape(rendering.url)}">'
    if rendering.led_to:
        added += f'<meta http-equiv="refresh" content="0;url={html.escape(rendering.led_to)}">'
    if added:
        start, tag, rest = document.partition("<head>")
        document = start + tag + added + rest if tag else added + document
    headers = dict(fetched.headers) | {"Content-Type": "text/html; charset=utf-8"}
    body = BOM_UTF8 + document.encode("utf-8", "replace")
    return dataclasses.replace(fetched, body=body, headers=headers)


def _targets(url: str, page: Page) -> set[str]:
    base = join_or_nothing(url, page.base) or url
    return {target for link in page.links if (target := join_or_nothing(base, link))}
