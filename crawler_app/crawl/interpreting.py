"""Response handling: pages, redirects, sitemaps, files and errors.

Every URL found goes through `crawler_app.crawl.admission`; of another spelling of the same
URL only the scope is checked.
"""

import logging
from collections.abc import Collection, Iterator

from crawler_app.crawl import ending
from crawler_app.crawl.admission import Admission
from crawler_app.crawl.context import RunContext
from crawler_app.crawl.ending import Ending, Finish, Respell
from crawler_app.documents import html, sitemap
from crawler_app.documents.anchors import anchors_of
from crawler_app.documents.settled_links import SettledLinks
from crawler_app.errors import UrlError
from crawler_app.http_headers import is_html
from crawler_app.index import PageIndex
from crawler_app.models import (
    Candidate,
    Claim,
    CrawledPage,
    Fetched,
    Link,
    Outcome,
    State,
)
from crawler_app.reasons import Reason
from crawler_app.robots.rules import product_token
from crawler_app.robots.tags import directives_in_header
from crawler_app.urls import dedup_key, join_or_nothing, redirect_target

__all__ = ["Interpreter"]

logger = logging.getLogger(__name__)

REDIRECTS = (301, 302, 303, 307, 308)


class Interpreter:
    """Turns a response into an `Ending`, and admits the URLs that it refers to.

    Args:
        index: Stores the words of every page; None for no index.
        keeps_page: Whether an ending carries the page, for the user's callbacks.
    """

    def __init__(
        self,
        context: RunContext,
        admission: Admission,
        index: PageIndex | None,
        *,
        keeps_page: bool,
    ) -> None:
        self._config = context.config
        self._clock = context.clock
        self._agent = product_token(context.config.user_agent)
        self._admission = admission
        self._index = index
        self._keeps_page = keeps_page
        self._settled = SettledLinks()

    def read(
        self, claim: Claim, fetched: Fetched, reason: Reason = Reason.OK
    ) -> Ending:
        """Return the ending of a URL that got a response, with the candidates found.

        Args:
            reason: The reason to record if it is a page or a file.
        """
        if fetched.status in REDIRECTS:
            return self._redirect(claim, fetched)
        if not 200 <= fetched.status < 300:
            return ending.of_status(fetched, self._clock())
        return self._content(claim, fetched, reason)

    def _content(self, claim: Claim, fetched: Fetched, reason: Reason) -> Finish:
        """Handle a page, a sitemap or a file."""
        outcome = ending.outcome_of(State.DONE, reason, fetched)
        if reason is Reason.UNCHANGED:
            outcome.status = 304  # `fetched` is the archived response
        if self._is_sitemap(claim, fetched):
            return Finish(outcome, self._read_sitemap(claim, fetched))
        if is_html(fetched.headers.get("Content-Type", "")):
            return self._read_page(claim, fetched, outcome)
        return Finish(outcome)

    def _is_sitemap(self, claim: Claim, fetched: Fetched) -> bool:
        content_type = fetched.headers.get("Content-Type", "")
        is_page = is_html(content_type)
        if is_page and not claim.is_sitemap:  # the most frequent case
            return False
        if claim.is_sitemap and not is_page:  # text sitemaps cannot be recognized
            return True
        is_one = sitemap.is_sitemap(content_type, fetched.body)
        return is_one and self._config.sitemaps

    def _read_page(self, claim: Claim, fetched: Fetched, outcome: Outcome) -> Finish:
        page = html.parse_html(
            fetched.body,
            fetched.headers.get("Content-Type", ""),
            with_text=self._index is not None or self._keeps_page,
            agent=self._agent,
        )
        outcome.title = page.title
        base = join_or_nothing(claim.url, page.base) or claim.url  # as browsers do
        outcome.canonical = join_or_nothing(base, page.canonical)
        directives = self._robots_directives(page, fetched)
        outlinks = self._admit_links(claim, page, base, directives)
        kept = _crawled_page(claim, fetched, page, base) if self._keeps_page else None
        if self._index is not None:
            self._write_index(self._index, claim.url, page, directives)
        return Finish(outcome, outlinks, kept)

    def _admit_links(
        self, claim: Claim, page: html.Page, base: str, directives: Collection[str]
    ) -> list[Candidate]:
        outlinks = []
        nofollow_links = page.nofollow_links if self._config.robots else ()
        for link in self._settled.news(base, page.links):
            nofollow = "nofollow" in directives or link in nofollow_links
            depth = claim.depth + 1
            candidate = self._admission.admit(link, base, depth, nofollow=nofollow)
            if candidate is not None:
                outlinks.append(candidate)
            else:
                self._settled.add(base, link)
        return outlinks

    def _write_index(
        self, index: PageIndex, url: str, page: html.Page, directives: Collection[str]
    ) -> None:
        if "noindex" in directives:
            index.remove(url)  # an earlier crawl may have added it
        else:
            index.add(url, page.title, page.headings, page.text, self._clock())

    def _robots_directives(self, page: html.Page, fetched: Fetched) -> frozenset[str]:
        """Return the robots directives of a page, from its meta elements and its header."""
        if not self._config.robots:
            return frozenset()
        header = fetched.headers.get("X-Robots-Tag")
        if header is None:
            return page.robots
        return page.robots | directives_in_header(header, self._agent)

    def _read_sitemap(self, claim: Claim, fetched: Fetched) -> list[Candidate]:
        found = sitemap.parse_sitemap(fetched.body)
        if found.is_cut:
            logger.warning("only the beginning of %s could be read", claim.url)
        candidates = [
            self._admission.admit(url, claim.url, is_sitemap=True)
            for url in found.sitemaps
        ]
        candidates += [
            self._admission.admit(url, claim.url, claim.depth + 1)
            for url in found.pages
        ]
        return [each for each in candidates if each is not None]

    def _redirect(self, claim: Claim, fetched: Fetched) -> Ending:
        """Admit the target of a redirect, with one redirect fewer left."""
        outcome = ending.outcome_of(State.DONE, Reason.REDIRECT, fetched)
        location = fetched.headers.get("Location", "")
        try:
            outcome.redirect_to = redirect_target(claim.url, location)
        except UrlError as exc:
            return ending.failed(outcome, Reason.BAD_REDIRECT, str(exc))
        if not claim.redirects_left:
            text = f"more than {self._config.max_redirects} redirects in a row"
            return ending.failed(outcome, Reason.TOO_MANY_REDIRECTS, text)
        target_url = outcome.redirect_to
        if _is_respelling(claim.url, target_url) and not self._admission.refusal(
            target_url, claim.depth
        ):
            return Respell(target_url)
        target = self._admission.admit(
            target_url, "", claim.depth, claim.redirects_left - 1
        )
        return Finish(outcome, () if target is None else (target,))


def _crawled_page(
    claim: Claim, fetched: Fetched, page: html.Page, base: str
) -> CrawledPage:
    links = list(_links_of(claim.url, base, fetched))
    return CrawledPage(claim.url, claim.depth, fetched, page.title, page.text, links)


def _links_of(url: str, base: str, fetched: Fetched) -> Iterator[Link]:
    content_type = fetched.headers.get("Content-Type", "")
    for anchor in anchors_of(fetched.body, content_type).links:
        target = join_or_nothing(base, anchor.href)
        if target:
            yield Link(url, target, anchor.text, anchor.is_nofollow)


def _is_respelling(url: str, target: str) -> bool:
    """Return whether the frontier treats the target of a redirect as the same URL."""
    return target != url and dedup_key(target) == dedup_key(url)
