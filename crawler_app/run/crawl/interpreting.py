"""Response handling: pages, redirects, sitemaps, files and errors.

A page may be hostile: it is read within limits (`crawler_app.web.documents.reader`), and every ten
milliseconds the other URLs of the crawl have their turn.

Every URL found goes through `crawler_app.run.crawl.admission`, which also checks another spelling
of the same URL.  `crawler_app.run.crawl.redirecting` reads redirects.
"""

import itertools
import logging
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler_app.base.http_headers import (
    UNKNOWN_TYPES,
    canonical_link,
    extracted_type,
    is_html,
    media_type,
)
from crawler_app.base.models import (
    Candidate,
    Claim,
    CrawledPage,
    Fetched,
    Link,
    Outcome,
    Role,
    State,
)
from crawler_app.base.reasons import ASKS_FOR_PASSWORD, PROVISIONAL, Reason, meaning_of
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import join_or_nothing, origin_of
from crawler_app.run.crawl import ending
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.ending import Ending, Finish
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.redirecting import RedirectReader
from crawler_app.run.crawl.time_slice import TimeSlice
from crawler_app.store.index.columns import Columns, columns_of
from crawler_app.store.index.index_writer import IndexWriter
from crawler_app.web.documents import sitemap
from crawler_app.web.documents.html import Page
from crawler_app.web.documents.link_cache import LinkCache
from crawler_app.web.documents.non_html import SVG_TYPE, may_have_assets
from crawler_app.web.documents.outline import Outline, mentions_in_headers, upgraded
from crawler_app.web.documents.pdf import PDF_MARK, can_read_pdf, is_pdf
from crawler_app.web.documents.reader import LimitExceeded, Reader
from crawler_app.web.documents.references import LOADED_USES, Mention, Use
from crawler_app.web.documents.sniffing import sniffed_type
from crawler_app.web.documents.xhtml import is_xhtml, is_xml
from crawler_app.web.httpclient.response import REDIRECTS
from crawler_app.web.robots.directives import directives_in_header
from crawler_app.web.robots.rules import product_token
from crawler_app.web.walls import is_wall
from gencoro.locks import Semaphore

if TYPE_CHECKING:
    from crawler_app.run.crawl.rendering import PageRenderer

__all__ = ["Interpreter"]

logger = logging.getLogger(__name__)

# Not a redirect in the Fetch standard: browsers show its body, a choice of links.
MULTIPLE_CHOICES = 300

# Style sheets and scripts; anything else that a page needs is broken if it is empty.
_MAY_BE_EMPTY = re.compile(r"text/css|[^;]*(?:java|ecma)script", re.IGNORECASE)
MAX_SPACE = 1024
_SCRIPT_TYPE = re.compile(
    r"(?:text|application)/(?:x-)?(?:java|ecma)script", re.IGNORECASE
)

_ASSET = re.compile(
    r"\.(avif|bmp|css|eot|gif|ico|jpe?g|js|json|m4a|mjs|mp3|mp4|ogg|otf|png|svgz?|ttf|wasm|webm"
    r"|webmanifest|webp|woff2?)$",
    re.IGNORECASE,
)

# Preparing a longer text for the index takes a tenth of a second.
MAX_CHARS_ON_LOOP = 32_000

# A page with a field for a password and no more links than these is a login page; many pages
# have a small login form beside all else.
MAX_LOGIN_LINKS = 10

# Pages that are larger are read two at a time, one in the sandbox and one here: what one with
# 60,000 links takes until all of them are admitted is thirty times its size.
LARGE_BYTES = 256 * 1024

# Links of one page that are settled when it is recorded, which takes a microsecond each.  Any
# others are only looked up again.
MAX_SETTLED_PER_PAGE = 5_000


@dataclass(slots=True)
class _NewLinks:
    """The links and assets of a document that are settled once they are recorded."""

    base: str
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)


class Interpreter:
    """Turns a response into an `Ending`, and admits the URLs that it refers to.

    Args:
        reader: Parses pages and sitemaps.
        index: Stores the words of every page; None for no index.
        keeps_page: Whether an ending carries the page, for the user's callbacks.
        observer: Notified of documents and their references; None for none.
        renderer: Runs the scripts of pages; None for none.
    """

    def __init__(
        self,
        context: RunContext,
        admission: Admission,
        redirects: RedirectReader,
        reader: Reader,
        index: IndexWriter | None,
        *,
        keeps_page: bool,
        observer: CrawlObserver | None = None,
        renderer: "PageRenderer | None" = None,
    ) -> None:
        self._renderer = renderer
        self._config = context.config
        self._clock = context.clock
        self._agent = product_token(context.config.user_agent)
        self._admission = admission
        self._redirects = redirects
        self._reader = reader
        self._index = index
        # A crawl with a recipe sees for itself whether it is.
        self._may_be_logged_out = (
            context.config.is_logged_in and not context.config.login_file
        )
        self._keeps_page = keeps_page
        self._observer = observer
        # None until the first PDF file.
        self._reads_pdf: bool | None = None
        self._large = Semaphore(2)
        self._seen_links = LinkCache()
        self._seen_assets = LinkCache()

    def read(
        self, claim: Claim, fetched: Fetched, reason: Reason = Reason.OK
    ) -> Subgenerator[Ending]:
        """Return the ending of a URL that got a response, with the candidates found.

        Args:
            reason: The reason to record if it is a page or a file.
        """
        if fetched.status in REDIRECTS:
            return self._redirects.read(claim, fetched)
        if is_wall(fetched):
            return ending.of_wall(fetched)
        is_choice = fetched.status == MULTIPLE_CHOICES and bool(fetched.body)
        if not (200 <= fetched.status < 300 or is_choice):
            return ending.of_status(fetched, self._clock())
        if len(fetched.body) <= LARGE_BYTES:
            return (yield from self._content(claim, fetched, reason))
        with (yield self._large.acquire()):
            return (yield from self._content(claim, fetched, reason))

    def _content(
        self, claim: Claim, fetched: Fetched, reason: Reason
    ) -> Subgenerator[Finish]:
        """Handle a page, a sitemap or a file."""
        outcome = ending.outcome_of(State.DONE, reason, fetched)
        if fetched.status == MULTIPLE_CHOICES:
            outcome.add_note("300 Multiple Choices")
        _settle_type(outcome, fetched)
        if canonical := canonical_link(fetched.headers):
            outcome.canonical = join_or_nothing(claim.url, canonical)
        content_type = outcome.content_type
        if claim.role is Role.ASSET and _is_page_or_nothing(
            claim.url, fetched, content_type
        ):
            return ending.failed(outcome, Reason.WRONG_TYPE, "")
        if is_pdf(content_type) and PDF_MARK not in fetched.body[:MAX_SPACE]:
            return ending.failed(outcome, Reason.WRONG_TYPE, "")
        if self._admission.is_external_asset(claim.url, claim.role):
            return (yield from self._read_external_asset(claim, fetched, outcome))
        if self._is_sitemap(claim, content_type, fetched.body):
            return Finish(outcome, (yield from self._read_sitemap(claim, fetched)))
        if is_html(content_type) or (is_pdf(content_type) and self._can_read_pdf()):
            return (yield from self._read_page(claim, fetched, outcome))
        found = self._redirects.refresh(claim, fetched, outcome)
        if self._observer is not None and (
            mentions := mentions_in_headers(fetched.headers)
        ):
            self._observer.saw_document(claim.url, Outline(mentions=mentions))
        if self._config.fetches_assets:
            found += yield from self._references_of_file(claim, fetched, content_type)
        return Finish(outcome, found)

    def _is_login_page(self, claim: Claim, page: Page) -> bool:
        """Return whether a page stands in for the one that was asked for."""
        has_few_links = len(page.links) <= MAX_LOGIN_LINKS
        if claim.depth == 0:
            is_seed = claim.url in self._config.seeds
            return page.passwords > 0 and (has_few_links or not is_seed)
        # With more fields, it is one on which to change the password.
        return self._may_be_logged_out and page.passwords == 1 and has_few_links

    def _read_external_asset(
        self, claim: Claim, fetched: Fetched, outcome: Outcome
    ) -> Subgenerator[Finish]:
        """Handle what a page needs from another host: only its own assets are followed."""
        outcome.reason = Reason.EXTERNAL_ASSET
        if not is_html(outcome.content_type):
            found = yield from self._references_of_file(
                claim, fetched, outcome.content_type
            )
            return Finish(outcome, found)
        page = yield from self._parsed(fetched, outcome.content_type)
        base = join_or_nothing(claim.url, page.base) or claim.url
        assets = page.assets if page.outline is None else page.outline.loaded()
        admitted = self._assets(claim, assets, _NewLinks(base))
        return Finish(outcome, (yield from self._admission.in_turns(admitted, claim)))

    def _is_sitemap(self, claim: Claim, content_type: str, body: bytes) -> bool:
        is_page, is_named = is_html(content_type), claim.role is Role.SITEMAP
        if is_page and not is_named:  # the most frequent case
            return False
        if is_named and not is_page:  # text sitemaps cannot be recognized
            return True
        # A check asks for the entries of the feeds that pages name.
        or_feed = is_named or self._observer is not None
        is_one = sitemap.is_sitemap(content_type, body, or_feed=or_feed)
        return is_one and self._config.sitemaps

    def _read_page(
        self, claim: Claim, fetched: Fetched, outcome: Outcome
    ) -> Subgenerator[Finish]:
        page = yield from self._parsed(fetched, outcome.content_type)
        is_markup = is_html(outcome.content_type)
        if self._renderer is not None and is_markup:
            page = yield from self._renderer.render(
                fetched, page, outcome, self._parsed
            )
        outline = page.outline
        if page.is_partial:
            logger.warning("%s: %s", claim.url, meaning_of(Reason.TOO_HARD))
            outcome.reason = Reason.TOO_HARD
        elif page.is_made_by_script and not (
            page.text and outcome.reason is Reason.RENDERED
        ):
            outcome.reason = Reason.MADE_BY_SCRIPT
        if not (is_markup or page.text or page.links):
            outcome.add_note("neither text nor links in the PDF file, or it is damaged")
        if self._is_login_page(claim, page):
            if claim.depth > 0:
                return ending.failed(outcome, Reason.LOGIN_REQUIRED, "")
            outcome.add_note(ASKS_FOR_PASSWORD)
        outcome.title = page.title
        self._admission.note_page(claim.url, page, len(fetched.body))
        base = join_or_nothing(claim.url, page.base) or claim.url  # as browsers do
        if page.canonical:  # before that of a header
            outcome.canonical = join_or_nothing(base, page.canonical)
        if _names_another_page(claim.url, outcome.canonical):
            page.links.append(outcome.canonical)
        directives = self._robots_directives(page, fetched)
        refreshed = self._redirects.refresh(
            claim, fetched, outcome, page, base, nofollow="nofollow" in directives
        )
        new = _NewLinks(base)
        admitted: Iterator[Candidate | None]
        admitted = self._links(claim, page, new, directives)
        found = upgraded(page.assets, fetched)
        if self._observer is not None and outline is not None:
            mentions = outline.mentions + mentions_in_headers(fetched.headers)
            outline.mentions = upgraded(mentions, fetched)
            self._observer.saw_document(claim.url, outline, has_ids=is_markup)
            if self._config.fetches_assets:
                found = outline.loaded()
            others = self._other_links(claim, page.links, outline, base, directives)
            admitted = itertools.chain(admitted, others)
        if found:
            needed = self._assets(claim, found, new, directives)
            admitted = itertools.chain(admitted, needed)
        outlinks = yield from self._admission.in_turns(admitted, claim)
        kept = None
        if self._keeps_page and is_markup:
            kept = yield from self._crawled_page(claim, fetched, page, base)
        if self._index is not None:
            yield from self._write_index(self._index, claim.url, page, directives)
        on_recorded = partial(self._settle, new)
        return Finish(outcome, refreshed + outlinks, page=kept, on_recorded=on_recorded)

    def _parsed(self, fetched: Fetched, content_type: str) -> Subgenerator[Page]:
        """Return a page, with its outline if there is an observer."""
        if is_pdf(content_type):
            return self._reader.pdf(fetched.body)
        return self._reader.page(
            fetched.body,
            content_type,
            with_text=self._index is not None
            or self._keeps_page
            or self._renderer is not None,
            with_anchors=self._keeps_page,
            with_assets=self._config.fetches_assets and self._observer is None,
            with_outline=self._observer is not None,
            agent=self._agent,
        )

    def _can_read_pdf(self) -> bool:
        if self._reads_pdf is None:
            self._reads_pdf = can_read_pdf()
            if not self._reads_pdf:
                logger.warning(
                    "PDF files are stored, but their text and links are not read: that needs "
                    "pypdfium2; pip install 'gencoro[pdf]'"
                )
        return self._reads_pdf

    def forget_links(self) -> None:
        """Admit links again that were settled: the frontier may have lost them."""
        self._seen_links, self._seen_assets = LinkCache(), LinkCache()

    def _settle(self, new: _NewLinks) -> None:
        """Settle the links of a page that are in the frontier now."""
        for cache, links in (
            (self._seen_links, new.links),
            (self._seen_assets, new.assets),
        ):
            for link in itertools.islice(links, MAX_SETTLED_PER_PAGE):
                cache.add(new.base, link)

    def _links(
        self, claim: Claim, page: Page, new: _NewLinks, directives: Collection[str]
    ) -> Iterator[Candidate | None]:
        """Admit the links of a page that are not settled."""
        admit, depth = self._admission.admit, claim.depth + 1
        is_nofollow_page = "nofollow" in directives
        nofollow_links = page.nofollow_links if self._config.robots else ()
        for link in self._seen_links.unseen(new.base, page.links):
            nofollow = is_nofollow_page or link in nofollow_links
            candidate = admit(link, new.base, depth, nofollow=nofollow)
            if candidate is None:
                self._seen_links.add(new.base, link)
            elif candidate.refusal not in PROVISIONAL:
                new.links.append(link)
            yield candidate

    def _other_links(
        self,
        claim: Claim,
        known: Collection[str],
        outline: Outline,
        base: str,
        directives: Collection[str] = (),
    ) -> Iterator[Candidate | None]:
        """Admit the other links of a document, such as ``<link rel=next>`` of a page."""
        nofollow = "nofollow" in directives
        by_link = outline.by_link()
        for link in sorted(by_link.keys() - frozenset(known)):
            if all(mention.use in LOADED_USES for mention in by_link[link]):
                continue
            yield self._admission.admit(link, base, claim.depth + 1, nofollow=nofollow)

    def _assets(
        self,
        claim: Claim,
        assets: Collection[Mention],
        new: _NewLinks,
        directives: Collection[str] = (),
    ) -> Iterator[Candidate | None]:
        """Admit what a browser loads for a page; a frame is a page of its own."""
        base, admit, depth = new.base, self._admission.admit, claim.depth
        cache = self._seen_assets
        frames = {each.value for each in assets if _is_frame(each)}
        for value in cache.unseen(base, {each.value: None for each in assets}):
            if value.startswith("#"):  # in the page itself, whatever its base is
                continue
            role, nofollow = Role.ASSET, False
            if value in frames:
                role = self._admission.role_of_frame(value, base)
                nofollow = "nofollow" in directives
            candidate = admit(value, base, depth, nofollow=nofollow, role=role)
            if candidate is None:
                cache.add(base, value)
            elif candidate.refusal not in PROVISIONAL:
                new.assets.append(value)
            yield candidate

    def _references_of_file(
        self, claim: Claim, fetched: Fetched, content_type: str
    ) -> Subgenerator[list[Candidate]]:
        """Admit what a style sheet, a manifest or an SVG image refers to.

        The links of a drawing count only on a host of the crawl.
        """
        if not may_have_assets(content_type):
            return []
        outline = yield from self._reader.outline(fetched.body, content_type)
        admitted = self._assets(claim, outline.loaded(), _NewLinks(claim.url))
        if not self._admission.is_external_asset(claim.url, claim.role):
            if self._observer is not None:
                has_ids = media_type(content_type) == SVG_TYPE
                self._observer.saw_document(claim.url, outline, has_ids=has_ids)
            links = self._other_links(claim, (), outline, claim.url)
            admitted = itertools.chain(admitted, links)
        return (yield from self._admission.in_turns(admitted, claim))

    def _crawled_page(
        self, claim: Claim, fetched: Fetched, page: Page, base: str
    ) -> Subgenerator[CrawledPage]:
        links = []
        time_slice = TimeSlice()
        for anchor in page.anchors:
            target = join_or_nothing(base, anchor.href)
            if target:
                links.append(Link(claim.url, target, anchor.text, anchor.is_nofollow))
            yield from time_slice.rest()
        return CrawledPage(
            claim.url, claim.depth, fetched, page.title, page.text, links
        )

    def _write_index(
        self, index: IndexWriter, url: str, page: Page, directives: Collection[str]
    ) -> Subgenerator[None]:
        if "noindex" in directives:
            index.leave_out(url)
            return
        columns = yield from self._columns_of(page)
        index.put(url, columns, self._clock())

    def _columns_of(self, page: Page) -> Subgenerator[Columns]:
        if len(page.text) <= MAX_CHARS_ON_LOOP:
            return columns_of(page.title, page.headings, page.text)
        prepare = partial(columns_of, page.title, page.headings)
        try:
            return (yield from self._reader.within_limits(prepare, page.text))
        except LimitExceeded:
            return prepare(page.text[:MAX_CHARS_ON_LOOP])

    def _robots_directives(self, page: Page, fetched: Fetched) -> frozenset[str]:
        """Return the robots directives of a page, from its meta elements and its header."""
        if not self._config.robots:
            return frozenset()
        header = fetched.headers.get("X-Robots-Tag")
        if header is None:
            return page.robots
        return page.robots | directives_in_header(header, self._agent)

    def _read_sitemap(
        self, claim: Claim, fetched: Fetched
    ) -> Subgenerator[list[Candidate]]:
        content_type = fetched.headers.get("Content-Type", "")
        found = yield from self._reader.sitemap(fetched.body, content_type)
        if found.is_cut:
            logger.warning("only a part of %s could be read", claim.url)
        if self._observer is not None:
            self._observer.saw_entries(claim.url, [*found.sitemaps, *found.pages])
        admit, depth = self._admission.admit, claim.depth + 1
        admitted = itertools.chain(
            (admit(url, claim.url, role=Role.SITEMAP) for url in found.sitemaps),
            (admit(url, claim.url, depth) for url in found.pages),
        )
        return (yield from self._admission.in_turns(admitted, claim))


def _is_frame(asset: Mention) -> bool:
    """Return whether a browser may show a page there."""
    return asset.use is Use.FRAME or asset.element in ("embed", "object")


def _names_another_page(url: str, canonical: str) -> bool:
    """Return whether a canonical URL is of another page of the same site.

    On other sites there may be one for each page, as in a copy of a site.
    """
    is_other = canonical not in ("", url)
    return is_other and origin_of(canonical) == origin_of(url)


def _is_page_or_nothing(url: str, fetched: Fetched, content_type: str) -> bool:
    """Return whether a browser cannot use a response as what a page needs.

    A URL without the suffix of such a file may be that of a page, too.  Chromium takes scripts,
    images and fonts that are wrongly called HTML, but no style sheet.
    """
    if not fetched.body:
        return not _MAY_BE_EMPTY.match(content_type)
    suffix = _ASSET.search(urlsplit(url).path)
    if suffix is not None and _is_refused(suffix[1].lower(), fetched):
        return True
    if suffix is None or not is_html(content_type):
        return False
    is_markup = fetched.body[:MAX_SPACE].removeprefix(BOM_UTF8).lstrip()[:1] == b"<"
    return is_markup or suffix[1].lower() == "css"


def _is_refused(suffix: str, fetched: Fetched) -> bool:
    """Return whether browsers refuse a style sheet or a script because of its type.

    Source: WHATWG Fetch, "nosniff"; CSSOM and HTML for style sheets and modules without it.
    """
    content_type = extracted_type(fetched.headers.get("Content-Type", ""))
    if content_type in UNKNOWN_TYPES:
        return False
    options = fetched.headers.get("X-Content-Type-Options", "")
    is_strict = options.strip().lower() == "nosniff"
    if suffix == "css":
        return not content_type.startswith("text/css")
    if suffix == "mjs" or suffix == "js" and is_strict:
        return not _SCRIPT_TYPE.match(content_type)
    return False


def _settle_type(outcome: Outcome, fetched: Fetched) -> None:
    """Replace a Content-Type that is repeated, missing or invalid, as browsers do.

    XML whose root is that of XHTML is a page.
    """
    known = extracted_type(outcome.content_type)
    if known.partition(";")[0] not in UNKNOWN_TYPES:
        if "," in outcome.content_type:
            outcome.content_type = known
            outcome.add_note("repeated Content-Type")
    elif fetched.body:
        options = fetched.headers.get("X-Content-Type-Options", "")
        is_scriptable = options.strip().lower() != "nosniff"
        outcome.content_type = sniffed_type(fetched.body, is_scriptable=is_scriptable)
        outcome.add_note("no valid Content-Type")
    content_type = outcome.content_type
    if is_xml(content_type) and not is_html(content_type) and is_xhtml(fetched.body):
        _, semicolon, parameters = content_type.partition(";")
        outcome.content_type = f"application/xhtml+xml{semicolon}{parameters}"
